import HealthModel

// Rows with the same key are siblings: their ids differ only by their ordinals, so which of them has which id depends
// on the order in which a store received them. A UUID decides which sample is meant.
extension HealthStoreWriter {
    /// Whether two rows of one type have the same key.
    func areSiblings(_ a: StoredRow, _ b: StoredRow) throws -> Bool {
        guard a.sequence != b.sequence, a.second == b.second,
            a.endSecond == b.endSecond
        else { return false }
        return try a.origin == b.origin || key(of: a) == key(of: b)
    }

    /// Lets two siblings trade their ids; everything else in them stays as it is.
    /// - Returns: the other row, which now has the row's id.
    func trade(_ row: StoredRow, with other: StoredRow, user: Int) throws -> StoredRow {
        // No two rows may have the same id, even for a moment. No sample's id has these bits.
        let between = try move(row, to: SampleID(high: row.id.high, low: ~row.id.low), user: user)
        let moved = try move(other, to: row.id, user: user)
        _ = try move(between, to: other.id, user: user)
        return moved
    }

    /// Gives a row the first id of its key that no row has.
    func moveAside(_ row: StoredRow, user: Int) throws {
        // Waiting rows aren't found by their ids.
        try rows.flush(user: user)
        let id = try ids(of: row)
        for ordinal in 0... {
            let id = id(ordinal)
            guard try rows.row(user: user, type: row.type, second: row.second, id: id) == nil else { continue }
            _ = try move(row, to: id, user: user)
            return
        }
    }

    /// The ids that rows with a row's key may have, by their ordinals.
    func ids(of row: StoredRow) throws -> (_ ordinal: Int) -> SampleID {
        let prefix = SampleKeyPrefix(user: user, type: try types.name(row.type), sourceName: try key(of: row))
        return { SampleID(prefix, startSecond: row.second, endSecond: row.endSecond, ordinal: $0) }
    }

    /// The name by which a row's source is identified.
    func key(of row: StoredRow) throws -> String {
        try names.known(of: users.id(user)).key(origins.origin(row.origin).sourceName)
    }

    private func move(_ old: StoredRow, to id: SampleID, user: Int) throws -> StoredRow {
        let row = try rewrite(old, user: user) { $0.id = id }
        try quarantined.rename(old.id, to: id, user: user)
        return row
    }
}
