import HealthModel
import HealthStatistics
import TestSupport

/// Random samples of one type, as messy as those that sources send: several sources, overlaps within a source, equal
/// times, zero lengths, manual entries, and some long samples. In every third case, the user has set a priority.
///
/// Times are in cells of a minute.
struct RandomSamples {
    static let type = "HKQuantityTypeIdentifierStepCount"
    static let cells = 400
    static let cell = 60 * Instant.microsecondsPerSecond
    private static let names = ["Watch", "iPhone", "Alpha", "Beta"]

    var builder = PageBuilder()
    /// Names in order of priority; manual entries come before all of them.
    let sources: [String]
    let order: SourceOrder
    let isChosen: Bool
    /// The day.
    let window: Range<Int>
    var random: SeededRandom

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        isChosen = seed % 3 == 0
        window =
            seed % 2 == 0
            ? 0..<Self.cells
            : Int.random(in: 0...150, using: &random)..<Int.random(in: 250...Self.cells, using: &random)
        if isChosen {
            sources = Self.names.shuffled(using: &random)
            order = SourceOrder(sources)
        } else {
            sources = Self.names
            order = SourceOrder()
        }
        // There are few possible start times, so that equal starts and ends are common.
        let step = [1, 1, 5, 20].randomElement(using: &random) ?? 1
        for _ in 0..<Int.random(in: 1...25, using: &random) {
            let start = Int64.random(in: 0..<Int64(280 / step), using: &random) * Int64(step)
            let longest: Int64 = [0, 30, 90, 118].randomElement(using: &random) ?? 0
            add(start, start + Int64.random(in: 0...longest, using: &random))
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let start = Int64.random(in: 0..<100, using: &random)
            add(start, start + Int64.random(in: 230...300, using: &random), most: 1000)
        }
    }

    mutating func add(_ start: Int64, _ end: Int64, most: Double = 100) {
        builder.add(
            Self.type, start * Self.cell, end * Self.cell, Double.random(in: 0...most, using: &random),
            source: Self.names.randomElement(using: &random) ?? Self.names[0],
            flags: Int.random(in: 0..<6, using: &random) == 0 ? .userEntered : [])
    }

    /// Ranges of whole cells, in order, some with gaps between them.
    mutating func buckets() -> [Range<Int>] {
        let cuts = Set((0..<Int.random(in: 2...9, using: &random)).map { _ in Int.random(in: 0...399, using: &random) })
            .sorted()
        return zip(cuts, cuts.dropFirst()).map { $0..<$1 }
            .filter { _ in Int.random(in: 0..<5, using: &random) > 0 }
    }

    func merge(_ page: SamplePage? = nil) -> CumulativeMerge {
        let page = page ?? builder.page()
        return CumulativeMerge(
            page, rows: page.rows(of: Self.type), order: order, in: Self.instants([window]).instants)
    }

    static let whole = instants([0..<cells])

    static func instants(_ buckets: [Range<Int>]) -> [Range<Int64>] {
        buckets.map { Int64($0.lowerBound) * cell..<Int64($0.upperBound) * cell }
    }
}
