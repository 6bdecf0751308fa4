import HealthModel
import SQLite

/// Fills a page from rows, giving it only the names that it uses.
struct PageBuilder {
    let reader: HealthStoreReader
    private(set) var page = SamplePage()
    /// Bytes so far, counted generously.
    private(set) var bytes = 0
    private var types: [Int: Int32] = [:]
    private var units: [Int: Int32] = [:]
    private var origins: [Int: Int32] = [:]

    /// Ids, numbers and indices of one row, as they travel, and which user's it is.
    static let rowBytes = 64
    /// The columns that only some queries fill: unit; time of creation and UUID; where metadata and payload end.
    private static let unitBytes = 4
    private static let detailBytes = 24
    private static let textBytes = 8

    init(_ reader: HealthStoreReader) { self.reader = reader }

    mutating func append(
        id: SampleID, sequence: Int64, type: Int, start: Int64, end: Int64, value: Double, origin: Int,
        flags: UInt8,
        state: SampleState
    ) throws {
        page.ids.append(id)
        page.sequence.append(sequence)
        page.type.append(try index(ofType: type))
        page.start.append(start)
        page.end.append(end)
        page.value.append(value)
        page.origin.append(try index(ofOrigin: origin))
        var shown = SampleFlags(rawValue: flags).intersection([.userEntered, .manual])
        switch state {
        case .alive: break
        case .absent, .deleted: shown.insert(.deleted)
        case .quarantined: shown.insert(.quarantined)
        }
        page.flags.append(shown)
        bytes += Self.rowBytes
    }

    mutating func append(unit: Int) throws {
        page.unit.append(try index(ofUnit: unit))
        bytes += Self.unitBytes
    }

    mutating func appendDetail(created: Int64, uuid: SampleID?) {
        padDetails(to: page.count - 1)
        page.created.append(created)
        page.healthKitUUID.append(uuid)
        bytes += Self.detailBytes
    }

    mutating func appendTexts(_ row: Statement, metadata: Int, payload: Int) {
        row.withBytes(metadata) { page.metadata.append(bytes: $0) }
        row.withBytes(payload) { page.payload.append(bytes: $0) }
        bytes += Self.textBytes + page.metadata.range(page.count - 1).count + page.payload.range(page.count - 1).count
    }

    /// Where only some rows have details the others' are empty; where none has, there are no such columns.
    mutating func padDetails() {
        if !page.created.isEmpty { padDetails(to: page.count) }
    }

    private mutating func padDetails(to count: Int) {
        let missing = count - page.created.count
        guard missing > 0 else { return }
        page.created += repeatElement(0, count: missing)
        page.healthKitUUID += repeatElement(nil, count: missing)
        page.metadata.pad(to: count)
        page.payload.pad(to: count)
        bytes += missing * (Self.detailBytes + Self.textBytes)
    }

    mutating func appendTexts(metadata: [UInt8], payload: [UInt8]) {
        page.metadata.append(bytes: metadata)
        page.payload.append(bytes: payload)
        bytes += Self.textBytes + metadata.count + payload.count
    }

    private mutating func index(ofType id: Int) throws -> Int32 {
        if let index = types[id] { return index }
        let name = try reader.types.name(id)
        let index = Int32(page.types.count)
        page.types.append(name)
        bytes += name.utf8.count
        types[id] = index
        return index
    }

    private mutating func index(ofUnit id: Int) throws -> Int32 {
        if let index = units[id] { return index }
        let name = try reader.units.name(id)
        let index = Int32(page.units.count)
        page.units.append(name)
        bytes += name.utf8.count
        units[id] = index
        return index
    }

    private mutating func index(ofOrigin id: Int) throws -> Int32 {
        if let index = origins[id] { return index }
        let origin = try reader.origin(id)
        let index = Int32(page.origins.count)
        page.origins.append(origin)
        for text in [origin.sourceName, origin.sourceVersion, origin.productType, origin.device] {
            bytes += text.utf8.count
        }
        origins[id] = index
        return index
    }
}
