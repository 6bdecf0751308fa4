import Changelog
import SQLite
import StageKit

/// How far this store has taken in other stacks' changes, by the instance that brings them, and whether it has ever
/// reached their end.
///
/// Kept in the store itself, so that it is committed with the changes, and a restored backup continues from where it
/// was.
enum FollowedTable {
    static func create(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS followed(
                bringer TEXT PRIMARY KEY, cursor TEXT NOT NULL, whole INTEGER NOT NULL) WITHOUT ROWID
            """)
    }

    /// Empty for an instance that hasn't brought anything.
    static func cursor(of bringer: String, in database: Database) throws -> String {
        try database.prepare("SELECT cursor FROM followed WHERE bringer = ?").with(bringer)
            .firstRow { $0.string(0) } ?? ""
    }

    /// Whether the end of the other stack's changes has never been reached, or not since a request from the beginning.
    static func isCopying(_ bringer: String, in database: Database) throws -> Bool {
        try database.prepare("SELECT whole FROM followed WHERE bringer = ?").with(bringer)
            .firstRow { $0.int64(0) == 0 } ?? true
    }

    /// Notes that the other stack's changes come from the beginning again.
    static func begin(_ bringer: String, _ turn: Turn) throws {
        try turn.write().database.prepare("UPDATE followed SET whole = 0 WHERE bringer = ?").with(bringer).run()
    }

    /// - Parameter isEnd: whether there was nothing more.
    static func save(_ cursor: String, isEnd: Bool, of bringer: String, _ turn: Turn) throws {
        let write = try turn.write().database.prepare(
            """
            INSERT INTO followed VALUES (?, ?, ?)
            ON CONFLICT (bringer) DO UPDATE SET cursor = excluded.cursor, whole = max(whole, excluded.whole)
            """)
        try write.with(bringer, cursor, isEnd ? 1 : 0).run()
    }
}
