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
        /// Whether it is a blood pressure, whose two numbers are in the payload.
        let isPair: Bool
        /// `,"schema_id":{…},"acquisition_provenance":{"source_name":`
        var header: [UInt8]
        /// The bytes from the number to the time.
        var unit: [UInt8]
        /// After the time.
        var end: [UInt8]
    }

    /// Whether there is a schema for a type's samples.
    package static func has(_ type: String) -> Bool { part(of: type) != nil }

    package init(_ page: SamplePage, user: String) {
        self.page = page
        self.user = Array("},\"user_id\":\(JSONString.quoted(user))},\"body\":{".utf8)
        types = page.types.map(Self.part(of:))
        sources = page.origins.map {
            Array(JSONString.quoted($0.sourceName.isEmpty ? "unknown" : $0.sourceName).utf8)
        }
        hasCreated = page.created.count == page.count
    }

    private static func part(of type: String) -> TypePart? {
        if type == HealthType.bloodPressureIdentifier {
            return OpenMHealthSchema.bloodPressure.last.map { part($0, isPair: true) }
        }
        return OpenMHealthSchema.types[type].map { part($0, isPair: false) }
    }

    private static func part(_ schema: OpenMHealthSchema, isPair: Bool) -> TypePart {
        let id = OpenMHealth.schemaID(schema.name, schema.version).json()
        let header = ",\"schema_id\":\(id),\"acquisition_provenance\":{\"source_name\":"
        let unit = ",\"unit\":\(JSONString.quoted(schema.unit))},\"effective_time_frame\":"
        let more = schema.more.map { ",\(JSONString.quoted($0.name)):\(JSONString.quoted($0.value))" } ?? ""
        return TypePart(
            schema: schema, isPair: isPair, header: Array(header.utf8), unit: Array(unit.utf8),
            end: Array((more + "}}").utf8))
    }

    /// Adds a row's data point, without a line break.
    /// - Returns: false, with nothing added, for a type without a schema or a sample without a number.
    package func append(_ row: Int, to out: inout [UInt8]) -> Bool {
        guard let part = types[Int(page.type[row])] else { return false }
        var value = page.value[row]
        var first: [UInt8] = []
        if part.isPair {
            guard let pair = pair(row), let last = pair.last else { return false }
            value = last
            for (schema, number) in zip(OpenMHealthSchema.bloodPressure.dropLast(), pair) {
                first.append(jsonString: schema.member)
                first.append(json: ":{\"value\":")
                first.append(json: schema.number(number))
                first.append(json: ",\"unit\":")
                first.append(jsonString: schema.unit)
                first.append(json: "},")
            }
        }
        guard value.isFinite else { return false }
        out.append(json: "{\"header\":{\"id\":\"")
        out.append(uuid: page.ids[row])
        out.append(json: "\",\"creation_date_time\":")
        let created = hasCreated ? page.created[row] : 0
        out.append(jsonDate: created > 0 ? Instant(seconds: created) : page.endOf(row))
        out.append(contentsOf: part.header)
        out.append(contentsOf: sources[Int(page.origin[row])])
        out.append(
            json: page.flags[row].isDisjoint(with: [.manual, .userEntered])
                ? ",\"modality\":\"sensed\"" : ",\"modality\":\"self-reported\"")
        out.append(contentsOf: user)
        out.append(contentsOf: first)
        out.append(jsonString: part.schema.member)
        out.append(json: ":{\"value\":")
        out.append(json: part.schema.number(value))
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

    /// The systolic and the diastolic value; nil unless both are there.
    private func pair(_ row: Int) -> [Double]? {
        let parts = page.payloadValue(row)["parts"].array ?? []
        let values = HealthType.bloodPressureParts.compactMap { type in
            parts.lazy.filter { $0["type"].string == type }.compactMap { $0["value"].double }.first
        }
        return values.count == HealthType.bloodPressureParts.count ? values : nil
    }
}
