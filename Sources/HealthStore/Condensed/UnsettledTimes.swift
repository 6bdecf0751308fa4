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
        try note(spans.stretches(of: type), user: user)
    }

    func note(_ stretches: [Stretch], user: Int) throws {
        for stretch in stretches { try add.with(stretch, user: user).run() }
    }

    func next(_ limit: Int, user: Int) throws -> [Stretch] {
        try list.with(user, limit).rows { row in
            Stretch(type: row.int(0), span: row.int64(1)...max(row.int64(1), row.int64(2)))
        }
    }

    func forget(_ stretch: Stretch, user: Int) throws {
        try drop.with(stretch, user: user).run()
    }

    /// Replaces what is listed as overlapping within a stretch.
    func set(_ overlaps: [Overlap], in stretch: Stretch, user: Int) throws {
        try dropOverlaps.with(stretch, user: user).run()
        for overlap in overlaps {
            let place = addOverlap.with(Stretch(type: stretch.type, span: overlap.span), user: user)
            place.bind(5, overlap.isTogether ? 1 : 0)
            try place.run()
        }
    }

    /// Stretches that overlap are examined again: a newer export may show which form is left.
    func examineOverlaps(user: Int) throws {
        try examineOverlaps.with(user).run()
    }
}

extension Statement {
    fileprivate func with(_ stretch: UnsettledTimes.Stretch, user: Int) -> Statement {
        with(user, stretch.type, stretch.span.lowerBound, stretch.span.upperBound)
    }
}
