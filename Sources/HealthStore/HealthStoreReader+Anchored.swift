import HealthModel
import SQLite

/// Changes from an anchor on.
package struct AnchoredPage: Sendable {
    /// Every column is filled. Rows in the order of their sequence; tombstones have `SampleFlags.deleted`.
    package var samples = SamplePage()
    package var users: [String] = []
    /// Index into `users`, by row.
    package var user: [Int32] = []
    /// Everything up to here is in this page or the ones before; also when the page is empty.
    package var covered = SequenceNumber.beginning
    /// Whether `covered` is the window's end, or the store's head.
    package var isComplete = false
}

/// A stretch of one user's time in one type that changes have touched.
package struct TouchedSpan: Sendable, Hashable {
    package var user: String
    package var type: String
    package var start: Instant
    /// Exclusive; an instant sample touches a microsecond.
    package var end: Instant
}

/// Spans that changes from an anchor on have touched.
package struct SpanPage: Sendable {
    package var spans: [TouchedSpan] = []
    /// How many changes they stand for.
    package var added = 0
    package var deleted = 0
    /// As in `AnchoredPage`.
    package var covered = SequenceNumber.beginning
    package var isComplete = false
}

extension HealthStoreReader {
    /// What changed: each row once, at its newest change. Quarantined rows aren't in it.
    package func anchored(
        _ filter: TypeFilter, _ window: PullWindow, limits: PullLimits = PullLimits()
    ) throws -> AnchoredPage {
        var page = AnchoredPage()
        var builder = PageBuilder(self)
        var userIndices: [Int: Int32] = [:]
        let reached = try walk(filter, window, limits.scanned, full: true) { row, user, type, state in
            let start = row.int64(4) &* Instant.microsecondsPerSecond &+ row.int64(5)
            try builder.append(
                id: row.sampleID(8) ?? SampleID(high: 0, low: 0), sequence: row.int64(0), type: type, start: start,
                end: start &+ row.int64(6), value: row.isNull(7) ? .nan : row.double(7), origin: row.int(9),
                flags: UInt8(truncatingIfNeeded: row.int64(10)), state: state)
            try builder.append(unit: row.int(11))
            builder.appendDetail(created: row.int64(12), uuid: row.sampleID(13))
            builder.appendTexts(row, metadata: 14, payload: 15)
            if let index = userIndices[user] {
                page.user.append(index)
            } else {
                let index = Int32(page.users.count)
                page.users.append(try users.name(user))
                userIndices[user] = index
                page.user.append(index)
            }
            return builder.page.count < limits.rows && builder.bytes < limits.bytes
        }
        page.samples = builder.page
        (page.covered, page.isComplete) = reached
        return page
    }

    /// Which stretches of time changed, neighbours within an hour taken together: a few bytes for thousands of rows.
    /// - Parameter limits: `rows` counts spans.
    package func spans(_ filter: TypeFilter, _ window: PullWindow, limits: PullLimits = PullLimits()) throws -> SpanPage
    {
        struct Key: Hashable {
            var user: Int
            var type: Int
        }
        var page = SpanPage()
        // The newest span of each user and type.
        var open: [Key: Int] = [:]
        let gap = 3600 * Instant.microsecondsPerSecond
        let reached = try walk(filter, window, limits.scanned, full: false) { row, user, type, state in
            if state == .deleted { page.deleted += 1 } else { page.added += 1 }
            let start = row.int64(4) &* Instant.microsecondsPerSecond &+ row.int64(5)
            // What can't be true of a store of an earlier release is in no slice, and touches no day.
            guard SampleTimes.mayStart(Instant(microseconds: start)) else { return true }
            let end = max(start + 1, SampleTimes.countedEnd(start: start, duration: row.int64(6)))
            let key = Key(user: user, type: type)
            if let index = open[key], start <= page.spans[index].end.microseconds &+ gap,
                end >= page.spans[index].start.microseconds &- gap
            {
                page.spans[index].start = min(page.spans[index].start, Instant(microseconds: start))
                page.spans[index].end = max(page.spans[index].end, Instant(microseconds: end))
                return true
            }
            open[key] = page.spans.count
            page.spans.append(
                TouchedSpan(
                    user: try users.name(user), type: try types.name(type), start: Instant(microseconds: start),
                    end: Instant(microseconds: end)))
            return page.spans.count < limits.rows
        }
        (page.covered, page.isComplete) = reached
        return page
    }

    /// Walks the rows of the window in the order of their sequence, past stretches that have none of the types.
    /// - Parameter visit: false when there is no room for another row.
    private func walk(
        _ filter: TypeFilter, _ window: PullWindow, _ limit: Int, full: Bool,
        _ visit: (_ row: Statement, _ user: Int, _ type: Int, _ state: SampleState) throws -> Bool
    ) throws -> (covered: SequenceNumber, isComplete: Bool) {
        try refresh()
        let span = window.span(filter)
        // Whoever sets an end knows the store's head; without one it is the newest sample.
        let end = span.through == .end ? try head() : span.through
        guard span.after < end else { return (span.after, true) }
        let windows = (0...types.newest).map { id -> SequenceWindow? in
            guard let name = types.names[id], filter.includes(type: name) else { return nil }
            return window.exceptions[name] ?? window.base
        }
        let wanted = (0...users.newest).map { id in users.names[id].map(filter.includes(user:)) ?? false }
        let stretches = try Stretches.Walk(of: windows.indices.filter { windows[$0] != nil }, in: database)
        let query = try walkStatement(full: full)
        defer { query.reset() }
        var scanned = 0
        var at = span.after
        while at.value < end.value, let stretch = try stretches.next(behind: at, through: end) {
            query.bind(1, stretch.after.value)
            query.bind(2, stretch.through.value)
            while try query.step() {
                scanned += 1
                let user = query.int(1)
                let type = query.int(2)
                let sequence = query.int64(0)
                guard wanted.indices.contains(user), windows.indices.contains(type) else {
                    throw HealthStoreError.danglingName(table: "users or types", id: max(user, type))
                }
                let state = SampleState(rawValue: UInt8(truncatingIfNeeded: query.int64(3))) ?? .quarantined
                if wanted[user], let window = windows[type], window.contains(sequence), state != .quarantined {
                    if try !visit(query, user, type, state) { return (SequenceNumber(sequence), sequence == end.value) }
                }
                if scanned >= limit { return (SequenceNumber(sequence), sequence == end.value) }
            }
            query.reset()
            at = stretch.through
        }
        return (end, true)
    }

    private func walkStatement(full: Bool) throws -> Statement {
        if let statement = walks[full] { return statement }
        let columns =
            "seq, user, type, state, second, start_us, duration"
            + (full ? ", value, id, origin, flags, unit, created, uuid, metadata, payload" : "")
        let statement = try database.prepare(
            "SELECT \(columns) FROM samples WHERE seq > ?1 AND seq <= ?2 ORDER BY seq")
        walks[full] = statement
        return statement
    }
}
