import Foundation
import HealthModel

/// The minimum, maximum, average and latest value of a discrete type's samples.
///
/// The average follows the type's style. It is the plain mean, the mean weighted by duration, or the level of the mean
/// sound energy weighted by duration, 10·log₁₀(Σ dt·10^(L/10) / Σ dt). If all samples are instants, they have the same
/// weight.
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
    private var plain = CompensatedSum()
    private var weighted = CompensatedSum()
    private var duration = CompensatedSum()

    /// No samples yet.
    public init(style: HealthType.Style) { self.style = style }

    /// Adds a sample; one without a number is left out.
    /// - Parameter created: when HealthKit stored it, in seconds since 1970; 0 when unknown.
    public mutating func add(_ value: Double, start: Instant, end: Instant, created: Int64 = 0) {
        guard value.isFinite else { return }
        count += 1
        minimum = Swift.min(minimum ?? value, value)
        maximum = Swift.max(maximum ?? value, value)
        let new = Recency(start: start.microseconds, end: end.microseconds, created: created, value: value)
        latest = latest.map { Swift.max($0, new) } ?? new
        let linear = style == .equivalentLevel ? pow(10, value / 10) : value
        let seconds = Double(end.microseconds - start.microseconds) / 1_000_000
        plain.add(linear)
        weighted.add(linear * seconds)
        duration.add(seconds)
    }

    /// Adds a row; if its sample summarizes several, their lowest and highest values too.
    mutating func add(_ page: SamplePage, _ row: Int) {
        add(
            page.value[row], start: page.startOf(row), end: page.endOf(row),
            created: page.created.indices.contains(row) ? page.created[row] : 0)
        if let spread = page.spread(row) { widen(spread) }
    }

    private mutating func widen(_ spread: ClosedRange<Double>) {
        minimum = Swift.min(minimum ?? spread.lowerBound, spread.lowerBound)
        maximum = Swift.max(maximum ?? spread.upperBound, spread.upperBound)
    }

    /// Nil when there is no sample.
    public var average: Double? {
        guard let minimum, let maximum else { return nil }
        let isWeighted = style != .arithmetic && style != .none && duration.value > 0
        let mean = isWeighted ? weighted.value / duration.value : plain.value / Double(count)
        let result = style == .equivalentLevel ? 10 * log10(mean) : mean
        // Rounding must not push a mean outside the range of its samples.
        return Swift.min(Swift.max(result, minimum), maximum)
    }
}

extension DiscreteStatistics {
    /// The statistics of the rows that start in these ranges: a discrete sample belongs to the range in which it
    /// starts.
    public init(_ page: SamplePage, rows: [Int], style: HealthType.Style, in ranges: [Range<Instant>]) {
        self.init(style: style)
        for row in rows where ranges.contains(where: { $0.contains(page.startOf(row)) }) {
            add(page, row)
        }
    }

    /// The same as above, for each bucket. Rows must be in canonical order; buckets must be in order and not overlap.
    public static func buckets(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, in buckets: [Range<Instant>]
    ) -> [DiscreteStatistics] {
        var all = Array(repeating: DiscreteStatistics(style: style), count: buckets.count)
        var bucket = 0
        for row in rows {
            while bucket < buckets.count, buckets[bucket].upperBound <= page.startOf(row) { bucket += 1 }
            if bucket == buckets.count { break }
            guard buckets[bucket].contains(page.startOf(row)) else { continue }
            all[bucket].add(page, row)
        }
        return all
    }
}

extension SamplePage {
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
