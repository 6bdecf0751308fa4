import HealthModel
import JSON

/// A page's samples as Open mHealth data points, written from its columns; what the rows have in common is prepared
/// once.
package struct OpenMHealthPage {
    private let page: SamplePage
    /// nil for a type without a schema.
    private let types: [TypePart?]
    private let sources: [[UInt8]]
    private let user: [UInt8]
    private let hasCreated: Bool

    private struct TypePart {
        let schema: OpenMHealthSchema
        /// `,"schema_id":{…},"acquisition_provenance":{"source_name":`
        var header: [UInt8]
        /// The bytes from the number to the time.
        var unit: [UInt8]
        /// After the time.
        var end: [UInt8]
    }

    /// Whether there is a schema for a type's samples.
    package static func has(_ type: String) -> Bool { OpenMHealthSchema.types[type] != nil }

    package init(_ page: SamplePage, user: String) {
        self.page = page
        var name: [UInt8] = []
        name.append(json: "},\"user_id\":")
        name.append(jsonString: user)
        name.append(json: "},\"body\":{")
        self.user = name
        types = page.types.map { OpenMHealthSchema.types[$0].map(Self.part) }
        sources = page.origins.map { origin in
            var name: [UInt8] = []
            name.append(jsonString: origin.sourceName.isEmpty ? "unknown" : origin.sourceName)
            return name
        }
        hasCreated = page.created.count == page.count
    }

    private static func part(_ schema: OpenMHealthSchema) -> TypePart {
        let id = OpenMHealth.schemaID(schema.name, schema.version).json()
        let header = ",\"schema_id\":\(id),\"acquisition_provenance\":{\"source_name\":"
        let unit = ",\"unit\":\(JSONString.quoted(schema.unit))},\"effective_time_frame\":"
        let more = schema.more.map { ",\(JSONString.quoted($0.name)):\(JSONString.quoted($0.value))" } ?? ""
        return TypePart(
            schema: schema, header: Array(header.utf8), unit: Array(unit.utf8), end: Array((more + "}}").utf8))
    }

    /// Adds a row's data point, without a line break.
    /// - Returns: false, with nothing added, for a type without a schema or a sample without a number.
    package func append(_ row: Int, to out: inout [UInt8]) -> Bool {
        guard let part = types[Int(page.type[row])], page.value[row].isFinite else { return false }
        out.append(json: "{\"header\":{\"id\":\"")
        out.append(contentsOf: page.ids[row].description.utf8)
        out.append(json: "\",\"creation_date_time\":")
        let created = hasCreated ? page.created[row] : 0
        out.append(jsonDate: created > 0 ? Instant(seconds: created) : page.endOf(row))
        out.append(contentsOf: part.header)
        out.append(contentsOf: sources[Int(page.origin[row])])
        out.append(
            json: page.flags[row].isDisjoint(with: [.manual, .userEntered])
                ? ",\"modality\":\"sensed\"" : ",\"modality\":\"self-reported\"")
        out.append(contentsOf: user)
        out.append(jsonString: part.schema.member)
        out.append(json: ":{\"value\":")
        out.append(json: part.schema.number(page.value[row]))
        out.append(contentsOf: part.unit)
        if page.end[row] > page.start[row] || part.schema.needsInterval {
            out.append(json: "{\"time_interval\":{\"start_date_time\":")
            out.append(jsonDate: page.startOf(row))
            out.append(json: ",\"end_date_time\":")
            out.append(jsonDate: page.endOf(row))
            out.append(json: "}}")
        } else {
            out.append(json: "{\"date_time\":")
            out.append(jsonDate: page.startOf(row))
            out.append(UInt8(ascii: "}"))
        }
        out.append(contentsOf: part.end)
        return true
    }
}
