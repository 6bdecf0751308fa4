import HealthModel

/// The place of a block: the columns of its row in the table, other than the content.
struct BlockPlace: Hashable {
    /// The first and last sequence of the block's rows; there are no gaps in between.
    var first: Int64
    var last: Int64
    var user: Int
    var type: Int
    /// The first and last second in which the block's rows start.
    var firstSecond: Int64
    var lastSecond: Int64

    var count: Int { Int(last - first) + 1 }
}

/// Consecutive samples of one user and type, in columns. A block never changes: a row that changes moves to the table
/// of rows, or to a new block together with others.
///
/// The rows weren't deleted when they arrived. They last no longer than `HealthStoreSchema.longDuration`, have
/// consecutive sequences, and are ordered by the second in which they start.
final class SampleBlock {
    let place: BlockPlace
    let second: [Int64]
    /// The time from `second` to the start, in µs.
    let startRemainder: [Int64]
    /// µs.
    let duration: [Int64]
    let value: [Double]
    let origin: [Int64]
    let unit: [Int64]
    let flags: [Int64]
    let created: [Int64]
    let id: [SampleID]
    /// Empty if no row has a UUID.
    let uuid: [SampleID]
    let metadata: BlockTexts
    let payload: BlockTexts
    /// How many sequences ago each row was first stored; empty if all are as they were first stored.
    private let age: [Int64]

    /// - Throws: `BlockDamage` for content that no writer could have written.
    init(_ place: BlockPlace, content: UnsafeRawBufferPointer) throws(BlockDamage) {
        self.place = place
        let count = place.count
        var reader = ByteReader(content)
        let version = try reader.byte()
        guard BlockContent.versions.contains(version) else { throw BlockDamage() }
        second = try NumberColumn.decode(count, from: &reader)
        startRemainder = try NumberColumn.decode(count, from: &reader)
        duration = try NumberColumn.decode(count, from: &reader)
        value = try BlockContent.values(count, from: &reader)
        origin = try NumberColumn.decode(count, from: &reader)
        unit = try NumberColumn.decode(count, from: &reader)
        flags = try NumberColumn.decode(count, from: &reader)
        created = try BlockContent.created(second, startRemainder, duration, from: &reader)
        id = try BlockContent.ids(second, from: &reader)
        uuid = try BlockContent.uuids(count, from: &reader)
        metadata = try BlockTexts(count, from: &reader)
        payload = try BlockTexts(count, from: &reader)
        age = version > BlockContent.versions.lowerBound ? try NumberColumn.decode(count, from: &reader) : []
        guard age.allSatisfy({ (0..<place.last).contains($0) }), reader.isAtEnd else { throw BlockDamage() }
    }

    /// Approximate size in memory.
    var byteCount: Int { second.count * 112 + metadata.bytes.count + payload.bytes.count }

    /// Microseconds since 1970.
    func start(_ row: Int) -> Int64 { second[row] &* Instant.microsecondsPerSecond &+ startRemainder[row] }

    func row(_ index: Int) -> StoredRow {
        var row = StoredRow()
        row.sequence = SequenceNumber(place.first + Int64(index))
        row.born = age.isEmpty ? row.sequence : SequenceNumber(row.sequence.value - age[index])
        row.type = place.type
        row.second = second[index]
        row.startRemainder = startRemainder[index]
        row.duration = duration[index]
        row.value = value[index]
        row.unit = Int(unit[index])
        row.origin = Int(origin[index])
        row.flags = UInt8(truncatingIfNeeded: flags[index])
        row.id = id[index]
        row.created = created[index]
        if !uuid.isEmpty, uuid[index] != BlockContent.noUUID { row.uuid = uuid[index] }
        row.hasPayload = !payload.isEmpty(index)
        row.isSealed = true
        return row
    }

    /// The first row that starts in the given second or later; `count` when none does.
    func firstRow(from second: Int64) -> Int {
        self.second.firstPlace(behind: { $0 < second })
    }
}
