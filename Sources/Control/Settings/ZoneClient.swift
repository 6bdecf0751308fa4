import Client
import HealthModel
import Logging
import Protocol

/// Changes a person's zone timeline on a running observer: repeats the change until the timeline shows it.
package struct ZoneClient {
    package enum Change: Sendable {
        case set(zone: String)
        case add(from: Instant, zone: String)
        case remove(from: Instant)

        func command(of user: String) -> ChangeZone {
            switch self {
            case .set(let zone): ChangeZone(user: user, action: .set, zone: zone)
            case .add(let from, let zone): ChangeZone(user: user, action: .add, from: from, zone: zone)
            case .remove(let from): ChangeZone(user: user, action: .remove, from: from)
            }
        }

        /// Whether a timeline reflects this change.
        func shows(in parts: [ZonePlan.Part]) -> Bool {
            switch self {
            case .set(let zone): parts.first?.zone == zone
            case .add(let from, let zone): parts.contains(.init(from: from, zone: zone, origin: .added))
            case .remove(let from): !parts.isEmpty && !parts.contains { $0.from == from && $0.origin == .added }
            }
        }
    }

    private let client: StackClient
    private let observer: String
    private let hub: String

    package init(client: StackClient, observer: String, hub: String = "hub") {
        (self.client, self.observer, self.hub) = (client, observer, hub)
    }

    /// - Returns: the resulting timeline.
    /// - Throws: `Failure` when the observer doesn't make the change within `seconds`.
    package func apply(_ change: Change, user: String, within seconds: Double = 20) throws -> [ZonePlan.Part] {
        let wait = AnswerWait(client, for: observer, hub: hub)
        try wait.untilHeard()
        let command = change.command(of: user).body
        let parts = try client.give(command, to: observer, within: seconds, meanwhile: wait.look) {
            let pages = try client.ask(observer, .timeline(user: user), within: 0.3)
            return pages?.first?.timeline.flatMap { change.shows(in: $0) ? $0 : nil }
        }
        if let parts { return parts }
        throw wait.failure(
            else: Failure(
                "'\(observer)' doesn't accept the zone",
                hint: "'healthbus status' shows its state; try again: it is safe to repeat"))
    }
}
