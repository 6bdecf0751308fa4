import HealthModel

/// A row before it is whole: its metadata and payload come with the elements inside.
struct StagedRow {
    /// Index into `BatchBuilder.kinds`.
    var kind: Int = 0
    var start: Instant = 0
    var end: Instant = 0
    var value: Double = .nan
    /// Number of the origin in `BatchBuilder`.
    var origin: Int = 0
    var created: Int64 = 0
    var flags: RecordFlags = []
    var line: Int64 = 0
}

/// Fills batches; strings are made once for each type, unit and origin of the whole input, not once a row.
struct BatchBuilder {
    static let rowLimit = 4096
    static let textLimit = 1 << 20
    /// More different origins than this are thrown away at the next batch: no input fills the memory with names.
    private static let internLimit = 8192

    /// What a pair of type and unit means.
    struct Kind {
        let type: HealthType
        let isKnown: Bool
        /// Unit of the values after conversion.
        let unit: String
        let scale: Double
        let offset: Double
        fileprivate var typeSlot: Int32 = -1
        fileprivate var unitSlot: Int32 = -1
        fileprivate var batchNumber = 0
    }

    private(set) var kinds: [Kind] = []
    private(set) var batch = RecordBatch()
    private var kindKeys = ByteInterner()
    private var originKeys = ByteInterner()
    private var origins: [Origin] = []
    private var originSlots: [Int32] = []
    private var originBatch: [Int] = []
    private var batchNumber = 1
    // The dictionaries of the batch, the other way round: different keys of the input may mean one origin (a device's address differs).
    private var typeSlots: [String: Int32] = [:]
    private var unitSlots: [String: Int32] = [:]
    private var batchOrigins: [Origin: Int32] = [:]
    private var scratch: [UInt8] = []

    var isFull: Bool {
        batch.count >= Self.rowLimit || batch.metadata.bytes.count + batch.payload.bytes.count >= Self.textLimit
    }

    mutating func kind(type: UnsafeBufferPointer<UInt8>, unit: UnsafeBufferPointer<UInt8>?) -> Int {
        scratch.removeAll(keepingCapacity: true)
        scratch.append(contentsOf: type)
        // No attribute holds a zero byte, so it separates.
        scratch.append(0)
        if let unit { scratch.append(contentsOf: unit) }
        let (number, isNew) = scratch.withUnsafeBufferPointer { kindKeys.number(of: $0) }
        if isNew {
            kinds.append(
                Self.makeKind(
                    String(decoding: type, as: UTF8.self), unit.map { String(decoding: $0, as: UTF8.self) } ?? ""))
        }
        return number
    }

    private static func makeKind(_ name: String, _ unit: String) -> Kind {
        let known = HealthType.known(name)
        let type = known ?? HealthType.named(name)
        if let known, let (scale, offset) = UnitConversion.toCanonical(unit: unit, for: known) {
            return Kind(type: type, isKnown: true, unit: known.unit, scale: scale, offset: offset)
        }
        // A category has no unit, even where iOS 9 printed an empty one; a quantity without unit is taken as canonical.
        let kept = unit.isEmpty ? type.unit : unit
        return Kind(type: type, isKnown: known != nil, unit: kept, scale: 1, offset: 0)
    }

    mutating func origin(
        name: UnsafeBufferPointer<UInt8>?, version: UnsafeBufferPointer<UInt8>?, device: UnsafeBufferPointer<UInt8>?
    ) -> Int {
        scratch.removeAll(keepingCapacity: true)
        if let name { scratch.append(contentsOf: name) }
        scratch.append(0)
        if let version { scratch.append(contentsOf: version) }
        scratch.append(0)
        if let device { scratch.append(contentsOf: device) }
        let (number, isNew) = scratch.withUnsafeBufferPointer { originKeys.number(of: $0) }
        if isNew {
            func text(_ bytes: UnsafeBufferPointer<UInt8>?) -> String {
                bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
            }
            origins.append(
                Origin(sourceName: text(name), sourceVersion: text(version), device: DeviceText.stripped(text(device))))
            originSlots.append(-1)
            originBatch.append(0)
        }
        return number
    }

    func sourceName(_ row: StagedRow) -> String { origins[row.origin].sourceName }

    mutating func append(_ row: StagedRow, metadata: inout MetadataText, payload: [UInt8]) {
        if kinds[row.kind].batchNumber != batchNumber { enter(kind: row.kind) }
        if originBatch[row.origin] != batchNumber { enter(origin: row.origin) }
        batch.type.append(kinds[row.kind].typeSlot)
        batch.unit.append(kinds[row.kind].unitSlot)
        batch.origin.append(originSlots[row.origin])
        batch.start.append(row.start)
        batch.end.append(row.end)
        batch.value.append(row.value)
        batch.created.append(row.created)
        batch.flags.append(row.flags)
        batch.line.append(row.line)
        metadata.finish(into: &batch.metadata)
        if payload.isEmpty { batch.payload.appendEmpty() } else { batch.payload.append(bytes: payload) }
    }

    private mutating func enter(kind: Int) {
        kinds[kind].batchNumber = batchNumber
        kinds[kind].typeSlot = Self.slot(of: kinds[kind].type.identifier, in: &batch.types, &typeSlots)
        kinds[kind].unitSlot = Self.slot(of: kinds[kind].unit, in: &batch.units, &unitSlots)
    }

    private mutating func enter(origin: Int) {
        originBatch[origin] = batchNumber
        originSlots[origin] = Self.slot(of: origins[origin], in: &batch.origins, &batchOrigins)
    }

    private static func slot<Entry: Hashable>(
        of entry: Entry, in list: inout [Entry], _ slots: inout [Entry: Int32]
    ) -> Int32 {
        if let slot = slots[entry] { return slot }
        let slot = Int32(list.count)
        slots[entry] = slot
        list.append(entry)
        return slot
    }

    /// The rows so far; the next batch begins empty.
    mutating func take() -> RecordBatch {
        let full = batch
        batch = RecordBatch()
        reserve()
        batchNumber += 1
        typeSlots.removeAll(keepingCapacity: true)
        unitSlots.removeAll(keepingCapacity: true)
        batchOrigins.removeAll(keepingCapacity: true)
        return full
    }

    /// No rows may be staged: their numbers end here.
    mutating func forgetIfLarge() {
        guard kinds.count + origins.count > Self.internLimit else { return }
        kinds.removeAll()
        origins.removeAll()
        originSlots.removeAll()
        originBatch.removeAll()
        kindKeys = ByteInterner()
        originKeys = ByteInterner()
    }

    private mutating func reserve() {
        batch.type.reserveCapacity(Self.rowLimit)
        batch.unit.reserveCapacity(Self.rowLimit)
        batch.origin.reserveCapacity(Self.rowLimit)
        batch.start.reserveCapacity(Self.rowLimit)
        batch.end.reserveCapacity(Self.rowLimit)
        batch.value.reserveCapacity(Self.rowLimit)
        batch.created.reserveCapacity(Self.rowLimit)
        batch.flags.reserveCapacity(Self.rowLimit)
        batch.line.reserveCapacity(Self.rowLimit)
        batch.metadata.ends.reserveCapacity(Self.rowLimit)
        batch.payload.ends.reserveCapacity(Self.rowLimit)
    }
}
