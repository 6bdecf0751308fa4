import HealthModel
import JSON

/// One metric in a request, with what its entries have in common.
struct AutoExportSeries {
    let metric: AutoExportMetric
    /// The unit as printed; empty if there is none.
    let units: String
    /// The conversion for a quantity's values; nil if the unit doesn't belong to its type.
    let factors: UnitFactors?
    /// The range within which a value's minimum and maximum must be.
    let limit: ClosedRange<Double>
    let aggregation: AutoExportAggregation
    let dates: AutoExportSeriesDates
    /// The positions in the columns of the samples' type and unit, and of the statistics' type and unit; nil until
    /// there is such a row.
    var sampleSlots: AutoExportSlots?
    var statisticSlots: AutoExportSlots?

    /// The unit of an unknown type's values, which stay as printed; nil for a known type.
    var ownUnit: String? { metric.form == .unknown ? AutoExportUnits.healthKit(units) : nil }
}

extension AutoExportReader {
    /// Reads `{name, units, data: […]}`; each entry of `data` is an item. The members may come in any order.
    mutating func readMetric(_ span: JSONSpan) throws(JSONScanError) {
        guard try item.read(span), let name = item.take("name"), let text = name.text else {
            rows.beginItem()
            return rows.quarantine("the metric has no name", raw: span.whole)
        }
        let units = item.take("units", "unit")
        let hasData = item.has("data")
        guard let data = item.take("data") else {
            // The app writes null where it has no value.
            if hasData { return }
            rows.beginItem()
            return rows.quarantine("the metric has no data", raw: span.whole)
        }
        let context = AutoExportContext(metric: name, units: units, aggregation: stated)
        guard data.kind == .array else {
            rows.beginItem()
            return rows.quarantine("the metric's data isn't an array", raw: span.whole)
        }
        guard let metric = AutoExportMetric.named(text) ?? AutoExportMetric.unknown(text) else {
            return try eachEntry(data) { reader, entry throws(JSONScanError) in
                reader.rows.quarantine(
                    "the metric's name is too long, or has no letters", raw: entry.whole, within: context)
            }
        }
        let unit = units?.text ?? ""
        let dates = try AutoExportSeriesDates(data, needsPoints: metric.isMeasuredOverTime)
        var series = AutoExportSeries(
            metric: metric, units: unit, factors: AutoExportUnits.factors(unit, for: Self.valueType(of: metric)),
            limit: PlausibilityLimit.of(metric.type).values, aggregation: aggregation(dates), dates: dates)
        try eachEntry(data) { reader, entry throws(JSONScanError) in
            let problem = try reader.item.read(entry) ? reader.readEntry(of: &series) : "the entry isn't an object"
            if let problem { reader.rows.quarantine(problem, raw: entry.whole, within: context) }
        }
    }

    private mutating func eachEntry(
        _ data: JSONSpan, _ body: (inout AutoExportReader, JSONSpan) throws(JSONScanError) -> Void
    ) throws(JSONScanError) {
        var scanner = JSONScanner(data.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() {
            let entry = try scanner.value()
            if rows.failure != nil { return }
            rows.beginItem()
            try body(&self, entry)
        }
    }

    private static func valueType(of metric: AutoExportMetric) -> HealthType {
        metric.form == .bloodPressure ? HealthType.named(systolic) : metric.type
    }

    static let systolic = "HKQuantityTypeIdentifierBloodPressureSystolic"
    static let diastolic = "HKQuantityTypeIdentifierBloodPressureDiastolic"

    /// The aggregation stated by the request; otherwise inferred from all of the metric's dates together.
    private func aggregation(_ dates: AutoExportSeriesDates) -> AutoExportAggregation {
        guard case .unknown(let longest) = aggregation else { return aggregation }
        return dates.period.map { .inferred(min(longest, $0)) } ?? .samples
    }

    /// Returns what is wrong, or nil.
    private mutating func readEntry(of series: inout AutoExportSeries) -> String? {
        switch series.metric.form {
        case .quantity: readQuantity(&series)
        case .unknown: readUnknown(&series)
        case .bloodPressure: readBloodPressure(series)
        case .sleep: readSleep(series)
        case .category: readCategoryMetric(series)
        case .sexualActivity: readSexualActivity(series)
        }
    }
}
