import HealthModel
import JSON

/// The parts that rows of a page share, encoded as JSON once: of about 350 bytes per sample, only 150 are its own.
struct PageFragments {
    private let types: [[UInt8]]
    private let units: [[UInt8]]
    private let origins: [[UInt8]]

    init(_ page: SamplePage) {
        types = page.types.map { Self.quoted(",\"type\":", $0, then: ",\"startDate\":") }
        units = page.units.map { $0.isEmpty ? Array(",\"unit\":null".utf8) : Self.quoted(",\"unit\":", $0, then: "") }
        origins = page.origins.map { Self.quoted(",\"source\":", $0.sourceName, then: "") }
    }

    func append(_ row: Int, of page: SamplePage, to out: inout [UInt8]) {
        out.append(json: "{\"id\":\"")
        out.append(uuid: page.ids[row])
        if let uuid = page.uuidOf(row) {
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
        if let unit = page.unitIndex(row) {
            out.append(contentsOf: units[unit])
        } else {
            out.append(json: ",\"unit\":null")
        }
        out.append(contentsOf: origins[Int(page.origin[row])])
        out.append(
            json: page.flags[row].contains(.manual)
                ? ",\"sourceType\":\"manual\",\"metadata\":" : ",\"sourceType\":\"healthkit\",\"metadata\":")
        // Metadata and payload are already JSON.
        if let metadata = page.metadata.utf8(row) { out.append(contentsOf: metadata) } else { out.append(json: "null") }
        if let payload = page.payload.utf8(row) {
            out.append(json: ",\"payload\":")
            out.append(contentsOf: payload)
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
