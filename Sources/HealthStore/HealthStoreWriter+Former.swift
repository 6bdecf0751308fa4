import HealthModel

// An export that was made before a sample was changed has its former content, without a UUID. As with a sample that was
// deleted, a tombstone of that content keeps it from being taken for another sample.
extension HealthStoreWriter {
    /// Leaves a tombstone of a content that a sample had; a row that has this content without a UUID becomes it.
    /// - Parameters:
    ///   - sample: the sample, with the content that it had.
    ///   - row: the row with the sample's key and an ordinal, and the id that belongs to them.
    /// - Returns: the tombstone; nil if there is one already.
    func leaveFormer(
        of sample: StoredRow, user: Int, _ row: (Int) throws -> (id: SampleID, row: StoredRow?)
    ) throws -> StoredRow? {
        var ordinal = 0
        while true {
            let (id, found) = try row(ordinal)
            guard let old = found else { return try addFormer(of: sample, as: id, user: user) }
            if old.id != sample.id, old.uuid == nil, old.unit == sample.unit,
                StoredValue.agrees(old.value, sample.value)
            {
                guard old.state == .alive else { return nil }
                return try rewrite(old, user: user) { $0.state = .deleted }
            }
            ordinal += 1
        }
    }

    private func addFormer(of sample: StoredRow, as id: SampleID, user: Int) throws -> StoredRow {
        var row = sample
        (row.id, row.state, row.uuid, row.hasPayload, row.claimedBelow) = (id, .deleted, nil, false, (0, 0))
        (row.metadata, row.created, row.isSealed) = (nil, 0, false)
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try add(&row, metadata: none, payload: none, user: user)
        return row
    }
}
