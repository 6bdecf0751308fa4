import HealthModel

/// Writes the `Workout` elements and the routes that they refer to.
struct WorkoutWriter {
    private static let secondsPerPoint: Int64 = 5

    let system: UnitSystem
    let zone: String
    let source: String

    init(system: UnitSystem, zone: String, address: UInt64) {
        self.system = system
        self.zone = zone
        source = RecordSource.watch.attributes(address: address)
    }

    private struct Shape {
        let name: String
        let distanceType: String
        let metersPerSecond: Double
        let kilocaloriesPerMinute: Double
    }

    private static func shape(_ activity: DayPlan.Workout.Activity) -> Shape {
        switch activity {
        case .running:
            Shape(
                name: "Running", distanceType: "DistanceWalkingRunning", metersPerSecond: 2.8, kilocaloriesPerMinute: 11
            )
        case .walking:
            Shape(
                name: "Walking", distanceType: "DistanceWalkingRunning", metersPerSecond: 1.4, kilocaloriesPerMinute: 5)
        case .cycling:
            Shape(name: "Cycling", distanceType: "DistanceCycling", metersPerSecond: 6, kilocaloriesPerMinute: 8)
        }
    }

    /// A path such as `/workout-routes/route_2025-03-30_5.30pm.gpx`; nil for an indoor workout.
    func routePath(_ plan: DayPlan) -> String? {
        guard let workout = plan.workout, !workout.isIndoor else { return nil }
        let minutes = Int(86_400 - (plan.dayEnd - workout.start)) / 60
        let minute = minutes % 60 < 10 ? "0\(minutes % 60)" : "\(minutes % 60)"
        return "/workout-routes/route_\(plan.day)_\(minutes / 60 % 12).\(minute)\(minutes < 720 ? "am" : "pm").gpx"
    }

    func write(_ plan: DayPlan, _ random: inout SeededRandom, _ text: inout ExportText) {
        guard let workout = plan.workout else { return }
        let shape = Self.shape(workout.activity)
        let active = Double(workout.end - workout.start - workout.pause)
        let meters = shape.metersPerSecond * active * random.uniform(0.9, 1.1)
        let energy = shape.kilocaloriesPerMinute * active / 60 * random.uniform(0.9, 1.1)
        text.append(" <Workout workoutActivityType=\"HKWorkoutActivityType\(shape.name)\" duration=\"\(active / 60)\"")
        text.append(" durationUnit=\"min\"" as StaticString)
        text.append(source)
        text.append(" creationDate=\"")
        text.append(date: workout.end + 12)
        span(workout.start, workout.end, &text)
        text.append(">\n")
        let temperature = random.uniform(2, 28)
        let shown = system == .metric ? "\(Int(temperature)) degC" : "\(Int(temperature * 1.8 + 32)) degF"
        for (key, value) in [
            ("HKIndoorWorkout", workout.isIndoor ? "1" : "0"), ("HKTimeZone", zone), ("HKWeatherTemperature", shown),
            ("HKElevationAscended", "\(random.index(12_000)) cm"),
            ("HKAverageMETs", "\(5 + random.index(5)).4 kcal/hr·kg"),
        ] {
            text.append("  <MetadataEntry key=\"\(key)\" value=\"\(value)\"/>\n")
        }
        if workout.pause > 0 {
            let middle = workout.start + (workout.end - workout.start) / 2
            event("Pause", middle, &text)
            event("Resume", middle + workout.pause, &text)
        }
        let distance = PrintedUnit.of(.distance, system)
        let kilocalories = PrintedUnit.of(.energy, system)
        statistic(shape.distanceType, workout, [("sum", meters / distance.canonical)], distance.name, &text)
        statistic("ActiveEnergyBurned", workout, [("sum", energy)], kilocalories.name, &text)
        statistic("HeartRate", workout, [("average", 142), ("minimum", 96), ("maximum", 171)], "count/min", &text)
        if let path = routePath(plan) {
            text.append("  <WorkoutRoute")
            text.append(source)
            text.append(" creationDate=\"")
            text.append(date: workout.end + 20)
            span(workout.start, workout.end, &text)
            text.append(">\n   <FileReference path=\"\(path)\"/>\n  </WorkoutRoute>\n")
        }
        text.append(" </Workout>\n")
    }

    private func span(_ start: Int64, _ end: Int64, _ text: inout ExportText) {
        text.append("\" startDate=\"")
        text.append(date: start)
        text.append("\" endDate=\"")
        text.append(date: end)
        text.append("\"")
    }

    private func event(_ name: String, _ date: Int64, _ text: inout ExportText) {
        text.append("  <WorkoutEvent type=\"HKWorkoutEventType\(name)\" date=\"")
        text.append(date: date)
        text.append("\"/>\n")
    }

    private func statistic(
        _ type: String, _ workout: DayPlan.Workout, _ numbers: [(String, Double)], _ unit: String,
        _ text: inout ExportText
    ) {
        text.append("  <WorkoutStatistics type=\"HKQuantityTypeIdentifier\(type)")
        span(workout.start, workout.end, &text)
        for (name, number) in numbers {
            text.append(" \(name)=\"")
            text.append(number: number)
            text.append("\"")
        }
        text.append(" unit=\"\(unit)\"/>\n")
    }

    /// A GPX 1.1 document; times are UTC.
    func writeRoute(_ workout: DayPlan.Workout, _ random: inout SeededRandom, _ text: inout ExportText) {
        text.append(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1">
              <trk>
                <trkseg>

            """ as StaticString)
        let speed = Self.shape(workout.activity).metersPerSecond
        var latitude = 52.52 + random.uniform(-0.05, 0.05)
        var longitude = 13.405 + random.uniform(-0.08, 0.08)
        for second in stride(from: workout.start, to: workout.end, by: Int(Self.secondsPerPoint)) {
            // One degree of latitude is about 111 km; one degree of longitude is 68 km at this latitude.
            let meters = speed * Double(Self.secondsPerPoint)
            latitude += meters / 111_000 * random.uniform(-1, 1)
            longitude += meters / 68_000 * random.uniform(-1, 1)
            let time = InstantText.iso8601(Instant(seconds: Int64(second)))
            text.append("      <trkpt lon=\"")
            text.append(degrees: longitude)
            text.append("\" lat=\"")
            text.append(degrees: latitude)
            text.append("\"><ele>")
            text.append(number: 34 + random.uniform(0, 20))
            text.append("</ele><time>\(time)</time><extensions><speed>")
            text.append(number: speed * random.uniform(0.8, 1.2))
            text.append("</speed><course>90</course><hAcc>4</hAcc><vAcc>3</vAcc></extensions></trkpt>\n")
            text.flushIfLarge()
        }
        text.append("    </trkseg>\n  </trk>\n</gpx>\n")
    }
}

extension ExportText {
    /// Writes six decimal places, for positions well away from 0.
    mutating func append(degrees: Double) {
        let millionths = Int((degrees * 1_000_000).rounded())
        append(integer: millionths / 1_000_000)
        append(".")
        let rest = abs(millionths % 1_000_000)
        appendTwo(rest / 10_000)
        appendTwo(rest / 100)
        appendTwo(rest)
    }
}
