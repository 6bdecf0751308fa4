import HealthModel
import Protocol
import SQLite

/// A changelog that holds each key only once, at its latest change. So it never outgrows its content, and reading it
/// from 0 gives a snapshot.
///
/// Each write is first compared with what is stored: repeating the same content changes nothing, so a replay causes no
/// traffic downstream.
package final class KeyedChangelog {
    package typealias Row = ChangedRow

    private let stage: StageDatabase
    private let find: Statement
    private let insert: Statement
    private let update: Statement
    private let tombstone: Statement
    private let list: Statement

    package static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS changes(
                seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, topic TEXT NOT NULL, user TEXT NOT NULL, day INTEGER, body BLOB);
            CREATE INDEX IF NOT EXISTS changes_by_day ON changes(user, day);
            """)
    }

    /// The tables must exist.
    package init(_ stage: StageDatabase) throws {
        self.stage = stage
        let database = stage.database
        find = try database.prepare("SELECT body, topic, user, day FROM changes WHERE key = ?")
        insert = try database.prepare("INSERT INTO changes(seq, key, topic, user, day, body) VALUES (?, ?, ?, ?, ?, ?)")
        update = try database.prepare(
            "UPDATE changes SET seq = ?, topic = ?, user = ?, day = ?, body = ? WHERE key = ?")
        tombstone = try database.prepare("UPDATE changes SET seq = ?, body = NULL WHERE key = ?")
        list = try database.prepare(
            "SELECT seq, key, topic, user, day, body FROM changes WHERE user = ? AND day BETWEEN ? AND ? AND body IS NOT NULL"
        )
    }

    /// Writes a key's content, along with its topic, user and day; returns true if that changed anything.
    /// - Parameter replacing: called before a change, with the content so far; nil if there is none.
    @discardableResult
    package func put(
        key: String, topic: String, user: String, day: Int?, body: Value, replacing: ((Value?) -> Void)? = nil
    ) throws -> Bool {
        let bytes = CBOREncoder.encode(body)
        let isSame = try find.with(key).firstRow { row in
            let isSame =
                !row.isNull(0) && row.bytes(0) == bytes && row.string(1) == topic && row.string(2) == user
                && row.optional(3).map { Int($0) } == day
            if !isSame { try replacing?(Self.body(row)) }
            return isSame
        }
        if isSame == nil { replacing?(nil) }
        switch isSame {
        case true?: return false
        case false?:
            try update.with(stage.nextSequence().value, topic, user, day, bytes, key).run()
        case nil:
            try insert.with(stage.nextSequence().value, key, topic, user, day, bytes).run()
        }
        return true
    }

    /// Turns a key into a tombstone; returns false if it is one already, or doesn't exist.
    /// - Parameter replacing: called before that, with the content so far.
    @discardableResult
    package func remove(key: String, replacing: ((Value?) -> Void)? = nil) throws -> Bool {
        let exists = try find.with(key).firstRow { row in
            if !row.isNull(0) { try replacing?(Self.body(row)) }
            return !row.isNull(0)
        }
        guard exists == true else { return false }
        try tombstone.with(stage.nextSequence().value, key).run()
        return true
    }

    /// Gives the rows of a window new sequence numbers, in the existing order, so that each is newer than any version of
    /// its key given out before.
    package func renew(after: SequenceNumber = .beginning, through: SequenceNumber = .end) throws {
        let last = min(through, stage.sequence)
        let next = try stage.database.prepare("SELECT min(seq) FROM changes WHERE seq > ? AND seq <= ?")
        let move = try stage.database.prepare("UPDATE changes SET seq = ? WHERE seq = ?")
        var at = after.value
        while let found = try next.with(at, last.value).firstNumber() {
            at = found
            try move.with(stage.nextSequence().value, at).run()
        }
    }

    /// The rows for a user's days, without tombstones.
    package func rows(user: String, days: ClosedRange<Int>) throws -> [Row] {
        try list.with(user, days.lowerBound, days.upperBound).rows { try Self.row($0) }
    }

    private static func body(_ row: Statement) throws -> Value? {
        row.isNull(0) ? Value?.none : try CBORDecoder.decode(row.bytes(0))
    }

    static func row(_ statement: Statement) throws -> Row {
        Row(
            sequence: SequenceNumber(statement.int64(0)), key: statement.string(1), topic: statement.string(2),
            user: statement.string(3),
            day: statement.optional(4).map { Int($0) },
            // Written out in full: a bare `nil` would become the value null, and a tombstone would look like a row with
            // null as its content.
            body: statement.isNull(5) ? Value?.none : try CBORDecoder.decode(statement.bytes(5)))
    }
}

extension KeyedChangelog {
    /// The rows for a user's day, without tombstones, of topics that begin with `topic`, for readers alongside the
    /// writer.
    package static func rows(in database: Database, user: String, day: Int, topic: String = "") throws -> [Row] {
        let statement = try database.prepare(
            "SELECT seq, key, topic, user, day, body FROM changes WHERE user = ? AND day = ? AND body IS NOT NULL ORDER BY seq"
        )
        var rows: [Row] = []
        try statement.with(user, day).forEachRow { row in
            if topic.isEmpty || row.string(2).hasPrefix(topic) { rows.append(try Self.row(row)) }
        }
        return rows
    }

    /// One page of changes, for readers alongside the writer.
    package struct Page {
        package var rows: [Row]
        /// Everything up to here is in this page or an earlier one.
        package var through: SequenceNumber
    }

    /// About how long a page is.
    package static let pageBytes = 48 * 1024

    /// Rows after `after` up to `until`, oldest change first, of topics that begin with `topic`.
    /// - Parameters:
    ///   - days: only rows for these days, counted since 1970; nil for all rows.
    ///   - bytes: stop after about this many; at least one row is returned.
    package static func page(
        in database: Database, after: SequenceNumber, until: SequenceNumber, topic: String = "",
        days: ClosedRange<Int>? = nil, bytes: Int = pageBytes
    ) throws -> Page {
        let statement = try database.prepare(
            "SELECT seq, key, topic, user, day, body FROM changes WHERE seq > ? AND seq <= ?"
                + (days == nil ? "" : " AND day BETWEEN ? AND ?") + " ORDER BY seq")
        statement.bind(1, after.value)
        statement.bind(2, until.value)
        if let days {
            statement.bind(3, days.lowerBound)
            statement.bind(4, days.upperBound)
        }
        var page = Page(rows: [], through: until)
        var size = 0
        defer { statement.reset() }
        while try statement.step() {
            if size >= bytes {
                page.through = SequenceNumber(statement.int64(0)).previous
                break
            }
            guard topic.isEmpty || statement.string(2).hasPrefix(topic) else { continue }
            let row = try row(statement)
            size += statement.withBytes(5) { $0.count } + row.key.utf8.count + 64
            page.rows.append(row)
        }
        return page
    }
}
