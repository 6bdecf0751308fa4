import HealthModel

/// Turns a discrete type's samples into stretches of time: a sample holds until the next one from its source, but only
/// for a limited time after its end. Of several that start together, the latest holds.
///
/// Where sources overlap, the one with the highest priority counts at each instant; the others fill the gaps. A source
/// that has only samples of over an hour fills only gaps of over an hour: readings some minutes apart say more about
/// the time between them than an average of the whole day does.
///
/// Cost: O(n log n) for n samples from a handful of sources.
public struct HeldSamples: Sendable {
    /// A stretch of time with one value.
    public struct Stretch: Sendable, Equatable {
        /// Never empty.
        public var range: Range<Instant>
        /// The sample's.
        public var value: Double

        /// A stretch in which this value holds.
        public init(range: Range<Instant>, value: Double) { (self.range, self.value) = (range, value) }
    }

    /// How long samples go on after their end, in microseconds: those without duration, and those with one. What an
    /// app computed for its span ends with it.
    struct Hold {
        var instant: Int64
        var lasting: Int64
        /// Whether the last of a source holds no longer than the longest gap between two different readings before it.
        /// Readings at an even pace then all hold for the same time, however short the pace.
        var keepsPace = false
    }

    /// How long a sample may hold after its end: during workouts, there is a reading every 5 seconds, otherwise one
    /// every few minutes.
    public static let longest = Duration.seconds(60)
    private static let hour = 3600 * Instant.microsecondsPerSecond

    // The stretches as columns, whose order depends on nothing but the samples. `row` is a row of the page.
    private(set) var row: [Int32] = []
    private(set) var start: [Int64] = []
    private(set) var end: [Int64] = []
    private var source: [Int32] = []
    /// The page's.
    private let value: [Double]

    /// The stretches don't overlap; they are grouped by source, and in order of time within each source.
    public var stretches: [Stretch] {
        row.indices.sorted { (source[$0], start[$0]) < (source[$1], start[$1]) }.map {
            Stretch(range: Range(microseconds: start[$0]..<end[$0]), value: value[Int(row[$0])])
        }
    }

    /// - Parameters:
    ///   - rows: in canonical order.
    ///   - hold: how long a sample holds after its end.
    ///   - within: samples count only within these ranges.
    public init(_ page: SamplePage, rows: [Int], order: SourceOrder, hold: Duration, within: IntervalSet) {
        self.init(
            page, rows: rows, order: order, Hold(instant: hold.microseconds, lasting: hold.microseconds),
            within: within.ranges.map(\.microseconds))
    }

    /// - Parameter within: microseconds since 1970; in order and disjoint.
    init(_ page: SamplePage, rows: [Int], order: SourceOrder, _ hold: Hold, within: [Range<Int64>]) {
        value = page.value
        guard let first = within.first?.lowerBound, let last = within.last?.upperBound, !rows.isEmpty else { return }
        let readings = Readings(page, rows: rows, order: order, hold)
        var pieces = readings.pieces(coarse: false, besides: [], within: within)
        if readings.hasCoarse {
            let known = Self.known(pieces, from: first, to: last)
            pieces.append(readings.pieces(coarse: true, besides: known, within: within))
        }
        row = pieces.reading.map { readings.row[Int($0)] }
        source = pieces.reading.map { readings.source[Int($0)] }
        (start, end) = (pieces.start, pieces.end)
    }

    /// Calls `body` with the value and the length of each stretch, in microseconds.
    func forEach(_ body: (Double, Int64) -> Void) {
        for place in row.indices { body(value[Int(row[place])], end[place] - start[place]) }
    }

    /// The time that pieces cover, together with the gaps of at most an hour.
    private static func known(_ pieces: Readings.Pieces, from first: Int64, to last: Int64) -> [Range<Int64>] {
        var known: [Range<Int64>] = []
        for (start, end) in zip(pieces.start, pieces.end) {
            if let before = known.last, start - before.upperBound <= hour {
                known[known.count - 1] = before.lowerBound..<max(before.upperBound, end)
            } else {
                known.append((start - first <= hour ? first : start)..<end)
            }
        }
        if let end = known.last, last - end.upperBound <= hour { known[known.count - 1] = end.lowerBound..<last }
        return known
    }
}
