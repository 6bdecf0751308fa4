import HealthModel
import HealthResources
import JSON

/// Samples as rows of a file, column by column from a page, without an object per sample.
package struct SampleRows: Sendable {
    package let user: String
    package let format: FileFormat
    /// Only samples that begin in this range are kept: a slice also contains those that began earlier and continue into
    /// it.
    package let instants: Range<Int64>
    private let layout: FilesLayout

    package static let columns = [
        "id", "user_id", "type", "start_date", "end_date", "value", "unit", "source", "source_type", "healthkit_uuid",
        "metadata", "payload", "version",
    ]

    /// - Parameter layout: determines what FHIR resources contain.
    package init(_ span: FileSpan, layout: FilesLayout = FilesLayout()) {
        user = span.user
        format = span.format
        self.layout = layout
        let range = span.period.instants
        instants = range.lowerBound.microseconds..<range.upperBound.microseconds
    }

    /// Adds a page's rows, and returns how many there were.
    package func append(_ page: SamplePage, to out: inout [UInt8]) -> Int64 {
        switch format {
        case .csv:
            out.reserveCapacity(out.count + page.count * 180)
            return csv(page, &out)
        case .ndjson:
            out.reserveCapacity(out.count + page.count * 330)
            return json(page, &out)
        case .fhir:
            let resources = SampleObservations(page, of: layout.resources(of: user))
            return lines(page, &out) { row, out in resources.append(row, to: &out) }
        case .openMHealth:
            let points = OpenMHealthPage(page, user: user)
            return lines(page, &out) { row, out in points.append(row, to: &out) }
        }
    }

    /// - Parameter append: returns whether it wrote a line for the row.
    private func lines(
        _ page: SamplePage, _ out: inout [UInt8], _ append: (Int, inout [UInt8]) -> Bool
    ) -> Int64 {
        var count: Int64 = 0
        for row in 0..<page.count where instants.contains(page.start[row]) && append(row, &out) {
            out.append(UInt8(ascii: "\n"))
            count += 1
        }
        return count
    }

    private func csv(_ page: SamplePage, _ out: inout [UInt8]) -> Int64 {
        func field(_ text: String) -> [UInt8] {
            var field: [UInt8] = []
            if !text.isEmpty { field.append(csv: text) }
            return field
        }
        let comma = UInt8(ascii: ",")
        let owner = field(user)
        let (types, units) = (page.types.map(field), page.units.map(field))
        let sources = page.origins.map { field($0.sourceName) }
        var rows: Int64 = 0
        for row in 0..<page.count where instants.contains(page.start[row]) {
            rows += 1
            out.append(uuid: page.ids[row])
            out.append(comma)
            out.append(contentsOf: owner)
            out.append(comma)
            out.append(contentsOf: types[Int(page.type[row])])
            out.append(comma)
            InstantText.append(iso8601: page.startOf(row), to: &out)
            out.append(comma)
            InstantText.append(iso8601: page.endOf(row), to: &out)
            out.append(comma)
            out.append(real: page.value[row])
            out.append(comma)
            if let unit = page.unitIndex(row) { out.append(contentsOf: units[unit]) }
            out.append(comma)
            out.append(contentsOf: sources[Int(page.origin[row])])
            out.append(json: page.flags[row].contains(.manual) ? ",manual," : ",healthkit,")
            if let uuid = page.uuidOf(row) { out.append(uuid: uuid) }
            out.append(comma)
            if let metadata = page.metadata.utf8(row) { out.append(csv: metadata) }
            out.append(comma)
            if let payload = page.payload.utf8(row) { out.append(csv: payload) }
            out.append(comma)
            out.append(json: page.sequence[row])
            out.append(UInt8(ascii: "\n"))
        }
        return rows
    }

    private func json(_ page: SamplePage, _ out: inout [UInt8]) -> Int64 {
        func quoted(_ text: String) -> [UInt8] {
            var quoted: [UInt8] = []
            if text.isEmpty { quoted.append(json: "null") } else { quoted.append(jsonString: text) }
            return quoted
        }
        let owner = quoted(user)
        let (types, units) = (page.types.map(quoted), page.units.map(quoted))
        let sources = page.origins.map { quoted($0.sourceName) }
        var rows: Int64 = 0
        for row in 0..<page.count where instants.contains(page.start[row]) {
            rows += 1
            out.append(json: "{\"id\":\"")
            out.append(uuid: page.ids[row])
            out.append(json: "\",\"user_id\":")
            out.append(contentsOf: owner)
            out.append(json: ",\"type\":")
            out.append(contentsOf: types[Int(page.type[row])])
            out.append(json: ",\"start_date\":")
            out.append(jsonDate: page.startOf(row))
            out.append(json: ",\"end_date\":")
            out.append(jsonDate: page.endOf(row))
            out.append(json: ",\"value\":")
            if page.value[row].isFinite { out.append(real: page.value[row]) } else { out.append(json: "null") }
            out.append(json: ",\"unit\":")
            if let unit = page.unitIndex(row) { out.append(contentsOf: units[unit]) } else { out.append(json: "null") }
            out.append(json: ",\"source\":")
            out.append(contentsOf: sources[Int(page.origin[row])])
            out.append(
                json: page.flags[row].contains(.manual)
                    ? ",\"source_type\":\"manual\",\"healthkit_uuid\":"
                    : ",\"source_type\":\"healthkit\",\"healthkit_uuid\":")
            if let uuid = page.uuidOf(row) {
                out.append(UInt8(ascii: "\""))
                out.append(uuid: uuid)
                out.append(UInt8(ascii: "\""))
            } else {
                out.append(json: "null")
            }
            out.append(json: ",\"metadata\":")
            // Metadata and payload are already JSON.
            if let metadata = page.metadata.utf8(row) {
                out.append(contentsOf: metadata)
            } else {
                out.append(json: "null")
            }
            out.append(json: ",\"payload\":")
            if let payload = page.payload.utf8(row) {
                out.append(contentsOf: payload)
            } else {
                out.append(json: "null")
            }
            out.append(json: ",\"version\":")
            out.append(json: page.sequence[row])
            out.append(json: "}\n")
        }
        return rows
    }
}
