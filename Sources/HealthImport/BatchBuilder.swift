import HealthModel

/// A row that isn't in its batch yet: its metadata and payload come from its nested elements.
struct StagedRow {
    /// Index into `Interning.kinds`.
    var kind: Int32 = 0
    /// The number of the origin in `Interning`.
    var origin: Int32 = 0
    var start = Instant.epoch
    var end = Instant.epoch
    var value: Double = .nan
    var created: Int64 = 0
    var line: Int64 = 0
    var flags: RecordFlags = []
}

/// Collects rows and turns them into batches: stored as rows while they arrive, converted to columns when a batch is
/// full.
struct BatchBuilder: ~Copyable {
    static let rowLimit = 4096
    static let textLimit = 1 << 20
    /// The maximum length of a row's text: a longer row can't be sent, since a message frame holds 1 MiB.
    static let rowTextLimit = 512 << 10
    static let rowTooLarge = "the record holds more than 512 KiB of text"

    private let rows: UnsafeMutablePointer<StagedRow>
    private let metadataEnds: UnsafeMutablePointer<Int32>
    private let payloadEnds: UnsafeMutablePointer<Int32>
    private(set) var count = 0
    private var metadata = ByteBuffer()
    private var payload = ByteBuffer()
    private var pieceEnds: [PieceEnd] = []

    init() {
        rows = .allocate(capacity: Self.rowLimit)
        metadataEnds = .allocate(capacity: Self.rowLimit)
        payloadEnds = .allocate(capacity: Self.rowLimit)
    }

    deinit {
        rows.deallocate()
        metadataEnds.deallocate()
        payloadEnds.deallocate()
    }

    var isFull: Bool { count == Self.rowLimit || metadata.count + payload.count >= Self.textLimit }

    mutating func append(_ row: StagedRow, _ metadataText: borrowing MetadataText, _ payloadBytes: [UInt8]) {
        rows[count] = row
        metadataText.finish(into: &metadata)
        metadataEnds[count] = Int32(metadata.count)
        if !payloadBytes.isEmpty { payload.append(payloadBytes) }
        payloadEnds[count] = Int32(payload.count)
        count += 1
    }

    /// Marks the end of a piece of the export.
    mutating func endPiece(_ hash: PieceHash?) { pieceEnds.append(PieceEnd(rows: count, hash: hash)) }

    /// Returns the rows so far as a batch; the next one starts empty.
    mutating func take(_ names: inout Interning) -> RecordBatch {
        var batch = RecordBatch()
        names.beginBatch()
        batch.type = column { names.typeSlot(of: $0.kind, &batch) }
        batch.unit = column { names.unitSlot(of: $0.kind, &batch) }
        batch.origin = column { names.originSlot(of: $0.origin, &batch) }
        batch.start = column { $0.start.microseconds }
        batch.end = column { $0.end.microseconds }
        batch.value = column { $0.value }
        batch.created = column { $0.created }
        batch.flags = column { $0.flags }
        batch.line = column { $0.line }
        batch.metadata = TextColumn(
            bytes: Array(metadata.bytes), ends: Array(UnsafeBufferPointer(start: metadataEnds, count: count)))
        batch.payload = TextColumn(
            bytes: Array(payload.bytes), ends: Array(UnsafeBufferPointer(start: payloadEnds, count: count)))
        batch.pieceEnds = pieceEnds
        pieceEnds.removeAll(keepingCapacity: true)
        count = 0
        metadata.removeAll()
        payload.removeAll()
        return batch
    }

    private func column<Element>(_ element: (StagedRow) -> Element) -> [Element] {
        Array(unsafeUninitializedCapacity: count) { buffer, filled in
            for row in 0..<count { buffer.initializeElement(at: row, to: element(rows[row])) }
            filled = count
        }
    }
}
