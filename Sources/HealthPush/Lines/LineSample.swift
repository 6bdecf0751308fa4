import HealthModel
import JSON

/// A line's sample.
struct LineSample {
    private let fields: LineFields
    private let type: HealthType
    private let style: NumberStyle

    init(_ fields: LineFields, _ type: HealthType, _ style: NumberStyle) {
        (self.fields, self.type, self.style) = (fields, type, style)
    }

    private static let nameLimit = 1000
    private static let unitLimit = 200
    private static let advice = "send ISO 8601 with the time, which has its offset: 2025-03-30T08:15:00+02:00"
    static let isOpen =
        "value has a comma or point before three digits, which may be for thousands or decimals: send it without signs "
        + "for thousands, and with one decimal (1234.0), or with two"

    /// The row, without the item's number.
    /// - Throws: `SampleProblem` that names the field.
    func row() throws(SampleProblem) -> RecordRows.Row {
        var row = RecordRows.Row()
        row.type = type.identifier
        row.start = try Self.instant(fields.start, "start")
        row.end = fields.end.isEmpty ? row.start : try Self.instant(fields.end, "end")
        guard row.end >= row.start else { throw SampleProblem(reason: "end is before start") }
        guard fields.source.utf8.count <= Self.nameLimit else {
            throw SampleProblem(reason: "source has at most \(Self.nameLimit) bytes")
        }
        row.origin = Origin(sourceName: fields.source)
        if type.kind == .category {
            row.value = Double(try category())
        } else {
            row.value = try quantity(&row.unit)
        }
        return row
    }

    /// A phone's own formats lack the offset, and a request has no zone, so nobody knows which moment they mean.
    private static func instant(_ text: String, _ name: String) throws(SampleProblem) -> Instant {
        guard !text.isEmpty else { throw SampleProblem(reason: "\(name) is missing") }
        var text = text
        if let date = text.withUTF8({ AutoExportDate($0) }) { return date.instant }
        throw SampleProblem(reason: text.withUTF8 { AutoExportDate.problem($0, name) } + "; \(advice)")
    }

    // MARK: Quantities

    private func quantity(_ unit: inout String) throws(SampleProblem) -> Double {
        guard !fields.value.isEmpty else { throw SampleProblem(reason: "value is missing") }
        guard let number = PhoneNumber(fields.value) else { throw SampleProblem(reason: "value isn't a number") }
        let factors = try factors(number, &unit)
        var values = style.readings(of: number).compactMap { text in
            text.withUnsafeBufferPointer { factors.convert($0) }
        }
        guard values.allSatisfy(\.isFinite), !values.isEmpty else {
            throw SampleProblem(reason: "value isn't a number")
        }
        // No person weighs 71234 kg.
        let possible = PlausibilityLimit.of(type).values
        if values.count > 1 { values = values.filter { possible.contains($0) } }
        guard values.count == 1 else { throw SampleProblem(reason: Self.isOpen) }
        return values[0]
    }

    private func factors(_ number: PhoneNumber, _ unit: inout String) throws(SampleProblem) -> UnitFactors {
        guard fields.unit.utf8.count <= Self.unitLimit else {
            throw SampleProblem(reason: "unit has at most \(Self.unitLimit) bytes")
        }
        let given = AutoExportUnits.healthKit(fields.unit.isEmpty && number.hasPercent ? "%" : fields.unit)
        unit = type.unit.isEmpty ? given : type.unit
        if type.unit == "%", given.isEmpty || given == "%" {
            return number.hasPercent || style.arePercentages ? UnitFactors(scale: 0.01, offset: 0) : .identity
        }
        if given.isEmpty || type.unit.isEmpty { return .identity }
        guard given != "%", let factors = AutoExportUnits.factors(given, for: type) else {
            throw SampleProblem(reason: "unit doesn't belong to this type, which is measured in \(type.unit)")
        }
        return factors
    }

    // MARK: Categories

    private func category() throws(SampleProblem) -> Int {
        // Shortcuts prints a value even where HealthKit has none.
        if CategoryValue.isNotApplicable(type: type.identifier) { return 0 }
        guard !fields.value.isEmpty else { throw SampleProblem(reason: "value is missing") }
        guard let raw = number ?? named else {
            throw SampleProblem(reason: "value isn't one of this type's, by its number or its English name")
        }
        return raw
    }

    /// One of the type's numbers; of a type that isn't known, any.
    private var number: Int? {
        guard let number = PhoneNumber(fields.value), number.open == nil, !number.hasPercent else { return nil }
        let value = number.text.withUnsafeBufferPointer { DecimalText.parse($0) }
        guard let raw = value.flatMap({ Int(exactly: $0) }) else { return nil }
        let isKnown = CategoryValue.choices(of: type.identifier) != nil
        return isKnown && CategoryValue.name(of: raw, type: type.identifier) == nil ? nil : raw
    }

    private var named: Int? {
        let text = fields.value
        if text.hasPrefix("HKCategoryValue") { return CategoryValue.raw(of: text) }
        if let raw = CategoryValue.raw(ofBare: text, type: type.identifier) { return raw }
        if type.identifier == HealthType.sleepIdentifier { return AutoExportReader.stage(named: text) }
        return AutoExportCategory.raw(text, type.identifier)
    }
}
