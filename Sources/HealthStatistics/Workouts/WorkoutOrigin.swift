/// Where one of a workout's values comes from.
package enum WorkoutOrigin: Sendable, Equatable {
    /// One of the statistics that make up a sum.
    package struct Part: Sendable, Equatable {
        package var type: String
        package var sum: Double
    }

    /// The workout's own statistics, added up.
    case statistics([Part])
    /// The workout's own statistic, unchanged.
    case statistic
    /// The workout's own total.
    case total
    /// The workout's own duration.
    case printed
    /// The time from start to end without the pauses.
    case activeTime
    /// The given number of samples that begin during the workout.
    case samples(Int)
    case unknown

    /// The name used by `explain --json`.
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
