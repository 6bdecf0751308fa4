import HealthModel
import JSON

/// The parts that rows of a page share, encoded as JSON once: of about 350 bytes per sample, only 150 are its own.
struct PageFragments {
    private var types: [[UInt8]] = []
    private var units: [[UInt8]] = []
    private var origins: [[UInt8]] = []
    private let hasUnit: Bool
    private let hasUUID: Bool
    private let hasMetadata: Bool
    private let hasPayload: Bool

    init(_ page: SamplePage) {
        types = page.types.map { Self.quoted(",\"type\":", $0, then: ",\"startDate\":") }
        units = page.units.map { $0.isEmpty ? Array(",\"unit\":null".utf8) : Self.quoted(",\"unit\":", $0, then: "") }
        origins = page.origins.map { Self.quoted(",\"source\":", $0.sourceName, then: "") }
        hasUnit = page.unit.count == page.count
        hasUUID = page.healthKitUUID.count == page.count
        hasMetadata = page.metadata.count == page.count
        hasPayload = page.payload.count == page.count
    }

    func append(_ row: Int, of page: SamplePage, to out: inout [UInt8]) {
        out.append(json: "{\"id\":\"")
        out.append(uuid: page.ids[row])
        if hasUUID, let uuid = page.healthKitUUID[row] {
            out.append(json: "\",\"healthkitUUID\":\"")
            out.append(uuid: uuid)
            out.append(json: "\",\"version\":")
        } else {
            out.append(json: "\",\"healthkitUUID\":null,\"version\":")
        }
        out.append(json: page.sequence[row])
        out.append(contentsOf: types[Int(page.type[row])])
        out.append(jsonDate: page.startOf(row))
        out.append(json: ",\"endDate\":")
        out.append(jsonDate: page.endOf(row))
        out.append(json: ",\"value\":")
        out.append(json: page.value[row])
        if hasUnit { out.append(contentsOf: units[Int(page.unit[row])]) } else { out.append(json: ",\"unit\":null") }
        out.append(contentsOf: origins[Int(page.origin[row])])
        out.append(
            json: page.flags[row].contains(.manual)
                ? ",\"sourceType\":\"manual\",\"metadata\":" : ",\"sourceType\":\"healthkit\",\"metadata\":")
        // Metadata and payload are already JSON.
        if hasMetadata, !page.metadata.isEmpty(row) {
            out.append(contentsOf: page.metadata.bytes[page.metadata.range(row)])
        } else {
            out.append(json: "null")
        }
        if hasPayload, !page.payload.isEmpty(row) {
            out.append(json: ",\"payload\":")
            out.append(contentsOf: page.payload.bytes[page.payload.range(row)])
        }
        out.append(UInt8(ascii: "}"))
    }

    private static func quoted(_ before: StaticString, _ text: String, then after: StaticString) -> [UInt8] {
        var out: [UInt8] = []
        out.append(json: before)
        out.append(jsonString: text)
        out.append(json: after)
        return out
    }
}

extension [UInt8] {
    /// The 36 characters of an id, as in `SampleID.description`.
    mutating func append(uuid id: SampleID) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
            var place = 0
            func put(_ word: UInt64, _ shift: Int) {
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(shift)) & 15
                text[place] = nibble < 10 ? 0x30 + nibble : 0x57 + nibble
                place += 1
            }
            func hyphen() {
                text[place] = UInt8(ascii: "-")
                place += 1
            }
            for digit in 0..<16 {
                if digit == 8 || digit == 12 { hyphen() }
                put(id.high, 60 - 4 * digit)
            }
            hyphen()
            for digit in 0..<16 {
                if digit == 4 { hyphen() }
                put(id.low, 60 - 4 * digit)
            }
            append(contentsOf: UnsafeBufferPointer(text))
        }
    }
}
