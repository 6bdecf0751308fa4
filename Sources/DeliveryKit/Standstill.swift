import HealthModel

/// How long something has been waiting without anything being accepted. Pure.
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
