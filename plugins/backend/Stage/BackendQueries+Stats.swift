import HealthModel
import SQLite

extension BackendQueries {
    /// What is stored, for all users or for one, and the outcomes of requests since the database was created.
    /// - Parameter audit: whether acceptances are counted.
    func holdings(of name: String?, audit: Bool) throws -> BackendHoldings {
        // No user has the id -1, so an unknown user holds nothing.
        let user = try name.map { try texts.existing($0) ?? -1 }
        let filter = user.map { " WHERE user = \($0)" } ?? ""
        var holdings = BackendHoldings()
        try database.prepare(
            "SELECT coalesce(text, ''), sum(alive), sum(deleted) FROM tallies LEFT JOIN texts ON texts.id = type\(filter) GROUP BY 1 ORDER BY 1"
        ).forEachRow { row in
            guard row.int64(1) != 0 || row.int64(2) != 0 else { return }
            holdings.types.append((row.string(0), BackendHoldings.Count(alive: row.int64(1), deleted: row.int64(2))))
        }
        try database.prepare(
            "SELECT kind, deleted, count(*) FROM documents\(filter) GROUP BY user, kind, deleted"
        ).forEachRow { row in
            guard let kind = DocumentKind(rawValue: row.int64(0)) else { return }
            if row.int64(1) == 0 {
                holdings.documents[kind, default: .init()].alive += row.int64(2)
            } else {
                holdings.documents[kind, default: .init()].deleted += row.int64(2)
            }
        }
        try database.prepare("SELECT name, count FROM counters").forEachRow { row in
            holdings.counters[row.string(0)] = row.int64(1)
        }
        if audit {
            let twice = try database.prepare("SELECT count(*) FROM accepted WHERE count > 1").firstRow { $0.int64(0) }
            holdings.acceptedTwice = twice ?? 0
        }
        return holdings
    }
}
