import HealthModel
import JSON

/// An entry's time, and whether the entry is a sample or a statistic.
struct AutoExportSpan {
    var start: Instant
    var end: Instant
    /// Why it is a statistic; nil for a sample.
    var statistic: AutoExportReason?
    /// Whether the entry has its own start and end.
    var isOwn: Bool

    var isStatistic: Bool { statistic != nil }
}

extension AutoExportSpan {
    /// Reads an entry's times, following the rule described at `HealthAutoExport`.
    /// - Parameters:
    ///   - midnights: known ones, by the number of the day that begins.
    ///   - hasSpread: whether its minimum and maximum differ.
    ///   - isSum: whether the value is a sum, which belongs to a period whatever its times are.
    init(
        _ item: inout AutoExportItem, _ aggregation: AutoExportAggregation, midnights: [Int: Instant] = [:],
        hasSpread: Bool = false, isSum: Bool
    ) throws(SampleProblem) {
        let date = try Self.date(item.take("date"), "date")
        let start = try Self.date(item.take("startDate", "start"), "start")
        let end = try Self.date(item.take("endDate", "end"), "end")
        if let begin = start ?? date, let end {
            self.init(start: begin.instant, end: end.instant, statistic: hasSpread ? .spread : nil, isOwn: true)
            return
        }
        guard let date = date ?? start else { throw SampleProblem(reason: "there is no date") }
        let found: (period: AutoExportPeriod, reason: AutoExportReason)? =
            switch aggregation {
            case .period(let period) where isSum || hasSpread || period.mayBegin(at: date): (period, .stated(period))
            case .inferred(let period): (period, .dates(period))
            // If there are two different values at one instant, the app has aggregated by the second, its shortest
            // period.
            default: hasSpread ? (.second, .spread) : nil
            }
        self.init(
            start: date.instant, end: found?.period.end(from: date, midnights: midnights) ?? date.instant,
            statistic: found?.reason, isOwn: false)
    }

    /// Nil if there is no date.
    static func date(_ span: JSONSpan?, _ name: String) throws(SampleProblem) -> AutoExportDate? {
        guard let span else { return nil }
        guard let date = span.date else {
            var text = span.text ?? ""
            throw SampleProblem(reason: text.withUTF8 { AutoExportDate.problem($0, name) })
        }
        return date
    }
}
