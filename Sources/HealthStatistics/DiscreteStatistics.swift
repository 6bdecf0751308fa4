import Foundation
import HealthModel

/// The minimum, maximum, average and latest value of a discrete type's samples.
///
/// The average follows the type's style. It is the plain mean; or the mean over the time that samples stand for
/// (`HeldSamples`); or the level of the mean sound energy over that time, 10·log₁₀(Σ dt·10^(L/10) / Σ dt).
///
/// - A heart rate stands until its source's next, at most a minute after its end.
/// - A sound level is measured over its duration and says nothing about the time after it, which may be quiet. Only one
///   without duration stands like a heart rate.
/// - A statistic stands for its span.
public struct DiscreteStatistics: Sendable {
    /// How the average is computed.
    public let style: HealthType.Style
    /// The number of samples with a value.
    public private(set) var count = 0
    /// Nil when there is no sample.
    public private(set) var minimum: Double?
    /// Nil when there is no sample.
    public private(set) var maximum: Double?
    /// The value of the latest sample: the one that starts last, of several the one that ends last, then the one stored
    /// last, then the greatest.
    public var mostRecent: Double? { latest?.value }
    private var latest: Recency?
    /// Of values or, if they are weighted, of values times microseconds.
    private var sum = CompensatedSum()
    /// The time that counts, in microseconds; 0 if samples aren't weighted.
    private(set) var time: Int64 = 0

    /// No samples yet.
    init(style: HealthType.Style) { self.style = style }

    /// The statistics of the rows that start in these ranges: a discrete sample belongs to the range in which it
    /// starts, and stands for no time beyond it.
    /// - Parameters:
    ///   - rows: in canonical order.
    ///   - order: the priority of sources, which decides where samples that are weighted by time overlap.
    ///   - ranges: in order and disjoint.
    public init(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, order: SourceOrder = SourceOrder(),
        in ranges: [Range<Instant>]
    ) {
        self.init(style: style)
        for range in ranges {
            let own = page.rows(rows, startingIn: range)
            for row in own { add(page, row) }
            style.held(page, rows: own, order: order, in: range)?.forEach { weigh($0, $1) }
        }
    }

    /// The same as above, for each bucket.
    public static func buckets(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, order: SourceOrder = SourceOrder(),
        in buckets: [Range<Instant>]
    ) -> [DiscreteStatistics] {
        buckets.map { DiscreteStatistics(page, rows: rows, style: style, order: order, in: [$0]) }
    }

    /// Adds a row; if its sample summarizes several, their lowest and highest values too. One without a number is left
    /// out.
    mutating func add(_ page: SamplePage, _ row: Int) {
        let value = page.value[row]
        guard value.isFinite else { return }
        count += 1
        let spread = page.spread(row) ?? value...value
        minimum = Swift.min(minimum ?? value, spread.lowerBound)
        maximum = Swift.max(maximum ?? value, spread.upperBound)
        let new = page.recency(row)
        latest = latest.map { Swift.max($0, new) } ?? new
        if !style.isWeighted { sum.add(value) }
    }

    /// Lets a value count for some microseconds.
    mutating func weigh(_ value: Double, _ microseconds: Int64) {
        time += microseconds
        sum.add((style == .equivalentLevel ? pow(10, value / 10) : value) * Double(microseconds))
    }

    /// Nil when there is no sample.
    public var average: Double? {
        guard let minimum, let maximum, !style.isWeighted || time > 0 else { return nil }
        let mean = sum.value / (style.isWeighted ? Double(time) : Double(count))
        let result = style == .equivalentLevel ? 10 * log10(mean) : mean
        // Rounding must not push a mean outside the range of its samples.
        return Swift.min(Swift.max(result, minimum), maximum)
    }
}

extension HealthType.Style {
    /// Whether averages are over time.
    var isWeighted: Bool { self == .temporallyWeighted || self == .equivalentLevel }

    /// The time for which rows that start in this range stand; nil if averages aren't over time.
    func held(_ page: SamplePage, rows: [Int], order: SourceOrder, in range: Range<Instant>) -> HeldSamples? {
        guard isWeighted else { return nil }
        let longest = HeldSamples.longest.microseconds
        return HeldSamples(
            page, rows: rows, order: order,
            .init(instant: longest, lasting: self == .equivalentLevel ? 0 : longest, keepsPace: true),
            within: [range.microseconds])
    }
}

extension SamplePage {
    /// Those of some rows that start in a range; rows are in canonical order.
    func rows(_ rows: [Int], startingIn range: Range<Instant>) -> [Int] {
        func place(of instant: Int64) -> Int { rows.firstPlace(behind: { start[$0] < instant }) }
        let range = range.microseconds
        return Array(rows[place(of: range.lowerBound)..<place(of: range.upperBound)])
    }

    /// The lowest and highest values of a sample that summarizes several, such as the hourly heart rates that iOS 8
    /// wrote; nil for any other sample, and if payloads weren't requested.
    func spread(_ row: Int) -> ClosedRange<Double>? {
        guard row < payload.count, !payload.isEmpty(row), let members = try? Value(json: Array(payload[row].utf8)),
            let low = members["minimum"].double, let high = members["maximum"].double, low <= high,
            (low...high).contains(value[row])
        else { return nil }
        return low...high
    }
}
