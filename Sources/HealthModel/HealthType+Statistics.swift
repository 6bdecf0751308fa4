/// Statistics: what an app has added up or averaged over a stretch of time, where it tells no samples. They are no samples of their type, so
/// they have a type of their own: they never take a sample's place in the store, and figures count them only where there are no samples.
extension HealthType {
    private static let statisticsSuffix = ".statistics"

    /// The identifier of a type's statistics: `HKQuantityTypeIdentifierStepCount.statistics`. Their values are sums of a cumulative type and
    /// means of any other, in the type's canonical unit.
    package static func statistics(of identifier: String) -> String { identifier + statisticsSuffix }

    /// A handler of one of these types gets its statistics too: of every quantity, and of sleep, of which apps tell whole nights.
    package static func countsStatistics(_ identifier: String) -> Bool {
        named(identifier).kind == .quantity || identifier == sleepIdentifier
    }

    /// HealthKit's identifier of stages of sleep and of time in bed.
    package static let sleepIdentifier = "HKCategoryTypeIdentifierSleepAnalysis"

    /// The identifier of the type whose statistics these are; nil for what are no statistics.
    package static func base(ofStatistics identifier: String) -> String? {
        identifier.hasSuffix(statisticsSuffix) ? String(identifier.dropLast(statisticsSuffix.count)) : nil
    }
}
