import HealthModel

/// What a trial run would have stored for records that occur twice: exports repeat the parts of correlations as
/// top-level records, and whichever comes second belongs to the sample that the first one made.
///
/// Only rows of types that may be parts of correlations are kept, at most `limit` rows of about 70 bytes each. Beyond
/// that limit, a part without a stored row counts as known.
struct TriedRows {
    private static let limit = 250_000
    /// Larger than any sequence of a store, since those are derived from milliseconds since 1970.
    private static let firstSequence: Int64 = 1 << 62

    private struct Row {
        var value: Double
        var unit: Int32
        var state: SampleState
        /// The row's number among the new rows; nil for a row of the store.
        var number: Int32?
    }

    private var rows: [SampleID: Row] = [:]
    private var newRows: Int32 = 0

    var isFull: Bool { rows.count >= Self.limit }

    /// Remembers the new row that a record would make.
    /// - Returns: the row; its claims can't conflict with those of any other row.
    mutating func add(_ record: IncomingRecord, as id: SampleID, type: Int, state: SampleState) -> StoredRow {
        let kept = Row(value: record.value, unit: Int32(record.unit), state: state, number: newRows)
        rows[id] = kept
        newRows += 1
        return Self.row(kept, record, id, type: type)
    }

    /// Remembers what a row in the store would become after a change.
    mutating func change(_ row: StoredRow) {
        let number = rows[row.id]?.number
        guard rows[row.id] != nil || !isFull else { return }
        rows[row.id] = Row(value: row.value, unit: Int32(row.unit), state: row.state, number: number)
    }

    /// A row of the store as it would now be.
    func current(_ row: StoredRow) -> StoredRow {
        guard let kept = rows[row.id] else { return row }
        var row = row
        (row.value, row.unit, row.state) = (kept.value, Int(kept.unit), kept.state)
        return row
    }

    /// The new row with a record's key; nil if there is none.
    func new(_ record: IncomingRecord, as id: SampleID, type: Int) -> StoredRow? {
        guard let kept = rows[id], kept.number != nil else { return nil }
        return Self.row(kept, record, id, type: type)
    }

    private static func row(_ kept: Row, _ record: IncomingRecord, _ id: SampleID, type: Int) -> StoredRow {
        var row = record.row(id, type: type)
        row.sequence = SequenceNumber(firstSequence + Int64(kept.number ?? 0))
        row.born = row.sequence
        (row.state, row.value, row.unit, row.origin) = (kept.state, kept.value, Int(kept.unit), BatchIngest.unknown)
        return row
    }
}
