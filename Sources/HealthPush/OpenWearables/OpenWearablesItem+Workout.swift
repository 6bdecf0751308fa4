import HealthModel
import JSON

// A workout: its activity, and numbers as `[{type, value, unit}]`.
extension OpenWearablesItem {
    func readWorkout(_ row: inout RecordRows.Row) throws(SampleProblem) {
        // The SDK has its own spelling ("strength_training"), which is known as one of people's.
        guard let name = type?.text, name.utf8.count <= 200, WorkoutActivity(named: name).raw != nil else {
            throw SampleProblem(reason: "type is missing, or isn't an activity")
        }
        row.type = "HKWorkoutTypeIdentifier"
        var members = try workoutMembers()
        members["activity"] = .string(name)
        row.payload = try Self.payload(members, row.start, row.end)
    }

    /// The workout in the form of `POST /v1/samples`, whose reader checks the numbers.
    private func workoutMembers() throws(SampleProblem) -> [String: Value] {
        var members: [String: Value] = [:]
        var statistics: [String: [String: Value]] = [:]
        for (name, number, unit) in try workoutValues() {
            if let total = Self.totals[name] {
                guard let factors = UnitConversion.toCanonical(unit: unit, for: total.type) else {
                    throw SampleProblem(reason: "the unit of a workout's \(name) doesn't belong to it")
                }
                members[total.member] = .number(number * factors.scale)
            } else if let statistic = Self.statistics[name] {
                statistics[statistic.type, default: ["type": .string(statistic.type)]][statistic.member] =
                    .number(number)
                statistics[statistic.type]?["unit"] = .string(unit)
            } else if !WorkoutShape.names.contains(name), name != "activity" {
                // Weather, elevation and the like.
                members[name] = ["value": .number(number), "unit": .string(unit)]
            }
        }
        if !statistics.isEmpty {
            members["statistics"] = .array(statistics.sorted { $0.key < $1.key }.map { Value.object($0.value) })
        }
        return members
    }

    private func workoutValues() throws(SampleProblem) -> [(name: String, number: Double, unit: String)] {
        guard let values else { return [] }
        guard values.kind == .array else { throw SampleProblem(reason: "a workout's values aren't a list") }
        var found: [(name: String, number: Double, unit: String)] = []
        var spans: [JSONSpan] = []
        do throws(JSONScanError) {
            var scanner = JSONScanner(values.bytes)
            try scanner.beginArray()
            while try scanner.nextElement() { spans.append(try scanner.value()) }
        } catch { throw SampleProblem(reason: "\(error)") }
        for span in spans {
            guard span.kind == .object else { throw SampleProblem(reason: "one of a workout's values isn't an object") }
            var (type, unit, value): (String?, String, Double?) = (nil, "", nil)
            try span.eachMember { key, member in
                if key == "type" { type = member.text }
                if key == "unit" { unit = member.text ?? "" }
                if key == "value" { value = member.double }
            }
            guard let name = type, !name.isEmpty, name.utf8.count <= 200, let number = value else {
                throw SampleProblem(reason: "one of a workout's values has no type, or no number")
            }
            found.append((name, number, AutoExportUnits.healthKit(unit)))
        }
        return found
    }

    private static func payload(
        _ members: [String: Value], _ start: Instant, _ end: Instant
    ) throws(SampleProblem) -> [UInt8] {
        let text = Array(Value.object(members).json().utf8)
        let payload = text.withUnsafeBytes { text -> Result<[UInt8], SampleProblem> in
            do throws(SampleProblem) {
                return .success(try WorkoutPayload.json(of: span(text), start: start, end: end))
            } catch { return .failure(error) }
        }
        switch payload {
        case .success(let json): return json
        case .failure(let problem): throw problem
        }
    }

    private static func span(_ text: UnsafeRawBufferPointer) throws(SampleProblem) -> JSONSpan {
        do throws(JSONScanError) {
            var scanner = JSONScanner(text)
            return try scanner.value()
        } catch { throw SampleProblem(reason: "\(error)") }
    }
}

// The SDK's names of a workout's numbers.
extension OpenWearablesItem {
    private static let totals: [String: (member: String, type: HealthType)] = [
        "duration": ("durationSeconds", HealthType(identifier: "duration", kind: .other, unit: "s", style: .none)),
        "distance": ("totalDistanceMeters", HealthType.named(WorkoutNumbers.distance)),
        "activeEnergyBurned": ("totalEnergyKilocalories", HealthType.named(WorkoutNumbers.energy)),
        "swimmingStrokeCount": (
            "totalSwimmingStrokeCount", HealthType.named("HKQuantityTypeIdentifierSwimmingStrokeCount")
        ),
    ]

    private static let statistics: [String: (type: String, member: String)] = [
        ("minHeartRate", "HeartRate", "minimum"), ("averageHeartRate", "HeartRate", "average"),
        ("maxHeartRate", "HeartRate", "maximum"), ("basalEnergyBurned", "BasalEnergyBurned", "sum"),
        ("stepCount", "StepCount", "sum"), ("averageRunningPower", "RunningPower", "average"),
        ("averageRunningSpeed", "RunningSpeed", "average"),
        ("averageRunningStrideLength", "RunningStrideLength", "average"),
        ("averageVerticalOscillation", "RunningVerticalOscillation", "average"),
        ("averageGroundContactTime", "RunningGroundContactTime", "average"),
    ].reduce(into: [:]) { all, entry in
        all[entry.0] = (type: "HKQuantityTypeIdentifier" + entry.1, member: entry.2)
    }
}
