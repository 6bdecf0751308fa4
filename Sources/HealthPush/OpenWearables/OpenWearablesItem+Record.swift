import HealthModel
import JSON

// A quantity, a category, or a stage of sleep.
extension OpenWearablesItem {
    private static let oxygen = "HKQuantityTypeIdentifierOxygenSaturation"
    private static let sleep = "HKCategoryTypeIdentifierSleepAnalysis"

    func readRecord(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let name = type?.text, name.hasPrefix("HK"), name.utf8.count <= 200 else {
            throw SampleProblem(reason: "type is missing, or isn't a HealthKit identifier")
        }
        row.type = name
        switch HealthType.named(name).kind {
        case .quantity: try readQuantity(&row)
        case .category:
            guard let raw = value?.integer else { throw SampleProblem(reason: "value isn't a category's number") }
            row.value = Double(raw)
        case .workout, .correlation, .other:
            throw SampleProblem(reason: "a record is a quantity or a category")
        }
    }

    private func readQuantity(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let value, value.kind == .number else { throw SampleProblem(reason: "value isn't a number") }
        let factors = try factors(for: HealthType.named(row.type), &row)
        guard let number = factors.convert(value.bytes.bindMemory(to: UInt8.self)), number.isFinite else {
            throw SampleProblem(reason: "value isn't a number")
        }
        row.value = number
    }

    private func factors(for type: HealthType, _ row: inout RecordRows.Row) throws(SampleProblem) -> UnitFactors {
        row.unit = type.unit
        // The SDK sends 97 for a saturation of 0.97. Its other percentages are fractions, as in HealthKit.
        if type.identifier == Self.oxygen { return UnitFactors(scale: 0.01, offset: 0) }
        guard let unit else { return .identity }
        guard let name = unit.text, name.utf8.count <= 200 else { throw SampleProblem(reason: "unit isn't text") }
        guard !type.unit.isEmpty else {
            row.unit = name
            return .identity
        }
        // "bpm", "breaths/min", "mL/kg/min": units as people write them.
        guard let found = UnitConversion.toCanonical(unit: AutoExportUnits.healthKit(name), for: type) else {
            throw SampleProblem(reason: "unit doesn't belong to this type, which is measured in \(type.unit)")
        }
        return UnitFactors(scale: found.scale, offset: found.offset)
    }

    func readSleep(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let stage = stage?.text, let raw = Self.stages[stage] else {
            throw SampleProblem(reason: "stage is missing, or isn't one of HealthKit's")
        }
        (row.type, row.value) = (Self.sleep, raw)
    }

    /// HKCategoryValueSleepAnalysis, by the SDK's names.
    private static let stages: [String: Double] = [
        "in_bed": 0, "inBed": 0, "sleeping": 1, "awake": 2, "light": 3, "deep": 4, "rem": 5,
    ]
}
