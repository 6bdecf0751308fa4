import HealthModel
import JSON

/// What the dates of a metric's entries reveal together.
struct AutoExportSeriesDates {
    /// The shortest period that all dates may begin; nil if one of them begins none, or if there are no dates.
    private(set) var period: AutoExportPeriod?
    /// Where days begin, by the day's number.
    private(set) var midnights: [Int: Instant] = [:]
    /// For each source, the times of its entries without an end of their own, in order.
    private var points: [[UInt8]: [Int64]] = [:]

    /// A sum without an end lasts until its source's next one, and no longer than the watch and phone take to write
    /// one.
    private static let longestPoint = 600 * Instant.microsecondsPerSecond

    /// - Parameter needsPoints: whether the metric is measured over time, so that its entries need an end.
    init(_ data: JSONSpan, needsPoints: Bool) throws(JSONScanError) {
        var scanner = JSONScanner(data.bytes)
        var isPeriodic = true
        var entry = AutoExportItem()
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard try entry.read(scanner.value()), let date = entry.take("date")?.date else { continue }
            if let period = AutoExportPeriod.beginning(at: date) {
                self.period = min(self.period ?? period, period)
            } else {
                isPeriodic = false
            }
            if date.inDay == 0 { midnights[date.day.number] = date.instant }
            guard needsPoints, entry.look("endDate") == nil, entry.look("end") == nil else { continue }
            points[Self.source(entry), default: []].append(date.instant.microseconds)
        }
        if !isPeriodic { period = nil }
        for source in points.keys { points[source]?.sort() }
    }

    /// The end of an entry that has only a date.
    func end(of entry: AutoExportItem, from start: Instant) -> Instant {
        let latest = start.microseconds + Self.longestPoint
        guard let times = points[Self.source(entry)] else { return Instant(microseconds: latest) }
        let next = times.firstPlace(behind: { $0 <= start.microseconds })
        return Instant(microseconds: next < times.count ? min(times[next], latest) : latest)
    }

    private static func source(_ entry: AutoExportItem) -> [UInt8] {
        entry.look("source").map { Array($0.bytes) } ?? []
    }
}
