import HealthModel

/// Counts how often each sender has woken the app within the last hour: silent pushes are limited as on a phone. Pure.
///
/// What woke the app counts, whatever the app could do then; what couldn't reach it doesn't.
package struct PushAllowance: Codable, Sendable, Equatable {
    private struct Push: Codable, Sendable, Equatable {
        var id: String
        var at: Instant
    }

    package enum Answer: Sendable, Equatable {
        /// It counts.
        case counted
        /// It has been counted before, under the same id.
        case known
        /// The hour's pushes are used up; the next counts from `next` on.
        case usedUp(next: Instant)
    }

    private static let hour = Duration.seconds(3600)
    /// By sender, oldest first.
    private var pushes: [String: [Push]] = [:]

    package init() {}

    /// Counts a sender's push, if another one is allowed.
    /// - Parameter id: the push's own, so that one that arrives twice counts once.
    package mutating func take(_ id: String, from sender: String, at now: Instant) -> Answer {
        pushes = pushes.compactMapValues { pushes in
            // A clock that was set back must not make anybody wait for longer than an hour.
            let recent = pushes.map { Push(id: $0.id, at: min($0.at, now)) }.filter { $0.at > now - Self.hour }
            return recent.isEmpty ? nil : recent
        }
        let recent = pushes[sender] ?? []
        if recent.contains(where: { $0.id == id }) { return .known }
        guard recent.count < SystemLimits.pushesPerHour else {
            return .usedUp(next: (recent.first?.at ?? now) + Self.hour)
        }
        pushes[sender] = recent + [Push(id: id, at: now)]
        return .counted
    }
}
