import Changelog
import SQLite
import StageKit

/// How far this store has taken in other stacks' changes, by the instance that brings them.
///
/// Kept in the store itself, so that it is committed with the changes, and a restored backup continues from where it
/// was.
enum FollowedTable {
    static func create(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS followed(bringer TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID")
    }

    /// Empty for one that hasn't brought anything.
    static func cursor(of bringer: String, in database: Database) throws -> String {
        let find = try database.prepare("SELECT cursor FROM followed WHERE bringer = ?")
        find.bind(1, bringer)
        return try find.firstRow { $0.string(0) } ?? ""
    }

    static func save(_ cursor: String, of bringer: String, _ turn: Turn) throws {
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO followed VALUES (?, ?)")
        write.bind(1, bringer)
        write.bind(2, cursor)
        try write.run()
    }
}
