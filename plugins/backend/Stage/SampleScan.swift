import HealthModel
import SQLite

/// Walks through a user's samples in id order, skipping those that can't be in the requested range.
///
/// Our own ids begin with the start time, so a time range is also an id range. Samples whose ids don't contain the time
/// are found by an index on their start; they sort before or after that range. If there are many of those, all rows are
/// scanned, so that no page is assembled from many thousands of pieces.
final class SampleScan {
    private let all: Statement
    private let within: Statement
    private let apartBelow: Statement
    private let apartAbove: Statement
    private let countApart: Statement

    /// The maximum number of samples to look up through the index on the start; if there are more, all rows are
    /// scanned.
    private static let apartLimit = 20_000

    /// - Parameter columns: the columns of `sample_rows` to read, as SQL.
    init(_ database: Database, columns: String) throws {
        let rows = "SELECT \(columns) FROM sample_rows WHERE user = ?1"
        all = try database.prepare("\(rows) AND id > ?2 ORDER BY id")
        within = try database.prepare("\(rows) AND id >= ?2 AND id < ?3 ORDER BY id")
        func apart(_ ids: String) throws -> Statement {
            try database.prepare(
                """
                WITH apart(place) AS MATERIALIZED (\(Self.apart(ids)) ORDER BY 1)
                SELECT \(columns) FROM apart CROSS JOIN sample_rows ON user = ?1 AND id = place ORDER BY place
                """)
        }
        apartBelow = try apart("id > ?5 AND id < ?6")
        apartAbove = try apart("id >= ?5")
        countApart = try database.prepare(
            "SELECT count(*) FROM (\(Self.apart("TRUE")) LIMIT \(Self.apartLimit + 1))")
    }

    /// ?2 is `from`, ?3 is `from` minus the longest duration of a sample found by id, ?4 is the first moment after the
    /// range.
    private static func apart(_ ids: String) -> String {
        let end = "iif(duration < 0, start - duration, start + duration * \(Instant.microsecondsPerSecond))"
        return """
            SELECT id FROM sample_rows INDEXED BY samples_start
                WHERE user = ?1 AND start IS NOT NULL AND start >= ?3 AND start < ?4 AND \(ids)
            UNION ALL SELECT id FROM sample_rows INDEXED BY samples_long
                WHERE user = ?1 AND start IS NOT NULL AND \(SampleTable.isLong) AND start < ?3 AND \(end) >= ?2 AND \(ids)
            """
    }

    /// Passes each row to `body` until that returns false. Some of these rows may be outside the range.
    /// - Parameter cursor: the id to start after; nil to start at the beginning.
    func rows(
        of user: Int64, from: Int64?, to: Int64?, after cursor: ElementID?, _ body: (Statement) throws -> Bool
    ) throws {
        guard let range = SampleIDRange(from: from, to: to), try isFew(user, range) else {
            // Without a cursor, ids that are text come first, since SQLite sorts text before blobs.
            return _ = try run(all.with(user, cursor ?? .text("")), body)
        }
        var first = range.first
        if case .uuid(let id) = cursor {
            guard let next = id.next else { return }
            first = max(first, next)
        }
        if first == range.first {
            let rows = apartBelow.with(
                user, range.from, range.reach, range.to, cursor ?? .text(""), ElementID.uuid(first))
            guard try run(rows, body) else { return }
        }
        if let end = range.end {
            guard try run(within.with(user, ElementID.uuid(first), ElementID.uuid(end)), body) else { return }
            let rows = apartAbove.with(user, range.from, range.reach, range.to, ElementID.uuid(max(first, end)))
            _ = try run(rows, body)
        } else {
            // No id lies between an id and its predecessor.
            let rows = first.previous.map { all.with(user, ElementID.uuid($0)) } ?? all.with(user, [UInt8(0)])
            _ = try run(rows, body)
        }
    }

    private func isFew(_ user: Int64, _ range: SampleIDRange) throws -> Bool {
        let count = try countApart.with(user, range.from, range.reach, range.to).firstRow { $0.int(0) }
        return count ?? 0 <= Self.apartLimit
    }

    /// - Returns: whether it reached the end.
    private func run(_ statement: Statement, _ body: (Statement) throws -> Bool) throws -> Bool {
        defer { statement.reset() }
        while try statement.step() {
            if try !body(statement) { return false }
        }
        return true
    }
}

/// The id range of all samples that touch a time range, provided that their ids contain their times.
struct SampleIDRange {
    /// Microseconds since 1970: the range, and the earliest possible start of a sample that touches it.
    let from: Int64
    let reach: Int64
    let to: Int64
    let first: SampleID
    /// The first id after the range; nil if it has no end.
    let end: SampleID?

    /// - Parameter to: the first moment after the range.
    /// - Returns: nil if the range isn't bounded at all.
    init?(from: Int64?, to: Int64?) {
        guard from != nil || to != nil else { return nil }
        self.from = from ?? .min
        self.to = to ?? .max
        reach = from.map { $0 - StoredTimes.longest } ?? .min
        // An id gives the start only to the second.
        first = Self.id(milliseconds: from == nil ? 0 : (reach - Instant.microsecondsPerSecond) / 1000)
        let last = (self.to - 1) / 1000
        end = to == nil || last >= Self.lastMillisecond ? nil : Self.id(milliseconds: self.to <= 0 ? 0 : last + 1)
    }

    private static let lastMillisecond: Int64 = 1 << 48 - 1

    private static func id(milliseconds: Int64) -> SampleID {
        SampleID(high: UInt64(min(max(0, milliseconds), lastMillisecond)) << 16, low: 0)
    }
}

extension SampleID {
    /// The next id in order; nil after the last.
    fileprivate var next: SampleID? {
        if low < .max { return SampleID(high: high, low: low + 1) }
        return high < .max ? SampleID(high: high + 1, low: 0) : nil
    }

    var previous: SampleID? {
        if low > 0 { return SampleID(high: high, low: low - 1) }
        return high > 0 ? SampleID(high: high - 1, low: .max) : nil
    }
}
