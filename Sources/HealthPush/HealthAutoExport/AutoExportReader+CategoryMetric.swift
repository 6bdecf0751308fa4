import HealthModel
import JSON

extension AutoExportReader {
    static let standHour = "HKCategoryTypeIdentifierAppleStandHour"
    static let translates = "the app translates it, so the phone may be set to another language"
    static let unknownValue = "the value isn't one that its type is known to have; \(translates)"

    /// Reads sessions and events: mindful minutes, handwashing, stand hours.
    ///
    /// An entry with a start and an end, or with a `value` that is a name, is a sample. So is an entry that lasts
    /// longer than its period; that sample begins at the entry's date. Otherwise the app has counted events, or added
    /// up their minutes.
    mutating func readCategoryMetric(_ series: AutoExportSeries) throws(SampleProblem) {
        let quantity = item.take("qty") ?? item.take("Avg", "avg")
        let seconds = AutoExportUnits.seconds(in: series.units)
        let length = quantity?.decimal.flatMap { number in
            seconds.map { Duration.seconds(max(0, min(number * $0, 1e9))) }
        }
        let isStand = series.metric.type.identifier == Self.standHour
        var span = try AutoExportSpan(
            &item, series.aggregation, midnights: series.dates.midnights, isSum: true)
        let isNamed = item.look("value") != nil
        let outlasts = !isStand && (length.map { $0 > span.end - span.start } ?? false)
        if isStand, !isNamed, !span.isOwn, !span.isStatistic {
            // A count of stand hours covers at least one hour.
            span.statistic = .count
            span.end = span.start + .seconds(3600)
        }
        guard span.isStatistic, !isNamed, !outlasts else {
            if !span.isOwn { span.end = span.start + (isStand ? .seconds(3600) : length ?? .zero) }
            span.statistic = nil
            return try readEvent(series, span)
        }
        guard let number = quantity?.decimal else { throw SampleProblem(reason: Self.noQuantity) }
        let minutes = isStand ? nil : seconds.map { number * ($0 / 60) }
        guard (minutes ?? number).isFinite else { throw SampleProblem(reason: Self.noQuantity) }
        var row = row(series.metric.type.identifier, unit: minutes == nil ? "count" : "min", span)
        row.value = minutes ?? number
        describe(&row)
        try rows.append(row)
    }

    private mutating func readEvent(_ series: AutoExportSeries, _ span: AutoExportSpan) throws(SampleProblem) {
        let identifier = series.metric.type.identifier
        var row = row(identifier, span)
        if CategoryValue.isNotApplicable(type: identifier) {
            row.value = 0
        } else {
            guard let value = item.take("value") else { throw SampleProblem(reason: "there is no value") }
            guard let raw = Self.raw(value, type: identifier) else { throw SampleProblem(reason: Self.unknownValue) }
            row.value = Double(raw)
        }
        describe(&row)
        try rows.append(row)
    }

    /// A category's raw value, from its short name, HealthKit's name or a number.
    static func raw(_ value: JSONSpan, type identifier: String) -> Int? {
        if let number = value.integer {
            return CategoryValue.name(of: Int(clamping: number), type: identifier).map { _ in Int(clamping: number) }
        }
        guard let text = value.text else { return nil }
        if let raw = CategoryValue.raw(ofBare: text, type: identifier) { return raw }
        guard text.hasPrefix("HKCategoryValue") else { return nil }
        return CategoryValue.raw(of: text)
    }

    /// Reads `{date, "Unspecified", "Protection Used", "Protection Not Used"}`: counts for a day, which the app sends
    /// regardless of its aggregation.
    mutating func readSexualActivity(_ series: AutoExportSeries) throws(SampleProblem) {
        let parts = [
            ("unspecified", item.take("Unspecified")), ("protectionUsed", item.take("Protection Used")),
            ("protectionNotUsed", item.take("Protection Not Used")),
        ]
        let counts = parts.compactMap { part in part.1?.decimal.map { (part.0, $0) } }.filter { $0.1 > 0 }
        guard parts.contains(where: { $0.1 != nil }) else { return try readCategoryMetric(series) }
        let isMidnight = item.look("date")?.date.map { $0.inDay == 0 } ?? false
        var span = try AutoExportSpan(
            &item, isMidnight ? .period(.day) : series.aggregation, midnights: series.dates.midnights, isSum: true)
        let total = counts.reduce(0) { $0 + $1.1 }
        // All counts are zero on that day, so there is nothing to store.
        guard total > 0 else { return }
        guard total.isFinite else { throw SampleProblem(reason: Self.noQuantity) }
        if span.isStatistic ? isMidnight : total > 1 { span.statistic = .count }
        var row = row(series.metric.type.identifier, unit: span.isStatistic ? "count" : nil, span)
        guard span.isStatistic else {
            row.value = 0
            describe(&row, metadata: Self.protection(counts[0].0))
            return try rows.append(row)
        }
        row.value = total
        describe(&row, payload: Dictionary(uniqueKeysWithValues: counts.map { ($0.0, .number($0.1)) }))
        try rows.append(row)
    }

    /// HealthKit's metadata for whether protection was used; empty if that isn't stated.
    static func protection(_ value: String) -> [String: Value] {
        switch AutoExportMetric.key(value) {
        case "protectionused": ["HKSexualActivityProtectionUsed": "1"]
        case "protectionnotused": ["HKSexualActivityProtectionUsed": "0"]
        default: [:]
        }
    }
}
