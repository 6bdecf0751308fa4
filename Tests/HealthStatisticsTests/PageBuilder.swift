import HealthModel
import HealthStatistics

/// Pages written by hand; `page` returns the rows in canonical order.
struct PageBuilder {
    struct Row {
        var type: String
        /// Microseconds since 1970.
        var start: Int64
        var end: Int64
        var value: Double
        var source: String
        var flags: SampleFlags
        var id: SampleID
    }
    var rows: [Row] = []

    mutating func add(
        _ type: String, _ start: Int64, _ end: Int64, _ value: Double, source: String = "Watch",
        flags: SampleFlags = []
    ) {
        let id = SampleID(high: UInt64(bitPattern: start), low: UInt64(rows.count))
        rows.append(Row(type: type, start: start, end: end, value: value, source: source, flags: flags, id: id))
    }

    /// - Parameter inOrder: if false, the rows stay in the order that they have in `rows`.
    func page(inOrder: Bool = true) -> SamplePage {
        var page = SamplePage()
        for row in inOrder ? rows.sorted(by: { ($0.start, $0.id) < ($1.start, $1.id) }) : rows {
            page.ids.append(row.id)
            page.sequence.append(1)
            page.type.append(index(row.type, in: &page.types))
            page.start.append(row.start)
            page.end.append(row.end)
            page.value.append(row.value)
            page.origin.append(index(Origin(sourceName: row.source), in: &page.origins))
            page.flags.append(row.flags)
        }
        return page
    }

    private func index<Element: Equatable>(_ element: Element, in list: inout [Element]) -> Int32 {
        if let found = list.firstIndex(of: element) { return Int32(found) }
        list.append(element)
        return Int32(list.count - 1)
    }
}

// The suites use plain microseconds starting from 0, like columns.
extension Array<Range<Int64>> {
    var instants: [Range<Instant>] { map { Range(microseconds: $0) } }
}

extension CumulativeMerge {
    /// A merge for one long day, for tests without sums over many hours.
    init(_ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder()) {
        self.init(page, rows: rows, order: order, in: [0..<1 << 50].instants)
    }

    func total(in ranges: [Range<Int64>]) -> Double? { total(in: ranges.instants) }
    func sums(in buckets: [Range<Int64>]) -> [Double?] { sums(in: buckets.instants) }
    func count(in ranges: [Range<Int64>]) -> Int { count(in: ranges.instants) }
    func intervals(in ranges: [Range<Int64>]) -> [MergeInterval] { intervals(in: ranges.instants) }
    func shares(in ranges: [Range<Int64>]) -> [MergeShare] { shares(in: ranges.instants) }
}

extension MergeInterval {
    init(start: Int64, end: Int64, counted: String, covered: [String], amount: Double) {
        self.init(
            start: Instant(microseconds: start), end: Instant(microseconds: end), counted: counted, covered: covered,
            amount: amount)
    }
}

extension DiscreteStatistics {
    init(_ page: SamplePage, rows: [Int], style: HealthType.Style, in ranges: [Range<Int64>]) {
        self.init(page, rows: rows, style: style, in: ranges.instants)
    }

    static func buckets(
        _ page: SamplePage, rows: [Int], style: HealthType.Style, in buckets: [Range<Int64>]
    ) -> [DiscreteStatistics] {
        Self.buckets(page, rows: rows, style: style, in: buckets.instants)
    }
}

extension DiscreteExplanation {
    init(_ page: SamplePage, rows: [Int], style: HealthType.Style, order: SourceOrder, in ranges: [Range<Int64>]) {
        self.init(page, rows: rows, style: style, order: order, in: ranges.instants)
    }
}
