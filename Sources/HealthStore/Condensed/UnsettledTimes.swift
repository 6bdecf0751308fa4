import HealthModel
import SQLite

/// The table `unsettled`, which lists the stretches of time in which imports have added samples beside older ones of
/// the same type: there, one form of a measurement may have replaced another.
///
/// They are listed in the transaction that adds the samples, and examined when the file has been read to its end. Where
/// samples of one source overlap that no file has together, and neither form has replaced the other, the stretches are
/// kept in `overlaps`, and examined again after each file.
final class UnsettledTimes {
    static let tables = [
        """
        CREATE TABLE IF NOT EXISTS unsettled (user INTEGER NOT NULL, type INTEGER NOT NULL, first INTEGER NOT NULL,
          last INTEGER NOT NULL, PRIMARY KEY (user, type, first, last)) WITHOUT ROWID
        """,
        """
        CREATE TABLE IF NOT EXISTS overlaps (user INTEGER NOT NULL, type INTEGER NOT NULL, first INTEGER NOT NULL,
          last INTEGER NOT NULL, together INTEGER NOT NULL, PRIMARY KEY (user, type, first, last)) WITHOUT ROWID
        """,
    ]

    /// Samples of one source that cover the same time and all count.
    struct Overlap {
        /// Whole seconds since 1970.
        var span: ClosedRange<Int64>
        /// Whether they stand for each other and an export contains them together, so that HealthKit counts them too.
        var isTogether: Bool
    }

    struct Stretch {
        var type: Int
        /// Whole seconds since 1970.
        var span: ClosedRange<Int64>
    }

    private let add: Statement
    private let list: Statement
    private let drop: Statement
    private let addOverlap: Statement
    private let dropOverlaps: Statement
    private let examineOverlaps: Statement

    init(in database: Database) throws {
        add = try database.prepare("INSERT OR IGNORE INTO unsettled VALUES (?, ?, ?, ?)")
        list = try database.prepare(
            "SELECT type, first, last FROM unsettled WHERE user = ? ORDER BY type, first LIMIT ?")
        addOverlap = try database.prepare("INSERT OR REPLACE INTO overlaps VALUES (?, ?, ?, ?, ?)")
        dropOverlaps = try database.prepare(
            "DELETE FROM overlaps WHERE user = ? AND type = ? AND last >= ? AND first <= ?")
        examineOverlaps = try database.prepare(
            "INSERT OR IGNORE INTO unsettled SELECT user, type, first, last FROM overlaps WHERE user = ?")
        drop = try database.prepare("DELETE FROM unsettled WHERE user = ? AND type = ? AND first = ? AND last = ?")
    }

    func note(_ spans: TimeSpans, type: Int, user: Int) throws {
        for stretch in spans.stretches(of: type) {
            bind(add, stretch, user)
            try add.run()
        }
    }

    func note(_ stretches: [Stretch], user: Int) throws {
        for stretch in stretches {
            bind(add, stretch, user)
            try add.run()
        }
    }

    func next(_ limit: Int, user: Int) throws -> [Stretch] {
        list.bind(1, user)
        list.bind(2, limit)
        var found: [Stretch] = []
        try list.forEachRow { row in
            found.append(Stretch(type: row.int(0), span: row.int64(1)...max(row.int64(1), row.int64(2))))
        }
        return found
    }

    func forget(_ stretch: Stretch, user: Int) throws {
        bind(drop, stretch, user)
        try drop.run()
    }

    /// Replaces what is listed as overlapping within a stretch.
    func set(_ overlaps: [Overlap], in stretch: Stretch, user: Int) throws {
        bind(dropOverlaps, stretch, user)
        try dropOverlaps.run()
        for overlap in overlaps {
            bind(addOverlap, Stretch(type: stretch.type, span: overlap.span), user)
            addOverlap.bind(5, overlap.isTogether ? 1 : 0)
            try addOverlap.run()
        }
    }

    /// Stretches that overlap are examined again: a newer export may show which form is left.
    func examineOverlaps(user: Int) throws {
        examineOverlaps.bind(1, user)
        try examineOverlaps.run()
    }

    private func bind(_ statement: Statement, _ stretch: Stretch, _ user: Int) {
        statement.bind(1, user)
        statement.bind(2, stretch.type)
        statement.bind(3, stretch.span.lowerBound)
        statement.bind(4, stretch.span.upperBound)
    }
}
