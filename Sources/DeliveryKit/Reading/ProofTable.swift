import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// What the last comparison element by element found, a person at a time.
enum ProofTable {
    static func create(in database: Database) throws {
        try database.execute(
            "CREATE TABLE IF NOT EXISTS proofs(number INTEGER PRIMARY KEY, user TEXT NOT NULL, report TEXT NOT NULL)")
    }

    static func keep(_ users: [VerifyReport.User], in database: Database) throws {
        try database.execute("DELETE FROM proofs")
        let insert = try database.prepare("INSERT INTO proofs(user, report) VALUES (?, ?)")
        for user in users {
            try insert.with(user.name, user.value.json()).run()
        }
    }

    /// - Returns: the reports after a number, and the number of the last one if there are more.
    static func page(in database: Database, after: Int64, limit: Int) throws -> ProofPage {
        let rows = try database.prepare("SELECT number, report FROM proofs WHERE number > ? ORDER BY number LIMIT ?")
            .with(after, limit).rows { ($0.int64(0), try Value(json: $0.bytes(1))) }
        var page = ProofPage(users: rows.map(\.1))
        if rows.count == limit { page.continue = rows.last?.0 ?? 0 }
        return page
    }
}

extension Refusal {
    /// What became of a person's element; nil if it wasn't refused.
    static func find(user: String, id: String, in database: Database) throws -> Refusal? {
        let letters = try database.prepare("SELECT 1 FROM dead_letters WHERE user = ? AND id = ?")
        if try letters.with(user, id).hasRow() { return .deadLetter }
        return try database.prepare("SELECT max(version) FROM dropped_letters WHERE user = ? AND id = ?")
            .with(user, id).firstNumber().map { .dropped(version: $0) }
    }
}
