import HealthModel
import JSON

// A sample's value and payload, depending on the kind of its type.
extension SampleItem {
    func readQuantity(_ row: inout RecordRows.Row) throws(SampleProblem) {
        let type = HealthType.named(row.type)
        guard let value, value.kind == .number else { throw SampleProblem(reason: "value isn't a number") }
        let factors = try factors(for: type, &row)
        guard let number = factors.convert(value.bytes.bindMemory(to: UInt8.self)), number.isFinite else {
            throw SampleProblem(reason: "value isn't a number")
        }
        row.value = number
    }

    /// If no unit is given, the type's canonical unit is assumed.
    func factors(for type: HealthType, _ row: inout RecordRows.Row) throws(SampleProblem) -> UnitFactors {
        guard let unit else {
            row.unit = type.unit
            return .identity
        }
        guard let name = unit.text, name.utf8.count <= 200 else { throw SampleProblem(reason: "unit isn't text") }
        guard !type.unit.isEmpty else {
            row.unit = name
            return .identity
        }
        guard let found = UnitConversion.toCanonical(unit: name, for: type) else {
            throw SampleProblem(reason: "unit doesn't belong to this type, which is measured in \(type.unit)")
        }
        row.unit = type.unit
        return UnitFactors(scale: found.scale, offset: found.offset)
    }

    func readCategory(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let value else { return try readOther(&row) }
        let named = value.text.flatMap { CategoryValue.raw(of: $0) }
        guard let raw = value.integer ?? named.map({ Int64($0) }) else {
            throw SampleProblem(reason: "value isn't a category's number, nor one of HealthKit's names")
        }
        row.value = Double(raw)
        try readOther(&row)
    }

    /// Reads a sample of any other kind; anything without a column must be in `payload`.
    func readOther(_ row: inout RecordRows.Row) throws(SampleProblem) {
        if HealthType.named(row.type).kind == .other, let value {
            guard let number = value.double else { throw SampleProblem(reason: "value isn't a number") }
            row.value = number
            row.unit = unit?.text ?? ""
        }
        guard let payload else { return }
        guard payload.kind == .object else { throw SampleProblem(reason: "payload isn't an object") }
        row.payload = [UInt8](payload.bytes)
    }
}
