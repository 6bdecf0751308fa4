import HealthModel
import SQLite

extension HealthStoreReader {
    /// Samples alive that overlap the query's ranges, in canonical order (start, id) over all types, a page at a time.
    ///
    /// Read all pages of a slice in one read transaction, or they don't belong together.
    /// - Parameters:
    ///   - position: `next` of the page before; nil for the first.
    ///   - limits: `scanned` isn't used: a slice's work is bounded by its ranges.
    package func slice(
        _ query: SliceQuery, after position: SlicePosition? = nil, limits: PullLimits = PullLimits()
    ) throws -> SlicePage {
        try refresh()
        guard let user = users.ids[query.user] else { return SlicePage() }
        let cursors = try cursors(query, user: user, after: position)
        defer { giveBack(cursors.count) }
        let merge = SliceMerge(query: query, after: position, limits: limits, builder: PageBuilder(self))
        return try merge.run(cursors)
    }

    private func cursors(
        _ query: SliceQuery, user: Int, after position: SlicePosition?
    ) throws -> [SliceCursor] {
        let during = try rangesDuring(query)
        let filter = TypeFilter(types: query.types)
        let heads = try database.prepare("SELECT type, reach FROM heads WHERE user = ? AND alive > 0 ORDER BY type")
        heads.bind(1, user)
        var wanted: [(type: Int, reach: Int64)] = []
        try heads.forEachRow { row in
            if filter.includes(type: try types.name(row.int(0))) { wanted.append((row.int(0), row.int64(1))) }
        }
        let detailed = TypeFilter(types: query.detailed)
        let from = position?.start.flooredSecond ?? Int64.min
        return try wanted.enumerated().map { index, type in
            let name = try types.name(type.type)
            let columns: SliceCursor.Columns =
                detailed.includes(type: name) ? .all : query.payloads.contains(name) ? .payload : .none
            return try SliceCursor(
                user: user, type: type.type, columns: columns, asOf: query.asOfByType[name] ?? query.asOf,
                from: from, ranges: during[name] ?? query.ranges, reach: type.reach,
                long: statement(index, SliceCursor.Key(columns: columns, isLong: true)),
                main: statement(index, SliceCursor.Key(columns: columns, isLong: false)))
        }
    }

    /// By type that is asked for only during samples of another: when those go on.
    private func rangesDuring(_ query: SliceQuery) throws -> [String: [Range<Instant>]] {
        var byOther: [String: [Range<Instant>]] = [:]
        for other in Set(query.during.values) {
            var part = SliceQuery(user: query.user, types: .only([other]), ranges: query.ranges, asOf: query.asOf)
            part.asOfByType = query.asOfByType
            var found: [Range<Instant>] = []
            var position: SlicePosition?
            repeat {
                let page = try slice(part, after: position)
                position = page.next
                let samples = page.samples
                found += samples.start.indices.map {
                    Range(microseconds: samples.start[$0]..<max(samples.end[$0], samples.start[$0] + 1))
                }
            } while position != nil
            byOther[other] = SliceQuery.union(found.flatMap { range in query.ranges.map { range.clamped(to: $0) } })
        }
        return query.during.mapValues { byOther[$0] ?? [] }
    }

    private func statement(_ index: Int, _ key: SliceCursor.Key) throws -> Statement {
        while slices[key, default: []].count <= index {
            slices[key, default: []].append(try SliceCursor.statement(key, in: database))
        }
        return slices[key, default: []][index]
    }

    /// A query over hundreds of types shouldn't hold as many statements for ever.
    private func giveBack(_ used: Int) {
        guard used > 32 else { return }
        slices = slices.mapValues { Array($0.prefix(32)) }
    }
}

/// Merges the types' rows second by second: the index sorts by second, canonical order by microsecond and id.
private struct SliceMerge {
    let query: SliceQuery
    let after: SlicePosition?
    let limits: PullLimits
    var builder: PageBuilder

    private struct Row {
        var position: SlicePosition
        var sequence: Int64
        var type: Int
        /// Microseconds since 1970.
        var end: Int64
        var value: Double
        var origin: Int
        var flags: UInt8
        var unit = 0
        var detail: Detail?
    }

    private struct Detail {
        var created: Int64
        var uuid: SampleID?
        var metadata: [UInt8]
        var payload: [UInt8]
    }

    init(query: SliceQuery, after: SlicePosition?, limits: PullLimits, builder: PageBuilder) {
        self.query = query
        self.after = after
        self.limits = limits
        self.builder = builder
    }

    consuming func run(_ cursors: [SliceCursor]) throws -> SlicePage {
        var rows: [Row] = []
        while let second = cursors.lazy.compactMap(\.second).min() {
            rows.removeAll(keepingCapacity: true)
            for cursor in cursors {
                while cursor.second == second {
                    if let row = read(cursor) { rows.append(row) }
                    try cursor.advance()
                    // What is cut off here comes with a later page.
                    if rows.count > 2 * limits.rows + 1024 {
                        rows.sort { $0.position < $1.position }
                        rows.removeLast(rows.count - limits.rows - 1)
                    }
                }
            }
            if rows.count > 1 { rows.sort { $0.position < $1.position } }
            for row in rows {
                if builder.page.count >= limits.rows || builder.bytes >= limits.bytes { return page(isLast: false) }
                try append(row)
            }
        }
        return page(isLast: true)
    }

    private mutating func page(isLast: Bool) -> SlicePage {
        builder.padDetails()
        let page = builder.page
        guard !isLast, let start = page.start.last, let id = page.ids.last else { return SlicePage(samples: page) }
        return SlicePage(samples: page, next: SlicePosition(start: Instant(microseconds: start), id: id))
    }

    private func read(_ cursor: SliceCursor) -> Row? {
        let row = cursor.row
        let start = row.int64(2) &* Instant.microsecondsPerSecond &+ row.int64(3)
        let end = SampleTimes.countedEnd(start: start, duration: row.int64(4))
        guard SampleTimes.mayStart(Instant(microseconds: start)),
            SliceQuery.overlaps(start, end, cursor.ranges)
        else { return nil }
        let born = row.int64(1)
        guard (born == 0 ? row.int64(0) : born) <= cursor.asOf.value, let id = row.sampleID(8) else { return nil }
        let position = SlicePosition(start: Instant(microseconds: start), id: id)
        if let after, position <= after { return nil }
        var found = Row(
            position: position, sequence: row.int64(0), type: cursor.type, end: end,
            value: row.isNull(5) ? .nan : row.double(5), origin: row.int(6),
            flags: UInt8(truncatingIfNeeded: row.int64(7)))
        found.unit = row.int(9)
        switch cursor.columns {
        case .all:
            found.detail = Detail(
                created: row.int64(10), uuid: row.sampleID(11), metadata: row.bytes(12), payload: row.bytes(13))
        case .payload:
            if !row.isNull(10) { found.detail = Detail(created: 0, uuid: nil, metadata: [], payload: row.bytes(10)) }
        case .none: break
        }
        return found
    }

    private mutating func append(_ row: Row) throws {
        try builder.append(
            id: row.position.id, sequence: row.sequence, type: row.type, start: row.position.start.microseconds,
            end: row.end,
            value: row.value, origin: row.origin, flags: row.flags, state: .alive)
        try builder.append(unit: row.unit)
        guard let detail = row.detail else { return }
        builder.appendDetail(created: detail.created, uuid: detail.uuid)
        builder.appendTexts(metadata: detail.metadata, payload: detail.payload)
    }
}
