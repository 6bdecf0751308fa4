import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Gives this user's rows of a window new versions; nothing else in them changes.
    /// - Parameter limit: the maximum number of rows.
    /// - Returns: how many.
    package func renew(_ window: SequenceWindow, limit: Int) throws -> Int {
        try change { user in
            var found: [StoredRow] = []
            _ = try walk(window, limit: .max, user: user) { row, _ in
                found.append(row)
                return found.count < limit
            }
            for row in found { try rewrite(row, user: user) }
            return found.count
        }
    }
}

extension HealthStoreWriter {
    /// Gives this user's living samples new versions, so that whoever reads them looks again.
    /// - Parameters:
    ///   - names: the names of sources; nil for all sources.
    ///   - type: HealthKit's identifier, which stands for statistics of the type too; nil for all types.
    ///   - limit: how many rows to examine.
    /// - Returns: how many, and the sequence through which rows were examined.
    package func renew(
        _ window: SequenceWindow, ofSources names: Set<String>?, type: String?, limit: Int
    ) throws -> (renewed: Int, through: SequenceNumber) {
        try change { user in
            let wanted = try ids("SELECT id, source FROM origins") { names?.contains($0) ?? true }
            let types = try ids("SELECT id, name FROM types") { name in
                type == nil || type == name || type == HealthType.base(ofStatistics: name)
            }
            var found: [StoredRow] = []
            let step = try walk(window, limit: limit, user: user, wants: types.contains) { row, _ in
                if row.state == .alive, wanted.contains(row.origin) { found.append(row) }
                return true
            }
            for row in found { try rewrite(row, user: user) }
            return (found.count, step.reached)
        }
    }

    private func ids(_ query: String, where wanted: (String) -> Bool) throws -> Set<Int> {
        Set(
            try database.prepare(query).rows { (id: $0.int(0), name: $0.string(1)) }.filter { wanted($0.name) }.map(
                \.id))
    }
}
