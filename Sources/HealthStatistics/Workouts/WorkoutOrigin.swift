/// Where one of a workout's values comes from.
package enum WorkoutOrigin: Sendable, Equatable {
    /// One of the statistics that a sum is made of.
    package struct Part: Sendable, Equatable {
        package var type: String
        package var sum: Double
    }

    /// The workout's own statistics, added up.
    case statistics([Part])
    /// The workout's own statistic, as it stands.
    case statistic
    /// The total that the workout has of itself.
    case total
    /// The duration that the workout has of itself.
    case printed
    /// The time from start to end without the pauses.
    case activeTime
    /// So many samples that begin during the workout.
    case samples(Int)
    case unknown

    /// As `explain --json` names it.
    package var name: String {
        switch self {
        case .statistics, .statistic: "statistics"
        case .total: "total"
        case .printed: "printed"
        case .activeTime: "activeTime"
        case .samples: "samples"
        case .unknown: "unknown"
        }
    }
}
