/// Statistics are sums or averages over a period of time, which an app sends instead of samples. They aren't samples of
/// their type, so they have a type of their own. They never take a sample's place in the store, and figures count them
/// only where there are no samples.
extension HealthType {
    private static let statisticsSuffix = ".statistics"

    /// The identifier of a type's statistics: `HKQuantityTypeIdentifierStepCount.statistics`. Their values are sums for
    /// a cumulative type and means for any other, in the type's canonical unit.
    public static func statistics(of identifier: String) -> String { identifier + statisticsSuffix }

    /// Whether a handler of this type gets its statistics too. This is true for every quantity, and for sleep, since
    /// apps send whole nights.
    package static func countsStatistics(_ identifier: String) -> Bool {
        named(identifier).kind == .quantity || identifier == sleepIdentifier
    }

    /// HealthKit's identifier for sleep stages and time in bed.
    package static let sleepIdentifier = "HKCategoryTypeIdentifierSleepAnalysis"

    /// The identifier of the type that these statistics belong to; nil if they aren't statistics.
    package static func base(ofStatistics identifier: String) -> String? {
        identifier.hasSuffix(statisticsSuffix) ? String(identifier.dropLast(statisticsSuffix.count)) : nil
    }
}

/// How many entries of a metric were taken as statistics rather than samples, and why.
package struct TakenStatistics: Codable, Sendable, Equatable {
    /// The identifier of the samples' type; the entries are under `HealthType.statistics(of:)`.
    package var type: String
    package var count: Int64
    package var reason: String

    package init(type: String, count: Int64, reason: String) {
        (self.type, self.count, self.reason) = (type, count, reason)
    }
}
