import HealthModel
import SQLite

/// A row of `samples` as the writer handles it, without its metadata and payload.
struct StoredRow {
    var sequence = SequenceNumber.beginning
    /// The sequence under which the row was first stored.
    var born = SequenceNumber.beginning
    var type = 0
    var state = SampleState.alive
    /// The start, rounded down to seconds.
    var second: Int64 = 0
    /// The time from `second` to the start, in µs.
    var startRemainder: Int64 = 0
    /// µs.
    var duration: Int64 = 0
    var value = Double.nan
    var unit = 0
    var origin = 0
    var flags: UInt8 = 0
    var id = SampleID(high: 0, low: 0)
    var created: Int64 = 0
    var uuid: SampleID?
    /// The position of the metadata in the window's text; nil if it still has to be read.
    var metadata: Range<Int>?
    var hasPayload = false
    /// Whether the row is in a block, or will be.
    var isSealed = false
    /// Two ordinals, one for top-level records and one for children: all of the key's lower ones are known to be claimed.
    /// Stored in the row with ordinal 0.
    var claimedBelow = (0, 0)

    /// A flag of rows whose sample has another id now, because its source was renamed: only the tombstone remains.
    static let moved: UInt8 = 64
    /// Whether all that is known of the sample comes from senders that round; see `RecordFlags.coarse`.
    var isCoarse: Bool { flags & RecordFlags.coarse.rawValue != 0 }
    /// Whether it has a UUID that came with its value.
    var hasOwnUUID: Bool { uuid != nil && flags & RecordFlags.lent.rawValue == 0 }
    var isMoved: Bool { flags & Self.moved != 0 }

    // Microseconds since 1970. The arithmetic wraps around, so that a hostile row with extreme times is quarantined
    // instead of crashing the process.
    var start: Int64 { second &* Instant.microsecondsPerSecond &+ startRemainder }
    var end: Int64 { start &+ duration }
    var endSecond: Int64 { Instant(microseconds: end).flooredSecond }
    /// The time until which the sample counts.
    var countedEnd: Int64 { SampleTimes.countedEnd(start: start, duration: duration) }

    /// The same as an SQL expression, for durations that aren't negative.
    static let countedEndSQL =
        "(second * 1000000 + start_us + CASE WHEN duration > \(SampleTimes.longest) THEN 0 ELSE duration END)"

    static let columns = """
        seq, type, state, second, start_us, duration, value, unit, origin, flags, id, created, uuid, metadata, payload IS NOT NULL, born
        """
    static let metadataColumn = 13
    static let columnCount = 16

    init() {}

    /// Reads `columns`.
    init(_ row: Statement) {
        sequence = SequenceNumber(row.int64(0))
        type = row.int(1)
        state = SampleState(rawValue: UInt8(truncatingIfNeeded: row.int64(2))) ?? .quarantined
        second = row.int64(3)
        startRemainder = row.int64(4)
        duration = row.int64(5)
        value = row.isNull(6) ? .nan : row.double(6)
        unit = row.int(7)
        origin = row.int(8)
        flags = UInt8(truncatingIfNeeded: row.int64(9))
        id = row.sampleID(10) ?? SampleID(high: 0, low: 0)
        created = row.int64(11)
        uuid = row.sampleID(12)
        hasPayload = row.int64(14) != 0
        let first = SequenceNumber(row.int64(15))
        born = first == .beginning ? sequence : first
    }
}

extension SampleID: Bindable {
    package func bind(to statement: Statement, _ index: Int) { statement.bind(index, self) }
}

extension Statement {
    /// The 16 bytes of an id; nil when the column is NULL.
    func sampleID(_ column: Int) -> SampleID? {
        withBytes(column) { bytes in
            guard bytes.count == 16 else { return nil }
            return SampleID(
                high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    func bind(_ index: Int, _ id: SampleID) {
        withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bind(index, blob: $0) }
    }

    func bind(_ index: Int, _ id: SampleID?) {
        if let id { bind(index, id) } else { bindNull(index) }
    }

    /// SQLite has no NaN, so it is stored as NULL.
    func bindNumber(_ index: Int, _ value: Double) {
        if value.isNaN { bindNull(index) } else { bind(index, value) }
    }
}
