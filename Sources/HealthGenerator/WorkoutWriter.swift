import HealthModel

/// Writes the `Workout` elements.
struct WorkoutWriter {
    let person: Person
    let zones: ZoneTimeline
    let export: ExportLook
    private var source: String { RecordSource.watch.attributes(export) }
    private var system: UnitSystem { export.system }

    static func names(_ activity: DayPlan.Workout.Activity) -> (activity: String, distance: String) {
        switch activity {
        case .running: ("Running", "DistanceWalkingRunning")
        case .walking: ("Walking", "DistanceWalkingRunning")
        case .cycling: ("Cycling", "DistanceCycling")
        }
    }

    /// A path such as `/workout-routes/route_2025-03-30_5.30pm.gpx`; nil for an indoor workout.
    static func routePath(_ plan: DayPlan) -> String? {
        guard let workout = plan.workout, !workout.isIndoor else { return nil }
        let minutes = Int(86_400 - (plan.dayEnd - workout.start)) / 60
        let minute = minutes % 60 < 10 ? "0\(minutes % 60)" : "\(minutes % 60)"
        let hour = minutes / 60 % 12 == 0 ? 12 : minutes / 60 % 12
        return "/workout-routes/route_\(plan.day)_\(hour).\(minute)\(minutes < 720 ? "am" : "pm").gpx"
    }

    func write(_ plan: DayPlan, _ text: inout ExportText) {
        guard let workout = plan.workout, let trace = WorkoutTrace(plan, person) else { return }
        let source = source
        var random = SeededRandom(seed: person.seed, subject: 1000, day: plan.day.number)
        let names = Self.names(workout.activity)
        let active = Double(workout.end - workout.start - workout.pause)
        let (meters, energy) = (trace.meters.last ?? 0, trace.kilocalories.last ?? 0)
        text.append(" <Workout workoutActivityType=\"HKWorkoutActivityType\(names.activity)\"")
        text.append(" duration=\"\(active / 60)\" durationUnit=\"min\"\(source)")
        text.append(stored: workout.end + 12, from: workout.start, to: workout.end)
        text.append(">\n")
        let temperature = 11 - 9 * Self.winter(plan.day) + random.uniform(-5, 6)
        let shown = system == .metric ? "\(Int(temperature)) degC" : "\(Int(temperature * 1.8 + 32)) degF"
        // Energy at rest is about one kilocalorie for each kilogram and hour.
        let effort = (10 * (1 + energy / person.massKilograms / active * 3600)).rounded() / 10
        metadata("HKIndoorWorkout", workout.isIndoor ? "1" : "0", &text)
        metadata("HKTimeZone", zones.zone(at: Instant(seconds: workout.start)), &text)
        if !workout.isIndoor {
            metadata("HKWeatherTemperature", shown, &text)
            metadata("HKElevationAscended", "\(Int(trace.ascent * 100)) cm", &text)
        }
        metadata("HKAverageMETs", "\(effort) kcal/hr·kg", &text)
        events(workout, trace, &text)
        let distance = PrintedUnit.of(.distance, system)
        let kilocalories = PrintedUnit.of(.energy, system)
        statistic(names.distance, workout, [("sum", meters / distance.canonical)], distance.name, &text)
        statistic("ActiveEnergyBurned", workout, [("sum", energy)], kilocalories.name, &text)
        statistic(
            "BasalEnergyBurned", workout, [("sum", person.restingEnergy * active)], kilocalories.name, &text)
        if let steps = trace.steps.last, steps > 0 {
            statistic("StepCount", workout, [("sum", steps.rounded())], "count", &text)
        }
        let average = trace.rates.reduce(0, +) / Double(max(1, trace.rates.count))
        statistic(
            "HeartRate", workout,
            [
                ("average", average), ("minimum", trace.rates.min() ?? average),
                ("maximum", trace.rates.max() ?? average),
            ], "count/min", &text)
        if let path = Self.routePath(plan) {
            text.append("  <WorkoutRoute\(source)")
            text.append(stored: workout.end + 20, from: workout.start, to: workout.end)
            text.append(">\n   <FileReference path=\"\(path)\"/>\n  </WorkoutRoute>\n")
        }
        text.append(" </Workout>\n")
    }

    /// From 0 in midsummer to 1 in midwinter, north of the equator.
    private static func winter(_ day: LocalDay) -> Double {
        let away = abs(Double((day.month - 1) * 30 + day.day) - 198) / 183
        return min(1, away)
    }

    /// The pause, and a segment for each kilometre on foot, in order.
    private func events(_ workout: DayPlan.Workout, _ trace: WorkoutTrace, _ text: inout ExportText) {
        var segments: [(start: Int64, seconds: Int64)] = []
        if workout.activity != .cycling {
            var (begun, next) = (workout.start, 1000.0)
            for (index, meters) in trace.meters.enumerated() where meters >= next {
                let end = workout.start + Int64(index) * WorkoutTrace.step
                segments.append((begun, end - begun))
                (begun, next) = (end, next + 1000)
            }
        }
        let pause = workout.pause > 0 ? workout.middle : .max
        for (start, seconds) in segments where start < pause { event("Segment", start, seconds: seconds, &text) }
        if workout.pause > 0 {
            event("Pause", workout.middle, &text)
            event("Resume", workout.middle + workout.pause, &text)
        }
        for (start, seconds) in segments where start >= pause { event("Segment", start, seconds: seconds, &text) }
    }

    private func metadata(_ key: String, _ value: String, _ text: inout ExportText) {
        text.append("  <MetadataEntry key=\"\(key)\" value=\"\(value)\"/>\n")
    }

    private func event(_ name: String, _ date: Int64, seconds: Int64? = nil, _ text: inout ExportText) {
        text.append("  <WorkoutEvent type=\"HKWorkoutEventType\(name)\" date=\"")
        text.append(date: date)
        let duration = seconds.map { " duration=\"\(Double($0) / 60)\" durationUnit=\"min\"" } ?? ""
        text.append("\"\(duration)/>\n")
    }

    private func statistic(
        _ type: String, _ workout: DayPlan.Workout, _ numbers: [(String, Double)], _ unit: String,
        _ text: inout ExportText
    ) { statistic(type, workout.start, workout.end, numbers, unit, &text) }

    func statistic(
        _ type: String, _ start: Int64, _ end: Int64, _ numbers: [(String, Double)], _ unit: String,
        _ text: inout ExportText
    ) {
        text.append("  <WorkoutStatistics type=\"HKQuantityTypeIdentifier\(type)\"")
        text.append(from: start, to: end)
        for (name, number) in numbers {
            text.append(" \(name)=\"")
            text.append(number: number)
            text.append("\"")
        }
        text.append(" unit=\"\(unit)\"/>\n")
    }
}
