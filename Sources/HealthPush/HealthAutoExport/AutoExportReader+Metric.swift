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
    /// Whether an entry has been read.
    var hasEntry = false

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
        let context = AutoExportContext(name: name, isMetric: true, units: units, aggregation: stated)
        guard data.kind == .array else {
            rows.beginItem()
            return rows.quarantine("the metric's data isn't an array", raw: span.whole)
        }
        guard let metric = AutoExportMetric.named(text) ?? AutoExportMetric.unknown(text) else {
            return try eachElement(data) { reader, entry in
                reader.rows.beginItem()
                reader.rows.quarantine(
                    "the metric's name is too long, or has no letters", raw: entry.whole, within: context)
            }
        }
        let unit = units?.text ?? ""
        let dates = try AutoExportSeriesDates(data, needsPoints: metric.isMeasuredOverTime)
        var series = AutoExportSeries(
            metric: metric, units: unit, factors: dialect.factors(unit, for: Self.valueType(of: metric)),
            limit: PlausibilityLimit.of(metric.type).values, aggregation: aggregation(dates), dates: dates)
        try eachElement(data) { reader, entry in
            reader.rows.beginItem()
            do {
                guard try reader.item.read(entry) else { throw SampleProblem(reason: "the entry isn't an object") }
                try reader.readEntry(of: &series)
            } catch { reader.rows.quarantine(error, raw: entry.whole, within: context) }
        }
    }

    private static func valueType(of metric: AutoExportMetric) -> HealthType {
        metric.form == .bloodPressure ? HealthType.named(HealthType.bloodPressureParts[0]) : metric.type
    }

    /// The aggregation stated by the request; otherwise inferred from all of the metric's dates together.
    private func aggregation(_ dates: AutoExportSeriesDates) -> AutoExportAggregation {
        guard case .unknown(let longest) = aggregation else { return aggregation }
        return dates.period.map { .inferred(min(longest, $0)) } ?? .samples
    }

    private mutating func readEntry(of series: inout AutoExportSeries) throws(SampleProblem) {
        switch series.metric.form {
        case .quantity: try readQuantity(&series)
        case .unknown: try readUnknown(&series)
        case .bloodPressure: try readBloodPressure(series)
        case .sleep: try readSleep(series)
        case .category: try readCategoryMetric(series)
        case .sexualActivity: try readSexualActivity(series)
        }
    }
}
