import HealthModel
import Protocol
import StageKit

/// How long something has been waiting without anything being accepted.
package struct Standstill {
    private var since: MonotonicTime?

    package static let alertAfter = Duration.seconds(15 * 60)

    package init() {}

    /// Returns when an alert is to be raised; nil if that is now.
    package mutating func lasts(at now: MonotonicTime) -> MonotonicTime? {
        let end = (since ?? now) + Self.alertAfter
        since = since ?? now
        return now >= end ? nil : end
    }

    /// Returns whether there was one.
    @discardableResult
    package mutating func end() -> Bool {
        defer { since = nil }
        return since != nil
    }
}

extension Standstill {
    /// Raises the alert once it has lasted too long.
    /// - Returns: when to look again.
    package mutating func alert(_ text: String, remedy: String, _ turn: Turn) throws -> MonotonicTime? {
        if let alertAt = lasts(at: turn.monotonic) { return alertAt }
        try turn.raise(Alert(.degraded, subject: "delivery", text: text, remedy: remedy))
        return nil
    }
}
