import HealthModel

/// New rows of one type that will go into a block; they have consecutive sequences and aren't written yet.
struct PendingBlock {
    private(set) var rows: ContiguousArray<StoredRow> = []
    private(set) var metadata = BlockTexts()
    private(set) var payload = BlockTexts()
    private var inSecond = 0

    static let rowLimit = 4096
    /// In seconds. No block covers a longer time than this, so that the blocks covering a given time can be found by
    /// when they begin.
    static let span: Int64 = 32 * 86_400
    private static let textLimit = 1 << 19
    /// If more rows than this start in one second, they don't all go into one block, where they would have to be
    /// searched one by one for an id.
    private static let crowd = 256

    var isEmpty: Bool { rows.isEmpty }

    /// Whether a row may be in a block at all.
    static func suits(_ row: StoredRow) -> Bool {
        row.state == .alive && (0...HealthStoreSchema.longDuration).contains(row.duration)
            && SampleTimes.mayStart(Instant(microseconds: row.start))
    }

    /// Whether the row can follow those already here.
    func hasRoom(for row: StoredRow) -> Bool {
        guard let first = rows.first, let last = rows.last else { return true }
        return row.sequence == last.sequence.next && row.type == last.type && row.second >= last.second
            && row.second - first.second < Self.span && rows.count < Self.rowLimit
            && metadata.bytes.count + payload.bytes.count < Self.textLimit
            && (row.second > last.second || inSecond < Self.crowd)
    }

    mutating func append(_ row: StoredRow, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) {
        inSecond = row.second == rows.last?.second ? inSecond + 1 : 1
        rows.append(row)
        self.metadata.append(metadata)
        self.payload.append(payload)
    }

    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        metadata.removeAll()
        payload.removeAll()
        inSecond = 0
    }
}
