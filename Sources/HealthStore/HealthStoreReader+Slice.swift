import HealthModel
import SQLite

extension HealthStoreReader {
    /// Samples that overlap the query's ranges and aren't deleted, in canonical order (start, id) over all types, one
    /// page at a time.
    ///
    /// Read all pages of a slice in one read transaction; otherwise they may be inconsistent.
    /// - Parameters:
    ///   - position: The value of `next` on the previous page; nil for the first page.
    ///   - limits: `scanned` is ignored, because a slice's work is bounded by its ranges.
    package func slice(
        _ query: SliceQuery, after position: SlicePosition? = nil, limits: PullLimits = PullLimits()
    ) throws -> SlicePage {
        try refresh()
        guard let user = users.ids[query.user] else { return SlicePage() }
        let cursors = try cursors(query, user: user, after: position)
        defer { giveBack(cursors.count) }
        let others = try otherNames(user: user)
        let merge = SliceMerge(query: query, after: position, limits: limits, builder: PageBuilder(self))
        var page = try merge.run(cursors)
        if !others.isEmpty {
            for index in page.samples.origins.indices {
                page.samples.origins[index].otherNames = others[page.samples.origins[index].sourceName] ?? []
            }
        }
        return page
    }

    /// For each name of a renamed source, its other names.
    func otherNames(user: Int) throws -> [String: [String]] {
        // A store from an earlier release that this release's observer hasn't upgraded yet has no such table.
        guard try links != nil || database.hasTable("source_links") else { return [:] }
        let query = try links ?? database.prepare("SELECT name, other FROM source_links WHERE user = ?")
        links = query
        let found = try query.with(user).rows { ($0.string(0), $0.string(1)) }
        let groups = SourceNames.groups(found)
        return Dictionary(
            uniqueKeysWithValues: groups.map { name, group in (name, group.subtracting([name]).sorted()) })
    }

    private func cursors(
        _ query: SliceQuery, user: Int, after position: SlicePosition?
    ) throws -> [SliceCursor] {
        let during = try rangesDuring(query)
        let filter = TypeFilter(types: query.types)
        let heads = liveTypes
        var wanted: [(type: Int, reach: Int64)] = []
        try heads.with(user).forEachRow { row in
            if filter.includes(type: try types.name(row.int(0))) { wanted.append((row.int(0), row.int64(1))) }
        }
        let detailed = TypeFilter(types: query.detailed)
        let from = position?.start.flooredSecond ?? Int64.min
        return try wanted.enumerated().map { index, type in
            let name = try types.name(type.type)
            let columns: SliceCursor.Columns =
                detailed.includes(type: name) ? .all : query.payloads.contains(name) ? .payload : .none
            return try SliceCursor(
                user: user, type: type.type, columns: columns, hasTies: Self.hasLatest(name),
                asOf: query.asOfByType[name] ?? query.asOf,
                from: from, ranges: during[name] ?? query.ranges, reach: type.reach,
                long: statement(index, SliceCursor.Key(columns: columns, isLong: true)),
                main: statement(index, SliceCursor.Key(columns: columns, isLong: false)), blocks: blocks)
        }
    }

    /// For each type that is wanted only during samples of another type, the times of those other samples.
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
            byOther[other] = found.flatMap { range in query.ranges.map { range.clamped(to: $0) } }.united()
        }
        return query.during.mapValues { byOther[$0] ?? [] }
    }

    /// Whether a figure may be the latest of the type's samples.
    private static func hasLatest(_ name: String) -> Bool {
        if HealthType.base(ofStatistics: name) != nil { return true }
        let type = HealthType.named(name)
        return type.style != .cumulative && (type.kind == .quantity || type.kind == .other)
    }

    private func statement(_ index: Int, _ key: SliceCursor.Key) throws -> Statement {
        while slices[key, default: []].count <= index {
            slices[key, default: []].append(try SliceCursor.statement(key, in: database))
        }
        return slices[key, default: []][index]
    }

    /// After a query over hundreds of types, not all of the statements should be kept.
    private func giveBack(_ used: Int) {
        guard used > 32 else { return }
        slices = slices.mapValues { Array($0.prefix(32)) }
    }
}

/// Merges the types' rows second by second, because the index sorts by second but canonical order is by microsecond and
/// id.
private struct SliceMerge {
    let query: SliceQuery
    let after: SlicePosition?
    let limits: PullLimits
    var builder: PageBuilder
    private var ties = SliceTies()

    private struct Row {
        var position: SlicePosition
        var row: StoredRow
        /// The time until which the row counts, in microseconds since 1970.
        var end: Int64
        var detail: SliceCursor.Detail?
    }

    init(query: SliceQuery, after: SlicePosition?, limits: PullLimits, builder: PageBuilder) {
        (self.query, self.after, self.limits, self.builder) = (query, after, limits, builder)
    }

    consuming func run(_ cursors: [SliceCursor]) throws -> SlicePage {
        var rows: [Row] = []
        while let second = cursors.lazy.compactMap(\.second).min() {
            rows.removeAll(keepingCapacity: true)
            ties.begin()
            for cursor in cursors {
                while cursor.second == second {
                    if let row = read(cursor) { rows.append(row) }
                    try cursor.advance()
                    // Rows cut off here are on a later page.
                    if rows.count > 2 * limits.rows + 1024 {
                        rows.sort { $0.position < $1.position }
                        rows.removeLast(rows.count - limits.rows - 1)
                    }
                }
            }
            if rows.count > 1 { rows.sort { $0.position < $1.position } }
            ties.settle()
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

    private mutating func read(_ cursor: SliceCursor) -> Row? {
        let (row, born) = cursor.row
        let (start, end) = (row.start, row.countedEnd)
        guard SampleTimes.mayStart(Instant(microseconds: start)), SliceQuery.overlaps(start, end, cursor.ranges),
            born <= cursor.asOf.value
        else { return nil }
        if cursor.hasTies { ties.note(row, end: end) }
        let position = SlicePosition(start: Instant(microseconds: start), id: row.id)
        if let after, position <= after { return nil }
        return Row(position: position, row: row, end: end, detail: cursor.detail)
    }

    private mutating func append(_ row: Row) throws {
        try builder.append(row.row, end: row.end)
        try builder.append(unit: row.row.unit)
        let created = ties.contains(row.row, end: row.end) ? row.row.created : 0
        switch row.detail {
        case nil:
            guard created != 0 else { break }
            builder.appendDetail(created: created, uuid: nil)
            builder.appendTexts(metadata: [], payload: [])
        case .row(let uuid, let metadata, let payload):
            builder.appendDetail(created: row.row.created, uuid: uuid)
            builder.appendTexts(metadata: metadata, payload: payload)
        case .payload(let payload):
            builder.appendDetail(created: created, uuid: nil)
            builder.appendTexts(metadata: [], payload: payload)
        case .block(let block, let index, let isWhole):
            if isWhole {
                builder.appendDetail(created: row.row.created, uuid: row.row.uuid)
                builder.append(.block(block, index))
            } else {
                builder.appendDetail(created: created, uuid: nil)
                builder.appendPayload(of: block, index)
            }
        }
    }
}
