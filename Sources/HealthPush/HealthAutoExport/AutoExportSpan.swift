import HealthModel
import JSON

/// An entry's time, and whether the entry is a sample or a statistic.
struct AutoExportSpan {
    var start: Instant
    var end: Instant
    var isStatistic: Bool
    /// Whether the entry has its own start and end.
    var isOwn: Bool

    /// What is wrong with an entry's times.
    struct Problem: Error { let reason: String }

    /// Reads an entry's times, following the rule described at `HealthAutoExport`.
    /// - Parameters:
    ///   - midnights: known ones, by the number of the day that begins.
    ///   - hasSpread: whether its minimum and maximum differ.
    ///   - isSum: whether the value is a sum, which belongs to a period whatever its times are.
    init(
        _ item: inout AutoExportItem, _ aggregation: AutoExportAggregation, midnights: [Int: Instant] = [:],
        hasSpread: Bool = false, isSum: Bool
    ) throws(Problem) {
        let date = try Self.date(item.take("date"), "date")
        let start = try Self.date(item.take("startDate", "start"), "start")
        let end = try Self.date(item.take("endDate", "end"), "end")
        if let begin = start ?? date, let end {
            self.init(start: begin.instant, end: end.instant, isStatistic: hasSpread, isOwn: true)
            return
        }
        guard let date = date ?? start else { throw Problem(reason: "there is no date") }
        var period: AutoExportPeriod?
        if case .period(let stated) = aggregation, isSum || hasSpread || stated.mayBegin(at: date) { period = stated }
        // If there are two different values at one instant, the app has aggregated by the second, its shortest period.
        if period == nil, hasSpread { period = AutoExportPeriod.second }
        self.init(
            start: date.instant, end: period?.end(from: date, midnights: midnights) ?? date.instant,
            isStatistic: period != nil, isOwn: false)
    }

    private init(start: Instant, end: Instant, isStatistic: Bool, isOwn: Bool) {
        self.start = start
        self.end = end
        self.isStatistic = isStatistic
        self.isOwn = isOwn
    }

    /// Nil if there is no date.
    static func date(_ span: JSONSpan?, _ name: String) throws(Problem) -> AutoExportDate? {
        guard let span else { return nil }
        guard let date = span.date else {
            var text = span.text ?? ""
            throw Problem(reason: text.withUTF8 { AutoExportDate.problem($0, name) })
        }
        return date
    }
}
