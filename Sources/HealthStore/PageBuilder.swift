import HealthModel
import SQLite

/// Fills a page from rows, including only the names that these rows use.
struct PageBuilder {
    let reader: HealthStoreReader
    private(set) var page = SamplePage()
    /// The number of bytes so far, estimated generously.
    private(set) var bytes = 0
    private var types = Indices()
    private var units = Indices()
    private var origins = Indices()

    /// The positions of names in the page, by their numbers in the store. The most recently looked up name is usually
    /// the next one needed, too.
    private struct Indices {
        private var known: [Int: Int32] = [:]
        private var last = (id: Int.min, index: Int32(0))

        mutating func find(_ id: Int) -> Int32? {
            if id == last.id { return last.index }
            guard let index = known[id] else { return nil }
            last = (id, index)
            return index
        }

        mutating func add<Name>(_ id: Int, _ name: Name, to names: inout [Name]) -> Int32 {
            last = (id, known.place(of: id, in: &names, adding: name))
            return last.index
        }
    }

    /// The size of one row as sent, in bytes: its ids, numbers and indices, including its user.
    static let rowBytes = 64
    /// The sizes of the columns that only some queries fill: unit; creation time and UUID; the ends of metadata and
    /// payload.
    private static let unitBytes = 4
    private static let detailBytes = 24
    private static let textBytes = 8

    init(_ reader: HealthStoreReader) { self.reader = reader }

    /// - Parameter end: the row's own end, or the time until which the row counts, in microseconds since 1970.
    mutating func append(_ row: StoredRow, end: Int64) throws {
        page.ids.append(row.id)
        page.sequence.append(row.sequence.value)
        page.type.append(try index(ofType: row.type))
        page.start.append(row.start)
        page.end.append(end)
        page.value.append(row.value)
        page.origin.append(try index(ofOrigin: row.origin))
        var shown = SampleFlags(rawValue: row.flags).intersection([.userEntered, .manual, .part])
        switch row.state {
        case .alive: break
        case .absent, .deleted, .replaced: shown.insert(.deleted)
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

    mutating func append(_ texts: WalkedTexts) {
        texts.withMetadata { page.metadata.append(bytes: $0) }
        texts.withPayload { page.payload.append(bytes: $0) }
        bytes += Self.textBytes + page.metadata.range(page.count - 1).count + page.payload.range(page.count - 1).count
    }

    mutating func appendPayload(of block: SampleBlock, _ index: Int) {
        page.metadata.appendEmpty()
        block.payload.withText(index) { page.payload.append(bytes: $0) }
        bytes += Self.textBytes + page.payload.range(page.count - 1).count
    }

    /// If only some rows have details, the others get empty ones; if none has any, these columns are omitted.
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
        if let index = types.find(id) { return index }
        let name = try reader.types.name(id)
        bytes += name.utf8.count
        return types.add(id, name, to: &page.types)
    }

    private mutating func index(ofUnit id: Int) throws -> Int32 {
        if let index = units.find(id) { return index }
        let name = try reader.units.name(id)
        bytes += name.utf8.count
        return units.add(id, name, to: &page.units)
    }

    private mutating func index(ofOrigin id: Int) throws -> Int32 {
        if let index = origins.find(id) { return index }
        let origin = try reader.origin(id)
        for text in [origin.sourceName, origin.sourceVersion, origin.productType, origin.device] {
            bytes += text.utf8.count
        }
        return origins.add(id, origin, to: &page.origins)
    }
}
