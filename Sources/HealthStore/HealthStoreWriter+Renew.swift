import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Gives this user's rows of a window new versions; nothing else in them changes.
    /// - Parameter limit: the maximum number of rows.
    /// - Returns: how many.
    package func renew(_ window: SequenceWindow, limit: Int) throws -> Int {
        try change { user in
            var found: [StoredRow] = []
            _ = try RowWalk(.all, in: database, blocks).run(window, wants: { owner, _ in owner == user }) { walked, _ in
                if walked.user == user { found.append(walked.row) }
                return found.count < limit
            }
            for old in found {
                var row = old
                try rewrite(&row, was: old, user: user)
            }
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
            var (scanned, reached) = (0, window.after)
            let isComplete = try RowWalk(.all, in: database, blocks).run(
                window, wants: { owner, type in owner == user && types.contains(type) }
            ) { walked, _ in
                let row = walked.row
                (scanned, reached) = (scanned + 1, row.sequence)
                if walked.user == user, row.state == .alive, types.contains(row.type), wanted.contains(row.origin) {
                    found.append(row)
                }
                return scanned < limit
            }
            for old in found {
                var row = old
                try rewrite(&row, was: old, user: user)
            }
            return (found.count, isComplete ? window.through : reached)
        }
    }

    private func ids(_ query: String, where wanted: (String) -> Bool) throws -> Set<Int> {
        var ids: Set<Int> = []
        try database.prepare(query).forEachRow { if wanted($0.string(1)) { ids.insert($0.int(0)) } }
        return ids
    }
}
