import HealthModel
import JSON

/// An element of healthykit's lists: `{id, type, value, unit, start_at, end_at, source_name, metadata}`, or a workout
/// `{id, activity_type, start_at, end_at, duration_seconds, active_energy_kcal, distance_meters, source_name, metadata}`.
///
/// As read from the app's source (https://github.com/megabyte0x/healthykit, `HealthNormalizer.swift` and
/// `HealthKitManager.swift`): `id` is HealthKit's UUID behind `healthkit:`; a value in `percent` is HealthKit's fraction;
/// a category's number is the value or, for sleep, in the metadata; history comes as sums and means of days, which the
/// metadata says.
struct HealthykitItem {
    private var item = AutoExportItem()
    private var metadata: [String: Value] = [:]

    private static let idPrefix = "healthkit:"
    private static let nameLimit = 1000

    /// - Throws: `SampleProblem` when it isn't an object.
    init(_ span: JSONSpan) throws(SampleProblem) {
        guard span.kind == .object else { throw SampleProblem(reason: "the item isn't an object") }
        do throws(JSONScanError) {
            _ = try item.read(span)
        } catch { throw SampleProblem(reason: "\(error)") }
        if let given = item.take("metadata") {
            guard let members = given.value.object else { throw SampleProblem(reason: "metadata isn't an object") }
            metadata = members.filter { !$0.value.isNull }
        }
    }

    /// - Parameter now: when the request was received: of two sums of one day, the newer counts.
    mutating func metric(receivedAt now: Instant) throws(SampleProblem) -> RecordRows.Row {
        let unit = item.take("unit")?.text ?? ""
        let type = try type(in: unit)
        var row = try row(of: type.identifier)
        if type.kind == .category {
            row.value = Double(try category(type, in: unit))
        } else {
            row.value = try quantity(type, in: unit, &row.unit)
        }
        if take("aggregation") != nil {
            for name in ["aggregation_period", "aggregation_start", "aggregation_end"] { _ = take(name) }
            guard type.kind == .quantity, row.end > row.start else {
                throw SampleProblem(reason: "sums need a quantity type and a stretch of time")
            }
            row.type = HealthType.statistics(of: type.identifier)
            row.created = max(0, now.flooredSecond)
        }
        describe(&row)
        return row
    }

    mutating func workout() throws(SampleProblem) -> RecordRows.Row {
        var row = try row(of: HealthType.workoutIdentifier)
        guard let name = item.take("activity_type")?.text, !name.isEmpty, name.utf8.count <= 200 else {
            throw SampleProblem(reason: "activity_type isn't a name")
        }
        var workout = AutoExportWorkout(start: row.start, end: row.end)
        workout.set("activity", .string(WorkoutActivity(named: name).identifier))
        workout.duration(item.take("duration_seconds"), within: row.end - row.start, in: "s")
        workout.total("totalDistanceMeters", item.take("distance_meters"), WorkoutNumbers.distance, "distance")
        workout.total(
            "totalEnergyKilocalories", item.take("active_energy_kcal", "total_energy_kcal"), WorkoutNumbers.energy,
            "activeEnergyBurned")
        row.payload = Array(Value.object(workout.payload([:])).json().utf8)
        describe(&row)
        return row
    }

    // MARK: What both have

    private mutating func row(of type: String) throws(SampleProblem) -> RecordRows.Row {
        var row = RecordRows.Row()
        row.type = type
        guard let start = instant(item.take("start_at")) else { throw SampleProblem(reason: "start_at isn't a date") }
        guard let end = instant(item.take("end_at")) else { throw SampleProblem(reason: "end_at isn't a date") }
        guard end >= start else { throw SampleProblem(reason: "end_at is before start_at") }
        (row.start, row.end) = (start, end)
        let source = item.take("source_name")?.text ?? ""
        guard source.utf8.count <= Self.nameLimit else {
            throw SampleProblem(reason: "source_name has at most \(Self.nameLimit) bytes")
        }
        row.origin = Origin(sourceName: source)
        // A sum's id isn't a UUID.
        if let id = item.take("id")?.text, id.hasPrefix(Self.idPrefix) {
            row.uuid = SampleID(String(id.dropFirst(Self.idPrefix.count)))
        }
        return row
    }

    private func instant(_ span: JSONSpan?) -> Instant? {
        guard let text = span?.text else { return nil }
        return InstantText.parse(text)
    }

    /// Removes a member of the metadata, and returns its text.
    private mutating func take(_ name: String) -> String? { metadata.removeValue(forKey: name)?.string }

    private func describe(_ row: inout RecordRows.Row) {
        guard !metadata.isEmpty else { return }
        if let entered = metadata["HKWasUserEntered"], [.string("1"), .string("true")].contains(entered) {
            row.flags.insert(.userEntered)
        }
        row.metadata = Array(Value.object(metadata).json().utf8)
    }

    // MARK: Types and values

    private static let categoryUnit = "category_value"

    /// The app's names are HealthKit's in small letters, with a few exceptions.
    private static let others = [
        "hrv_sdnn": "HeartRateVariabilitySDNN", "dietary_carbs": "DietaryCarbohydrates",
        "dietary_fat": "DietaryFatTotal",
    ].mapValues { "HKQuantityTypeIdentifier" + $0 }

    private mutating func type(in unit: String) throws(SampleProblem) -> HealthType {
        let name = item.take("type")?.text ?? ""
        guard let type = Self.type(named: name, isCategory: unit == Self.categoryUnit) else {
            throw SampleProblem(reason: "type is missing, or isn't a quantity's or category's name")
        }
        return type
    }

    private static func type(named name: String, isCategory: Bool) -> HealthType? {
        if let identifier = others[name] { return HealthType.named(identifier) }
        if let type = AutoExportMetric.named(name)?.type { return type.kind == .correlation ? nil : type }
        guard let unknown = AutoExportMetric.unknown(name) else { return nil }
        return isCategory ? unknown.categoryIdentifier.map { HealthType.named($0) } : unknown.type
    }

    private mutating func quantity(
        _ type: HealthType, in given: String, _ unit: inout String
    ) throws(SampleProblem) -> Double {
        let known = AutoExportUnits.healthKit(given)
        unit = type.unit.isEmpty ? known : type.unit
        var factors = UnitFactors.identity
        if !type.unit.isEmpty {
            guard let found = UnitConversion.toCanonical(unit: known, for: type) else {
                throw SampleProblem(reason: "unit doesn't belong to this type, which is measured in \(type.unit)")
            }
            factors = UnitFactors(scale: found.scale, offset: found.offset)
        }
        guard let text = item.take("value")?.numberText, let number = factors.convert(text), number.isFinite else {
            throw SampleProblem(reason: "value isn't a number")
        }
        return number
    }

    private mutating func category(_ type: HealthType, in unit: String) throws(SampleProblem) -> Int {
        let (number, stage) = (take("category_value"), take("sleep_stage"))
        _ = take("category_label")
        // The value of sleep is how long it lasted.
        let value = item.take("value")?.integer
        let said = number.flatMap { Int($0) } ?? stage.flatMap { CategoryValue.raw(ofBare: $0, type: type.identifier) }
        guard let raw = said ?? (unit == Self.categoryUnit ? value.flatMap { Int(exactly: $0) } : nil) else {
            throw SampleProblem(reason: "neither the value nor the metadata is one of this type's")
        }
        return raw
    }
}
