import HealthModel

/// How much a figure of a day that isn't final must have changed for the day to be published again. A final day is
/// always published again. Pure.
package struct SignificantChange: Sendable, Equatable {
    /// Each figure's threshold, in its unit; for all other figures any change counts.
    private let thresholds: [String: Double]

    /// Every change counts.
    package static let any = SignificantChange([:])

    package init(_ thresholds: [String: Double]) { self.thresholds = thresholds.filter { $0.value > 0 } }

    var isAny: Bool { thresholds.isEmpty }

    /// Whether a summary differs enough from the last one written. Hourly figures don't count on their own, because
    /// they are published with their day.
    package func isWorthPublishing(_ new: [String: Value], after old: [String: Value]) -> Bool {
        Set(new.keys).union(old.keys).contains { name in
            guard name != SummaryDays.hoursMember, new[name] != old[name] else { return false }
            guard let threshold = thresholds[name], let before = old[name]?.double, let now = new[name]?.double else {
                return true
            }
            return abs(now - before) > threshold
        }
    }
}
