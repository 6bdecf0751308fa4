import HealthModel

/// What a trial run would have stored of records that come twice: exports repeat the parts of correlations as top-level
/// records, and whichever comes second is the sample that the first one made.
///
/// Only types that correlations are made of are kept, and no more than `limit` rows: about 70 bytes each. Beyond that a
/// part without a stored row counts as known.
struct TriedRows {
    private static let limit = 250_000
    /// Larger than any sequence of a store, which are microseconds since 1970.
    private static let firstSequence: Int64 = 1 << 62

    private struct Row {
        var value: Double
        var unit: Int32
        var state: SampleState
        /// Its place among the new rows; nil for a row of the store.
        var number: Int32?
    }

    private var rows: [SampleID: Row] = [:]
    private var newRows: Int32 = 0

    var isFull: Bool { rows.count >= Self.limit }

    /// Keeps how a record's new row would be.
    /// - Returns: the row, which no other row's claims touch.
    mutating func add(_ record: IncomingRecord, as id: SampleID, type: Int, state: SampleState) -> StoredRow {
        let kept = Row(value: record.value, unit: Int32(record.unit), state: state, number: newRows)
        rows[id] = kept
        newRows += 1
        return Self.row(kept, record, id, type: type)
    }

    /// Keeps how a row of the store would be after a change.
    mutating func change(_ row: StoredRow) {
        let number = rows[row.id]?.number
        guard rows[row.id] != nil || !isFull else { return }
        rows[row.id] = Row(value: row.value, unit: Int32(row.unit), state: row.state, number: number)
    }

    /// A row of the store as it would be by now.
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
        var row = StoredRow()
        row.sequence = SequenceNumber(firstSequence + Int64(kept.number ?? 0))
        row.born = row.sequence
        row.type = type
        row.state = kept.state
        row.second = record.second
        row.startRemainder = record.start &- record.second &* Instant.microsecondsPerSecond
        row.duration = record.end &- record.start
        (row.value, row.unit, row.origin) = (kept.value, Int(kept.unit), BatchIngest.unknown)
        row.id = id
        return row
    }
}
