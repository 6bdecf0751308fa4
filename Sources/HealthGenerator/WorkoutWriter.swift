import Glibc
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
        // Drawn apart, so that no other number depends on it; around the mean of the samples during a workout.
        var heart = SeededRandom(seed: 0, subject: 1001, day: Int(workout.start))
        let average = 142 + heart.uniform(-5, 5).rounded()
        statistic(
            "HeartRate", workout,
            [
                ("average", average), ("minimum", average - heart.uniform(28, 44).rounded()),
                ("maximum", average + heart.uniform(16, 26).rounded()),
            ], "count/min", &text)
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
        // The direction, with a length of 1. It is turned without sine and cosine, whose last digits differ by machine.
        var (north, east) = (random.uniform(-1, 1), random.uniform(-1, 1))
        // Gentle hills: the slope changes slowly, and leads back to the middle.
        var elevation = 44.0
        var slope = 0.0
        for second in stride(from: workout.start, to: workout.end, by: Int(Self.secondsPerPoint)) {
            // One degree of latitude is about 111 km; one degree of longitude is 68 km at this latitude.
            let meters = speed * Double(Self.secondsPerPoint)
            let turn = random.uniform(-0.3, 0.3)
            (north, east) = (north - turn * east, east + turn * north)
            let norm = max(1e-9, (north * north + east * east).squareRoot())
            (north, east) = (north / norm, east / norm)
            latitude += meters / 111_000 * north
            longitude += meters / 68_000 * east
            slope = 0.97 * slope + random.uniform(-0.06, 0.06) - 0.0005 * (elevation - 44)
            elevation += slope
            let time = InstantText.iso8601(Instant(seconds: Int64(second)))
            text.append("      <trkpt lon=\"")
            text.append(degrees: longitude)
            text.append("\" lat=\"")
            text.append(degrees: latitude)
            text.append("\"><ele>")
            text.append(number: (elevation * 100).rounded() / 100)
            text.append("</ele><time>\(time)</time><extensions><speed>")
            text.append(number: speed * random.uniform(0.8, 1.2))
            text.append("</speed><course>")
            text.append(integer: (Int((atan2(east, north) * 180 / .pi).rounded()) + 360) % 360)
            text.append("</course><hAcc>4</hAcc><vAcc>3</vAcc></extensions></trkpt>\n")
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
