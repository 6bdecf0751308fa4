import HealthModel

/// The mean over the time that samples stand for, worked out second by second: a simple method, and a different one
/// from that under test.
struct GridMean {
    struct Reading {
        var start: Int
        var end: Int
        var value: Double
        /// Its place in the order of sources.
        var source: Int
        var isStatistic = false
    }

    /// For each second of the window, the value that counts.
    private(set) var seconds: [Double?]

    /// - Parameter readings: those that start in `0..<window`; times are in whole seconds.
    init(_ readings: [Reading], window: Int) {
        seconds = Array(repeating: nil, count: window)
        var coarse: [(Reading, Range<Int>)] = []
        for source in Set(readings.map(\.source)).sorted() {
            let standing = Self.standing(readings.filter { $0.source == source })
            if standing.allSatisfy({ min($0.0.end, $0.1.upperBound) - $0.0.start > 3600 }) {
                coarse += standing
            } else {
                for (reading, range) in standing { fill(range, reading.value) { _ in true } }
            }
        }
        let free = wideGaps
        for (reading, range) in coarse { fill(range, reading.value) { free[$0] } }
    }

    private mutating func fill(_ range: Range<Int>, _ value: Double, where isFree: (Int) -> Bool) {
        for second in range where second < seconds.count && seconds[second] == nil && isFree(second) {
            seconds[second] = value
        }
    }

    /// Whether a second is in a gap of over an hour.
    private var wideGaps: [Bool] {
        var found: [Bool] = []
        for part in seconds.split(omittingEmptySubsequences: false, whereSeparator: { $0 != nil }) {
            found += Array(repeating: part.count > 3600, count: part.count) + [false]
        }
        return found
    }

    /// One source's readings and when each of them stands.
    private static func standing(_ readings: [Reading]) -> [(Reading, Range<Int>)] {
        let latest = Dictionary(grouping: readings, by: \.start).values.compactMap { together in
            together.max { ($0.end, $0.value) < ($1.end, $1.value) }
        }.sorted { $0.start < $1.start }
        let gaps = zip(latest, latest.dropFirst()).filter { $0.value != $1.value || $1.start - $0.end > 60 }.map {
            max(0, $1.start - $0.end)
        }
        return latest.enumerated().map { place, reading in
            let isLast = place == latest.count - 1
            let hold = reading.isStatistic && reading.end > reading.start ? 0 : 60
            let end = reading.end + (isLast ? min(hold, gaps.max() ?? hold) : hold)
            return (reading, reading.start..<(isLast ? end : min(end, latest[place + 1].start)))
        }
    }

    var average: Double? {
        let counted = seconds.compactMap { $0 }
        return counted.isEmpty ? nil : counted.reduce(0, +) / Double(counted.count)
    }
}
