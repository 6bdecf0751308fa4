import HealthModel

/// The workouts that start on a day, and which of them count.
///
/// Configuration: The options are `newestOfRepeats` (if a source wrote a workout several times, only the newest version
/// counts), `dateOfBirth`, `maximumHeartRate` and `restingHeartRate`.
public struct WorkoutsDay {
    struct Entry {
        var workout: Workout
        /// The index of the newest workout that the same source wrote for the same start and activity; its own index if
        /// it is the newest.
        var newest: Int
        var counts: Bool
    }

    /// The types whose payloads and creation dates it reads.
    public static let detailedTypes: Set = [HealthType.workoutIdentifier]
    /// Heart rate is read only during workouts.
    public static let during = ["HKQuantityTypeIdentifierHeartRate": HealthType.workoutIdentifier]

    /// The heart rate of a workout that runs past midnight continues into the next day.
    /// - Throws: `WorkoutConfigurationError`.
    public static func window(_ configuration: Value) throws -> HandlerWindow {
        _ = try HeartRateZones.dateOfBirth(in: configuration)
        return HandlerWindow(after: .seconds(12 * 3600))
    }

    /// Whether only the newest version counts if a source wrote a workout several times.
    public static func dropsRepeats(_ configuration: Value) -> Bool { configuration["newestOfRepeats"].bool ?? false }

    /// Ordered by start, then by end, creation and content.
    let entries: [Entry]

    /// - Throws: `WorkoutError` for a payload that isn't JSON; `WorkoutConfigurationError`.
    public init(_ input: DayInput) throws {
        let samples = input.samples
        let rows = samples.rows(of: HealthType.workoutIdentifier).filter { input.contains(samples.startOf($0)) }
        guard !rows.isEmpty else {
            entries = []
            return
        }
        let zones = try HeartRateZones.of(input)
        let rates = samples.rows(of: "HKQuantityTypeIdentifierHeartRate")
        let workouts = try rows.map { row in
            var workout = try Workout(samples, row: row)
            workout.heart = WorkoutHeart(
                of: workout.body, sourceName: workout.sourceName, samples, rows: rates, zones: zones)
            return (workout, Self.candidate(workout, samples, row: row))
        }.sorted { WorkoutRepeats.Candidate.precedes($0.1, $1.1) }
        let newest = WorkoutRepeats.newest(of: workouts.map(\.1))
        let dropsRepeats = Self.dropsRepeats(input.configuration)
        entries = workouts.enumerated().map { index, entry in
            Entry(workout: entry.0, newest: newest[index], counts: !dropsRepeats || newest[index] == index)
        }
    }

    private static func candidate(_ workout: Workout, _ samples: SamplePage, row: Int) -> WorkoutRepeats.Candidate {
        WorkoutRepeats.Candidate(
            key: .init(
                source: workout.sourceName, second: samples.startOf(row).flooredSecond,
                activity: workout.activity.identifier),
            created: workout.created, start: samples.startOf(row), end: samples.endOf(row),
            payload: text(samples.payload, row), metadata: text(samples.metadata, row), id: samples.ids[row])
    }

    private static func text(_ column: TextColumn, _ row: Int) -> [UInt8] {
        row < column.count ? Array(column.bytes[column.range(row)]) : []
    }

    /// The workouts that count, ordered by start.
    public var counted: [Workout] { entries.filter(\.counts).map(\.workout) }

    /// The day's entry in the summary; null if no workout counts.
    public var figure: Value { counted.isEmpty ? .null : .array(counted.map(\.figure)) }
}
