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
            insert.bind(1, user.name)
            insert.bind(2, user.value.json())
            try insert.run()
        }
    }

    /// - Returns: the reports after a number, and the number of the last one if there are more.
    static func page(in database: Database, after: Int64, limit: Int) throws -> ProofPage {
        let query = try database.prepare("SELECT number, report FROM proofs WHERE number > ? ORDER BY number LIMIT ?")
        query.bind(1, after)
        query.bind(2, limit)
        var page = ProofPage(users: [])
        var last: Int64 = 0
        try query.forEachRow {
            last = $0.int64(0)
            page.users.append(try Value(json: $0.bytes(1)))
        }
        if page.users.count == limit { page.continue = last }
        return page
    }
}

extension DeliveryLedger {
    func keep(_ report: VerifyReport, _ turn: Turn) throws {
        try ProofTable.keep(report.users, in: turn.write().database)
    }
}

extension Refusal {
    /// What became of a person's element; nil if it wasn't refused.
    static func find(user: String, id: String, in database: Database) throws -> Refusal? {
        let letters = try database.prepare("SELECT 1 FROM dead_letters WHERE user = ? AND id = ?")
        letters.bind(1, user)
        letters.bind(2, id)
        if try letters.firstRow({ _ in true }) == true { return .deadLetter }
        let dropped = try database.prepare("SELECT max(version) FROM dropped_letters WHERE user = ? AND id = ?")
        dropped.bind(1, user)
        dropped.bind(2, id)
        return try dropped.firstRow { $0.isNull(0) ? nil : $0.int64(0) }?.map { .dropped(version: $0) }
    }
}
