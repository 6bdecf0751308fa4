extension SamplePage {
    /// Adds another page's rows after these. If only one of the pages fills a column, it is empty in the other's rows;
    /// `unit` must be filled in both or in neither.
    public mutating func append(_ other: SamplePage) {
        let typeMap = Self.merge(&types, other.types)
        let unitMap = Self.merge(&units, other.units)
        let originMap = Self.merge(&origins, other.origins)
        let count = count
        ids += other.ids
        sequence += other.sequence
        type += other.type.map { typeMap[Int($0)] }
        start += other.start
        end += other.end
        value += other.value
        origin += other.origin.map { originMap[Int($0)] }
        flags += other.flags
        unit += other.unit.map { unitMap[Int($0)] }
        Self.append(&created, count, other.created, other.count, absent: 0)
        Self.append(&healthKitUUID, count, other.healthKitUUID, other.count, absent: nil)
        metadata.append(other.metadata, after: count, rows: other.count)
        payload.append(other.payload, after: count, rows: other.count)
    }

    private static func append<Element>(
        _ column: inout [Element], _ count: Int, _ other: [Element], _ otherCount: Int, absent: Element
    ) {
        guard !column.isEmpty || !other.isEmpty else { return }
        column += repeatElement(absent, count: count - column.count)
        column += other
        column += repeatElement(absent, count: count + otherCount - column.count)
    }

    /// The rows for which `isIncluded` holds, in the same order, with the same dictionaries.
    public func filter(_ isIncluded: (Int) -> Bool) -> SamplePage {
        select(ids.indices.filter(isIncluded))
    }

    /// The rows that overlap one of these ranges; a row without duration counts if a range contains its instant, even
    /// as the range's lower bound.
    public func overlapping(_ ranges: [Range<Instant>]) -> SamplePage {
        let ranges = ranges.map(\.microseconds)
        let rows = ids.indices.filter { row in
            ranges.contains { range in
                start[row] < range.upperBound
                    && (end[row] > range.lowerBound || (start[row] == end[row] && start[row] >= range.lowerBound))
            }
        }
        // A day that was fetched on its own is already complete, and may be too large to copy needlessly.
        return rows.count == count ? self : select(rows)
    }

    /// These rows, in this order, with the same dictionaries.
    public func select(_ rows: [Int]) -> SamplePage {
        var page = self
        func pick<Element>(_ column: [Element]) -> [Element] { column.isEmpty ? [] : rows.map { column[$0] } }
        page.ids = pick(ids)
        page.sequence = pick(sequence)
        page.type = pick(type)
        page.start = pick(start)
        page.end = pick(end)
        page.value = pick(value)
        page.origin = pick(origin)
        page.flags = pick(flags)
        page.unit = pick(unit)
        page.created = pick(created)
        page.healthKitUUID = pick(healthKitUUID)
        page.metadata = metadata.select(rows)
        page.payload = payload.select(rows)
        return page
    }

    private static func merge<Entry: Hashable>(_ entries: inout [Entry], _ others: [Entry]) -> [Int32] {
        var index = Dictionary(entries.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })
        return others.map { index.place(of: $0, in: &entries, adding: $0) }
    }
}

extension TextColumn {
    fileprivate mutating func append(_ other: TextColumn, after count: Int, rows: Int) {
        guard !ends.isEmpty || !other.ends.isEmpty else { return }
        pad(to: count)
        let base = Int32(bytes.count)
        bytes += other.bytes
        ends += other.ends.map { base + $0 }
        pad(to: count + rows)
    }

    /// Appends empty rows until there are `count`.
    package mutating func pad(to count: Int) {
        ends += repeatElement(Int32(bytes.count), count: max(0, count - ends.count))
    }

    func select(_ rows: [Int]) -> TextColumn {
        guard count > 0 else { return self }
        var column = TextColumn()
        for row in rows { column.append(bytes: bytes[range(row)]) }
        return column
    }
}
