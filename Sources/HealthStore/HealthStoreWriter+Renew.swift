import HealthModel

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
