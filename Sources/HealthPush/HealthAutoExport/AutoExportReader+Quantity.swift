import HealthModel
import JSON

extension AutoExportReader {
    static let wrongUnit = "the unit is missing, or isn't one for the metric's type"
    static let noQuantity = "there is no quantity, or it isn't a number"

    /// Reads `{date, qty}` or `{date, Min, Avg, Max}`, and the members that describe them.
    mutating func readQuantity(_ series: inout AutoExportSeries) throws(SampleProblem) {
        guard let factors = series.metric.form == .unknown ? .identity : series.factors else {
            throw SampleProblem(reason: Self.wrongUnit)
        }
        let quantity = item.take("qty")
        let mean = item.take("Avg", "avg")
        guard let value = number(mean ?? quantity, factors) else { throw SampleProblem(reason: Self.noQuantity) }
        var spread: (least: Double?, most: Double?) = (nil, nil)
        if let least = item.take("Min", "min") {
            spread.least = number(least, factors)
            guard let number = spread.least, series.limit.contains(number) else {
                throw SampleProblem(reason: "the minimum is impossible")
            }
        }
        if let most = item.take("Max", "max") {
            spread.most = number(most, factors)
            guard let number = spread.most, series.limit.contains(number) else {
                throw SampleProblem(reason: "the maximum is impossible")
            }
        }
        let hasSpread = spread.least != nil && spread.most != nil && spread.least != spread.most
        let isSum = series.metric.type.style == .cumulative
        let rule = dialect.isSample(item) ? .samples : series.aggregation
        var span = try AutoExportSpan(
            &item, rule, midnights: series.dates.midnights, hasSpread: hasSpread, isSum: isSum)
        // HealthKit has such sums over a time only. As instants, those of watch and phone would both count.
        if !span.isOwn, !span.isStatistic, series.metric.isMeasuredOverTime {
            span.end = series.dates.end(of: item, from: span.start)
            span.statistic = .point
        }
        // A single sample's minimum and maximum equal its value, so they aren't stored.
        if !span.isStatistic, spread.least ?? value == value, spread.most ?? value == value { spread = (nil, nil) }
        var row = row(of: &series, span)
        row.value = value
        dialect.adjust(&row, isFirst: !series.hasEntry)
        series.hasEntry = true
        let keepsID = dialect.keepsID(of: row, series.metric.type)
        describe(
            &row, metadata: quantityMetadata(series.metric.type.identifier), spread: spread, keepsID: keepsID)
        try rows.append(row)
    }

    /// Reads an entry of an unknown metric: a quantity or, if it has a word instead of a number, a category whose word
    /// stays in the payload.
    mutating func readUnknown(_ series: inout AutoExportSeries) throws(SampleProblem) {
        let isWord = item.look("value")?.text != nil && item.look("qty") == nil && item.look("Avg") == nil
        guard isWord, let identifier = series.metric.categoryIdentifier else { return try readQuantity(&series) }
        let span = try AutoExportSpan(&item, .samples, isSum: false)
        var row = row(identifier, span)
        describe(&row)
        try rows.append(row)
    }

    /// The number in the type's unit; nil if it is missing or isn't a number.
    private func number(_ span: JSONSpan?, _ factors: UnitFactors) -> Double? {
        span?.numberText.flatMap { factors.convert($0) }.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Values that the app sends as words and HealthKit stores as metadata, turned into the numbers that exports print.
    /// Other words stay in the payload.
    private mutating func quantityMetadata(_ identifier: String) -> [String: Value] {
        switch identifier {
        case "HKQuantityTypeIdentifierBloodGlucose":
            word(
                "mealTime", ["before meal": "1", "after meal": "2"], key: "HKBloodGlucoseMealTime", none: "unspecified")
        case "HKQuantityTypeIdentifierInsulinDelivery":
            word("reason", ["basal": "1", "bolus": "2"], key: "HKInsulinDeliveryReason")
        case "HKQuantityTypeIdentifierHeartRate":
            word(
                "context", ["not set": "0", "sedentary": "1", "active": "2"],
                key: "HKMetadataKeyHeartRateMotionContext")
        default: [:]
        }
    }

    private mutating func word(
        _ member: StaticString, _ words: [String: String], key: String, none: String? = nil
    ) -> [String: Value] {
        guard let text = item.look(member)?.text?.lowercased() else { return [:] }
        if text == none { _ = item.take(member) }
        guard let number = words[text] else { return [:] }
        _ = item.take(member)
        return [key: .string(number)]
    }

    /// Reads `{date, systolic, diastolic}`, which becomes one record for each value.
    mutating func readBloodPressure(_ series: AutoExportSeries) throws(SampleProblem) {
        guard let factors = series.factors else { throw SampleProblem(reason: Self.wrongUnit) }
        let parts = Array(zip(HealthType.bloodPressureParts, [item.take("systolic"), item.take("diastolic")]))
        let span = try AutoExportSpan(
            &item, series.aggregation, midnights: series.dates.midnights, isSum: false)
        let numbers = parts.compactMap { part in number(part.1, factors).map { (part.0, $0) } }
        guard numbers.count == parts.count else { throw SampleProblem(reason: Self.noQuantity) }
        // The id belongs to the pair, so neither record gets it.
        var described: AutoExportRow
        if span.isStatistic {
            described = row(parts[0].0, span)
            describe(&described, keepsID: false)
        } else {
            described = row(HealthType.bloodPressureIdentifier, span)
            describe(&described)
            let parts = numbers.map { type, value in
                Value(partOfType: type, unit: HealthType.named(type).unit, value, span.start, span.end)
            }
            var pair = described
            let members = described.payload.isEmpty ? [:] : Value(strictJSON: described.payload)?.object ?? [:]
            pair.payload = Array(Value.object(members.merging(["parts": .array(parts)]) { $1 }).json().utf8)
            try rows.append(pair)
            described.flags.insert(.correlationChild)
        }
        for (identifier, value) in numbers {
            var row = row(identifier, span)
            row.value = value
            (row.origin, row.flags) = (described.origin, described.flags)
            (row.metadata, row.payload) = (described.metadata, described.payload)
            try rows.append(row)
        }
    }
}
