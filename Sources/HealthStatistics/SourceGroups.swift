import HealthModel

/// The sources of some rows by priority: by rank, then by name, so that two watches have a fixed order too.
///
/// Manual entries are a source of their own, separate from the measurements of the same app.
struct SourceGroups {
    struct Source: Hashable, Comparable {
        var rank: Int
        var name: String
        /// Whether these are the source's long sums, which are separate from its finer samples.
        var isSums = false

        /// The source's name in explanations: an entry made by hand in an app is marked, because it isn't the app's own
        /// measurement, and so are sums.
        var label: String { rank == 0 ? "\(name) (by hand)" : isSums ? "\(name) (sum)" : name }

        static func < (a: Source, b: Source) -> Bool {
            (a.rank, a.name, a.isSums ? 1 : 0) < (b.rank, b.name, b.isSums ? 1 : 0)
        }
    }

    /// Highest priority first.
    private(set) var sources: [Source]
    /// For each of the given rows, the index of its source in `sources`.
    private(set) var ofRow: [Int32]

    init(_ page: SamplePage, rows: [Int], order: SourceOrder) {
        // Sources are made and compared once per origin, not once per sample.
        var byOrigin: [Int32: Int32] = [:]
        var byHand: [Int32: Int32] = [:]
        var found: [Source: Int32] = [:]
        // Nearly every sample has the origin of the one before it.
        var (lastKey, lastEntered, lastIndex) = (Int32(-1), false, Int32(0))
        let provisional = rows.map { row in
            let entered = page.flags[row].contains(.userEntered)
            let key = page.origin[row]
            if key == lastKey, entered == lastEntered { return lastIndex }
            (lastKey, lastEntered) = (key, entered)
            if let known = entered ? byHand[key] : byOrigin[key] {
                lastIndex = known
                return known
            }
            let origin = page.originOf(row)
            let source = Source(rank: order.rank(origin: origin, userEntered: entered), name: origin.sourceName)
            let index = found[source] ?? Int32(found.count)
            found[source] = index
            if entered { byHand[key] = index } else { byOrigin[key] = index }
            lastIndex = index
            return index
        }
        let sorted = found.sorted { $0.key < $1.key }
        var place = [Int32](repeating: 0, count: sorted.count)
        for (index, entry) in sorted.enumerated() { place[Int(entry.value)] = Int32(index) }
        sources = sorted.map(\.key)
        ofRow = place.count < 2 ? provisional : provisional.map { place[Int($0)] }
    }

    /// Makes sources of their own of some rows: a chosen source's sums come right after its other samples, and those of
    /// all other sources come last.
    /// - Parameter sums: indices into `ofRow`.
    mutating func setApart(_ sums: [Int], order: SourceOrder) {
        let former = sources
        func apart(_ source: Source) -> Source {
            Source(rank: order.isChosen(source.rank) ? source.rank : .max, name: source.name, isSums: true)
        }
        sources = (former + Set(sums.map { apart(former[Int(ofRow[$0])]) })).sorted()
        let places = Dictionary(uniqueKeysWithValues: sources.enumerated().map { ($1, Int32($0)) })
        let moved = former.map { places[$0] ?? 0 }
        let own = former.map { places[apart($0)] ?? 0 }
        let set = sums.map { own[Int(ofRow[$0])] }
        for row in ofRow.indices { ofRow[row] = moved[Int(ofRow[row])] }
        for (row, group) in zip(sums, set) { ofRow[row] = group }
    }
}
