import Changelog
import HealthImport
import HealthModel
import SQLite
import StageKit

/// What is known of the users themselves (`dateOfBirth`): data of the observer's changelog, so that every stage sees the same.
enum CharacteristicsTable {
    static func createTables(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS characteristics(
                user TEXT PRIMARY KEY, seq INTEGER NOT NULL, exported INTEGER NOT NULL, members TEXT NOT NULL) WITHOUT ROWID
            """)
    }

    /// Takes over what an export says of its user. The newest export's word counts, whatever the order in which they come; one that says
    /// nothing changes nothing.
    static func learn(_ info: ExportInfo, user: String, _ turn: Turn) throws {
        guard let birth = info.dateOfBirth else { return }
        let members = Value.object(["dateOfBirth": .string(birth.description)]).json()
        let exported = info.date ?? .min
        let find = try turn.database.prepare("SELECT exported, members, seq FROM characteristics WHERE user = ?")
        find.bind(1, user)
        let known = try find.firstRow { (exported: $0.int64(0), members: $0.string(1), sequence: $0.int64(2)) }
        // Of two exports of one moment the greater counts, so that the order in which they come doesn't.
        if let known, (known.exported, known.members) >= (exported, members) { return }
        let stage = try turn.write()
        let write = try stage.database.prepare("INSERT OR REPLACE INTO characteristics VALUES (?, ?, ?, ?)")
        write.bind(1, user)
        write.bind(2, known?.members == members ? known?.sequence ?? 0 : stage.nextSequence())
        write.bind(3, exported)
        write.bind(4, members)
        try write.run()
    }

    /// What changed in a window, and what is known of `users`; by user.
    static func read(_ database: Database, after: Int64, through: Int64, users: Set<String>) throws -> Value {
        var byUser: [String: Value] = [:]
        try database.prepare("SELECT user, seq, members FROM characteristics").forEachRow { row in
            let sequence = row.int64(1)
            guard users.contains(row.string(0)) || (sequence > after && sequence <= through) else { return }
            byUser[row.string(0)] = try Value(json: row.bytes(2))
        }
        return .object(byUser)
    }
}
