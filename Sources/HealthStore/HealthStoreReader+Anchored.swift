import HealthModel
import SQLite

/// Changes after an anchor.
package struct AnchoredPage: Sendable {
    /// Every column is filled. Rows are in the order of their sequence; tombstones have `SampleFlags.deleted`.
    package var samples = SamplePage()
    package var users: [String] = []
    /// For each row, an index into `users`.
    package var user: [Int32] = []
    /// All changes up to this sequence are in this page or an earlier one, even if this page is empty.
    package var covered = SequenceNumber.beginning
    /// Whether `covered` has reached the end of the window or, if the window has no end, the store's head.
    package var isComplete = false
}

/// A stretch of time in which one user's samples of one type changed.
package struct TouchedSpan: Sendable, Hashable {
    package var user: String
    package var type: String
    package var start: Instant
    /// Exclusive; a sample without duration covers one microsecond.
    package var end: Instant
}

/// The spans that changes after an anchor have touched.
package struct SpanPage: Sendable {
    package var spans: [TouchedSpan] = []
    /// How many changes these spans represent.
    package var added = 0
    package var deleted = 0
    /// As in `AnchoredPage`.
    package var covered = SequenceNumber.beginning
    package var isComplete = false
}

extension HealthStoreReader {
    /// The rows that changed; each appears once, with its latest change. Quarantined rows are left out.
    package func anchored(
        _ filter: TypeFilter, _ window: PullWindow, limits: PullLimits = PullLimits()
    ) throws -> AnchoredPage {
        var page = AnchoredPage()
        var builder = PageBuilder(self)
        var userIndices: [Int: Int32] = [:]
        let reached = try walk(filter, window, limits.scanned, full: true) { walked, texts in
            let (row, user) = (walked.row, walked.user)
            try builder.append(row, end: row.end)
            try builder.append(unit: row.unit)
            builder.appendDetail(created: row.created, uuid: row.uuid)
            builder.append(texts)
            page.user.append(try userIndices.place(of: user, in: &page.users, adding: users.name(user)))
            return builder.page.count < limits.rows && builder.bytes < limits.bytes
        }
        page.samples = builder.page
        (page.covered, page.isComplete) = reached
        return page
    }

    /// The stretches of time that changed, with those less than an hour apart joined, so that thousands of rows take a
    /// few bytes.
    /// - Parameter limits: `rows` counts spans.
    package func spans(_ filter: TypeFilter, _ window: PullWindow, limits: PullLimits = PullLimits()) throws -> SpanPage
    {
        struct Key: Hashable {
            var user: Int
            var type: Int
        }
        var page = SpanPage()
        // The latest span of each user and type.
        var open: [Key: Int] = [:]
        let gap = 3600 * Instant.microsecondsPerSecond
        let reached = try walk(filter, window, limits.scanned, full: false) { walked, _ in
            let (row, user, type) = (walked.row, walked.user, walked.row.type)
            if row.state == .alive { page.added += 1 } else { page.deleted += 1 }
            let start = row.start
            // Impossible samples that an earlier release stored are in no slice and affect no day.
            guard SampleTimes.mayStart(Instant(microseconds: start)) else { return true }
            let end = max(start + 1, row.countedEnd)
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

    /// Walks the rows of the window in sequence order, skipping stretches that have none of the types.
    /// - Parameter visit: returns false when there is no room for another row.
    private func walk(
        _ filter: TypeFilter, _ window: PullWindow, _ limit: Int, full: Bool,
        _ visit: (WalkedRow, WalkedTexts) throws -> Bool
    ) throws -> (covered: SequenceNumber, isComplete: Bool) {
        try refresh()
        let span = window.span(filter)
        // A caller that sets an end knows the store's head; if no end is set, the newest sample is the end.
        let end = span.through == .end ? try head() : span.through
        guard span.after < end else { return (span.after, true) }
        let windows = (0...types.newest).map { id -> SequenceWindow? in
            guard let name = types.names[id], filter.includes(type: name) else { return nil }
            return window.exceptions[name] ?? window.base
        }
        let wanted = (0...users.newest).map { id in users.names[id].map(filter.includes(user:)) ?? false }
        let stretches = try Stretches.Walk(of: windows.indices.filter { windows[$0] != nil }, in: database)
        func covers(user: Int, type: Int) throws -> Bool {
            guard wanted.indices.contains(user), windows.indices.contains(type) else {
                throw HealthStoreError.danglingName(table: "users or types", id: max(user, type))
            }
            return wanted[user] && windows[type] != nil
        }
        var scanned = 0
        var reached = end
        let isComplete = try rowWalk(full: full).run(
            SequenceWindow(after: span.after, through: end), stretches: stretches, wants: covers(user:type:)
        ) { walked, texts in
            scanned += 1
            let row = walked.row
            reached = row.sequence
            let isWanted =
                try covers(user: walked.user, type: row.type) && row.state != .quarantined
                && windows[row.type]?.contains(row.sequence.value) == true
            if isWanted, try !visit(walked, texts) { return false }
            return scanned < limit
        }
        return isComplete ? (end, true) : (reached, reached == end)
    }

    private func rowWalk(full: Bool) throws -> RowWalk {
        if let walk = walks[full] { return walk }
        let walk = try RowWalk(full ? .all : .times, in: database, blocks)
        walks[full] = walk
        return walk
    }
}
