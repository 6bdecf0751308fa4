import HealthModel
import JSON

extension AutoExportReader {
    /// The maximum number of bytes that the unread members of a workout or an event may take up in one row.
    static let restLimit = 256 << 10

    /// Reads a workout in version 1 or 2 of the app's format. Returns what is wrong, or nil.
    mutating func readWorkout() throws(JSONScanError) -> String? {
        let times: (start: Instant, end: Instant)
        do throws(AutoExportSpan.Problem) {
            times = try readTimes()
        } catch { return error.reason }
        guard let name = item.take("name")?.text, !name.isEmpty else { return "the workout has no name" }
        var workout = AutoExportWorkout(start: times.start, end: times.end)
        workout.set("name", .string(name))
        workout.set("activity", .string(AutoExportActivity.identifier(of: name)))
        workout.duration(item.take("duration"), within: times.end - times.start)
        readTotals(&workout)
        try readHeart(&workout)
        try readSeries(&workout)
        if item.look("route")?.kind == .array, let route = item.take("route") { try workout.route(route) }
        let metadata = indoors(name)
        var row = row(HealthType.workoutIdentifier, times.start, times.end)
        // The app has no such members; a copy of ours must not displace what an export has.
        var problem: String?
        describe(&row, metadata: metadata, restLimit: Self.restLimit) { rest in
            problem = WorkoutShape().problem(in: rest)
            return workout.payload(rest)
        }
        if let problem { return "the workout's \(problem)" }
        return rows.append(row)
    }

    /// The start and end of an event; without an end, the end equals the start.
    mutating func readTimes() throws(AutoExportSpan.Problem) -> (start: Instant, end: Instant) {
        let start = try AutoExportSpan.date(item.take("start", "startDate"), "start")
        let end = try AutoExportSpan.date(item.take("end", "endDate"), "end")
        let date = try AutoExportSpan.date(item.take("date"), "date")
        guard let begin = start ?? date else {
            throw AutoExportSpan.Problem(reason: "there is no start")
        }
        return (begin.instant, (end ?? begin).instant)
    }

    /// The workout's own totals.
    private mutating func readTotals(_ workout: inout AutoExportWorkout) {
        workout.total(
            "totalDistanceMeters", scalar("distance") ?? scalar("totalDistance"), WorkoutNumbers.distance, "distance")
        workout.total(
            "totalEnergyKilocalories", scalar("activeEnergyBurned") ?? scalar("activeEnergy"), WorkoutNumbers.energy,
            "activeEnergyBurned")
        workout.total(
            "totalSwimmingStrokeCount", scalar("totalSwimmingStrokeCount"),
            "HKQuantityTypeIdentifierSwimmingStrokeCount", "totalSwimmingStrokeCount")
        workout.total(
            "totalFlightsClimbed", scalar("flightsClimbed"), "HKQuantityTypeIdentifierFlightsClimbed", "flightsClimbed")
        workout.statistic("HKQuantityTypeIdentifierStepCount", "sum", scalar("stepCount"))
    }

    /// A member that is `{qty, units}` or a number; if it is a series instead, it isn't read here.
    private mutating func scalar(_ name: StaticString) -> JSONSpan? {
        guard let span = item.look(name), span.kind == .object || span.numberText != nil else { return nil }
        return item.take(name)
    }

    /// Average, minimum and maximum, either as stated or computed from the series.
    private mutating func readHeart(_ workout: inout AutoExportWorkout) throws(JSONScanError) {
        let type = "HKQuantityTypeIdentifierHeartRate"
        let told = [("average", scalar("avgHeartRate")), ("maximum", scalar("maxHeartRate"))]
        for (name, span) in told { workout.statistic(type, name, span) }
        if item.look("heartRate")?.kind == .object, let all = item.take("heartRate") {
            var summary = AutoExportItem()
            _ = try summary.read(all)
            let parts = [
                ("average", summary.take("avg")), ("minimum", summary.take("min")), ("maximum", summary.take("max")),
            ]
            for (name, span) in parts where !workout.has(type, name) { workout.statistic(type, name, span) }
        }
        guard let series = try AutoExportSums(item.look("heartRateData")) else { return }
        let parts = [("average", series.mean), ("minimum", series.least), ("maximum", series.most)]
        for (name, number) in parts where !workout.has(type, name) {
            workout.statistic(type, name, number.map { JSONNumber.text($0) }, nil)
        }
    }

    /// Computes the sums of the series, which are used where the workout states no total. The series themselves stay in
    /// the payload.
    private mutating func readSeries(_ workout: inout AutoExportWorkout) throws(JSONScanError) {
        let distances = workout.members["totalDistanceMeters"] == nil
        let energy = workout.members["totalEnergyKilocalories"] == nil
        let series: [(StaticString, String, Bool)] = [
            ("walkingAndRunningDistance", "DistanceWalkingRunning", distances),
            ("cyclingDistance", "DistanceCycling", distances), ("swimDistance", "DistanceSwimming", distances),
            ("activeEnergy", "ActiveEnergyBurned", energy), ("basalEnergy", "BasalEnergyBurned", true),
            ("stepCount", "StepCount", true), ("swimStroke", "SwimmingStrokeCount", true),
        ]
        for (member, type, isWanted) in series where isWanted {
            guard let sums = try AutoExportSums(item.look(member)), sums.isSum else { continue }
            let unit = sums.unit.map(AutoExportUnits.healthKit).flatMap { $0.isEmpty ? nil : $0 }
            let identifier = "HKQuantityTypeIdentifier" + type
            if !workout.has(identifier, "sum") {
                workout.statistic(identifier, "sum", JSONNumber.text(sums.sum), unit)
            }
        }
    }

    private mutating func indoors(_ name: String) -> [String: Value] {
        let location = item.look("location")?.text.flatMap { AutoExportActivity.isIndoor($0) }
        let flag = item.look("isIndoor")?.flag
        guard let isIndoor = flag ?? location ?? AutoExportActivity.isIndoor(name) else { return [:] }
        return ["HKIndoorWorkout": .string(isIndoor ? "1" : "0")]
    }
}
