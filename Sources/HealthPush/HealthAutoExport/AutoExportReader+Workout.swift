import HealthModel
import JSON

extension AutoExportReader {
    /// The maximum number of bytes that the unread members of a workout or an event may take up in one row.
    static let restLimit = 256 << 10

    /// Reads a workout in version 1 or 2 of the app's format.
    mutating func readWorkout() throws {
        let times = try readTimes()
        let names = [
            item.take("name"), item.take("activity", "activityType"), item.take("workoutActivityType", "type"),
        ]
        guard let (name, activity) = AutoExportActivity.named(names) else {
            throw SampleProblem(reason: "the workout has no name")
        }
        var workout = AutoExportWorkout(start: times.start, end: times.end)
        workout.set("name", .string(name))
        workout.set("activity", .string(activity))
        workout.duration(item.take("duration"), within: times.end - times.start, in: dialect.durationUnit)
        try workout.read(&item)
        if item.look("route")?.kind == .array, let route = item.take("route") { try workout.route(route) }
        if let parts = try activities(of: times).map(Value.array) {
            if let problem = WorkoutShape().problem("activities", parts) {
                throw SampleProblem(reason: "the workout's \(problem)")
            }
            workout.set("activities", parts)
        }
        let metadata = indoors(name)
        var row = row(HealthType.workoutIdentifier, times.start, times.end)
        // The app has no such members; a copy of ours must not displace what an export has.
        var problem: String?
        describe(&row, metadata: metadata, restLimit: Self.restLimit) { rest in
            problem = WorkoutShape().problem(in: rest)
            return workout.payload(rest)
        }
        if let problem { throw SampleProblem(reason: "the workout's \(problem)") }
        try rows.append(row)
    }

    /// The start and end of an event; without an end, the end equals the start.
    mutating func readTimes() throws(SampleProblem) -> (start: Instant, end: Instant) {
        let start = try AutoExportSpan.date(item.take("start", "startDate", "start_date"), "start")
        let end = try AutoExportSpan.date(item.take("end", "endDate", "end_date"), "end")
        let date = try AutoExportSpan.date(item.take("date"), "date")
        guard let begin = start ?? date else {
            throw SampleProblem(reason: "there is no start")
        }
        return (begin.instant, (end ?? begin).instant)
    }

    private mutating func indoors(_ name: String) -> [String: Value] {
        let location = item.look("location")?.text.flatMap { AutoExportActivity.isIndoor($0) }
        let flag = item.look("isIndoor")?.flag
        guard let isIndoor = flag ?? location ?? AutoExportActivity.isIndoor(name) else { return [:] }
        return ["HKIndoorWorkout": .string(isIndoor ? "1" : "0")]
    }
}
