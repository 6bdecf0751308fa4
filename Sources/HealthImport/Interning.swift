import HealthModel

/// Types, units and origins of the whole input. Their strings are made once each, not once per row.
struct Interning: ~Copyable {
    /// If there are more of them than this limit, or they take up too many bytes, all are discarded after a batch, so
    /// that no input can fill the memory with names.
    private static let limit = 8192
    private static let byteLimit = 4 << 20
    /// A longer name can't be a type, because it would become a topic on the bus, where libzmq allows 245 bytes.
    private static let longestType = 200
    private static let longestUnit = 100

    /// What a type and a unit together mean for a value.
    struct Kind {
        let factors: UnitFactors
        let isCategory: Bool
        let isQuantity: Bool
        /// Whether the type is in the table; if it is a quantity, its values must then be numbers.
        let isKnown: Bool
        let flaw: Flaw?

        var problem: String? { flaw?.rawValue }
    }

    /// Why no sample with this type and unit can be understood.
    enum Flaw: String {
        case otherUnit = "its unit isn't one for its type"
        case noUnit = "there is no unit"
        case longType = "the type's name is longer than 200 bytes"
        case longUnit = "the unit is longer than 100 bytes"
    }

    private(set) var kinds: [Kind] = []
    /// For each kind, the type's identifier and the unit of its values after conversion.
    private var types: [String] = []
    private var units: [String] = []
    private var origins: [Origin] = []
    private var kindKeys = ByteInterner()
    private var originKeys = ByteInterner()
    private var scratch = ByteBuffer()
    /// The total length of all keys, in bytes.
    private var bytes = 0

    // Their positions in the batch's own lists; −1 for those that aren't there.
    private var typeSlots: [Int32] = []
    private var unitSlots: [Int32] = []
    private var originSlots: [Int32] = []
    // Different keys in the input may mean the same thing (a device's address differs); a batch lists it only once.
    private var slotByType: [String: Int32] = [:]
    private var slotByUnit: [String: Int32] = [:]
    private var slotByOrigin: [Origin: Int32] = [:]

    func type(_ row: StagedRow) -> String { types[Int(row.kind)] }
    func unit(_ row: StagedRow) -> String { units[Int(row.kind)] }
    func sourceName(_ row: StagedRow) -> String { origins[Int(row.origin)].sourceName }

    mutating func kind(type: UnsafeBufferPointer<UInt8>, unit: UnsafeBufferPointer<UInt8>?) -> Int32 {
        scratch.removeAll()
        scratch.append(type)
        // No attribute contains a zero byte, so it serves as a separator.
        scratch.append(0)
        if let unit { scratch.append(unit) }
        let (number, isNew) = kindKeys.number(of: scratch.bytes)
        if isNew {
            bytes += scratch.count
            addKind(Self.text(type), Self.text(unit))
        }
        return Int32(number)
    }

    private mutating func addKind(_ name: String, _ unit: String) {
        let known = HealthType.known(name)
        let type = known ?? HealthType.named(name)
        var kept = unit.isEmpty ? type.unit : unit
        var factors = UnitFactors.identity
        var flaw = Self.flaw(name, unit)
        // A category has no unit, even though iOS 9 printed an empty one; for an unknown type, any unit is kept.
        if let known, let found = UnitConversion.toCanonical(unit: unit, for: known) {
            kept = known.unit
            factors = UnitFactors(scale: found.scale, offset: found.offset)
        } else if let known, known.kind == .quantity {
            // Without a unit, only a plain number can be taken as it is.
            if !unit.isEmpty { flaw = flaw ?? .otherUnit }
            if unit.isEmpty, !["count", "%"].contains(known.unit) { flaw = flaw ?? .noUnit }
        }
        types.append(name)
        units.append(kept)
        typeSlots.append(-1)
        unitSlots.append(-1)
        kinds.append(
            Kind(
                factors: factors, isCategory: type.kind == .category,
                isQuantity: type.kind == .quantity, isKnown: known != nil, flaw: flaw))
    }

    private static func flaw(_ name: String, _ unit: String) -> Flaw? {
        if name.utf8.count > longestType { return .longType }
        return unit.utf8.count > longestUnit ? .longUnit : nil
    }

    mutating func origin(
        name: UnsafeBufferPointer<UInt8>?, version: UnsafeBufferPointer<UInt8>?, device: UnsafeBufferPointer<UInt8>?
    ) -> Int32 {
        scratch.removeAll()
        if let name { scratch.append(name) }
        scratch.append(0)
        if let version { scratch.append(version) }
        scratch.append(0)
        if let device { scratch.append(device) }
        let (number, isNew) = originKeys.number(of: scratch.bytes)
        if isNew {
            bytes += scratch.count
            let stripped = DeviceText.stripped(Self.text(device))
            origins.append(Origin(sourceName: Self.text(name), sourceVersion: Self.text(version), device: stripped))
            originSlots.append(-1)
        }
        return Int32(number)
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>?) -> String {
        bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Whether this is so large that the batch should end and all strings should be discarded.
    var isLarge: Bool { bytes > Self.byteLimit }

    /// No rows may be staged at this point: their numbers would become invalid.
    mutating func forgetIfLarge() {
        if kinds.count + origins.count > Self.limit || isLarge { self = Interning() }
    }
}

extension Interning {
    mutating func beginBatch() {
        for index in typeSlots.indices {
            typeSlots[index] = -1
            unitSlots[index] = -1
        }
        for index in originSlots.indices { originSlots[index] = -1 }
        slotByType.removeAll(keepingCapacity: true)
        slotByUnit.removeAll(keepingCapacity: true)
        slotByOrigin.removeAll(keepingCapacity: true)
    }

    mutating func typeSlot(of kind: Int32, _ batch: inout RecordBatch) -> Int32 {
        Self.slot(Int(kind), &typeSlots, types, &slotByType, &batch.types)
    }

    mutating func unitSlot(of kind: Int32, _ batch: inout RecordBatch) -> Int32 {
        Self.slot(Int(kind), &unitSlots, units, &slotByUnit, &batch.units)
    }

    mutating func originSlot(of origin: Int32, _ batch: inout RecordBatch) -> Int32 {
        Self.slot(Int(origin), &originSlots, origins, &slotByOrigin, &batch.origins)
    }

    private static func slot<Entry: Hashable>(
        _ number: Int, _ slots: inout [Int32], _ entries: [Entry], _ known: inout [Entry: Int32],
        _ list: inout [Entry]
    ) -> Int32 {
        if slots[number] >= 0 { return slots[number] }
        let slot = known.place(of: entries[number], in: &list, adding: entries[number])
        slots[number] = slot
        return slot
    }
}
