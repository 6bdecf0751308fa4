import HealthModel

// Rows with the same key are siblings: their ids differ only by their ordinals, so which of them has which id depends
// on the order in which a store received them. A UUID decides which sample is meant.
extension HealthStoreWriter {
    /// Whether two rows of one type have the same key.
    func areSiblings(_ a: StoredRow, _ b: StoredRow) throws -> Bool {
        guard a.sequence != b.sequence, a.second == b.second,
            Instant(microseconds: a.end).flooredSecond == Instant(microseconds: b.end).flooredSecond
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
        try flushPending(user: user)
        let prefix = SampleKeyPrefix(
            user: self.user, type: try types.name(row.type), sourceName: try key(of: row))
        let end = Instant(microseconds: row.end).flooredSecond
        for ordinal in 0... {
            let id = SampleID(prefix, startSecond: row.second, endSecond: end, ordinal: ordinal)
            guard try self.row(user: user, type: row.type, second: row.second, id: id) == nil else { continue }
            _ = try move(row, to: id, user: user)
            return
        }
    }

    /// The name by which a row's source is identified.
    private func key(of row: StoredRow) throws -> String {
        try names.known(of: users.id(user)).key(origins.origin(row.origin).sourceName)
    }

    private func move(_ old: StoredRow, to id: SampleID, user: Int) throws -> StoredRow {
        var row = old
        row.id = id
        try rewrite(&row, was: old, user: user)
        try rename(old.id, to: id, user: user)
        return row
    }
}
