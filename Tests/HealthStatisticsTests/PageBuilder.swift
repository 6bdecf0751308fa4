import HealthModel

/// Pages written by hand: rows in canonical order once `page` is asked for.
struct PageBuilder {
    struct Row {
        var type: String
        var start: Instant
        var end: Instant
        var value: Double
        var source: String
        var flags: SampleFlags
        var id: SampleID
    }
    var rows: [Row] = []

    mutating func add(
        _ type: String, _ start: Instant, _ end: Instant, _ value: Double, source: String = "Watch",
        flags: SampleFlags = []
    ) {
        let id = SampleID(high: UInt64(bitPattern: start), low: UInt64(rows.count))
        rows.append(Row(type: type, start: start, end: end, value: value, source: source, flags: flags, id: id))
    }

    /// - Parameter inOrder: false leaves the rows in the order of `rows`.
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
