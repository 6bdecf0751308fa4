import HealthModel
import HealthPush

/// One record of a request, in the form that the tests compare.
struct PushedRow: Hashable, Comparable {
    var type: String
    var unit: String
    var source: String
    var start: String
    var end: String
    /// nil instead of NaN, which equals nothing.
    var value: Double?
    var created: Int64
    var flags: UInt8
    var metadata: String
    var payload: String
    var uuid: String
    var line: Int64

    static func < (a: PushedRow, b: PushedRow) -> Bool { a.key < b.key }

    private var key: String { "\(start) \(type) \(end) \(source) \(value ?? 0) \(payload) \(metadata)" }

    /// A copy without its position in the request.
    var placeless: PushedRow {
        var copy = self
        copy.line = 0
        return copy
    }

    /// The payload as a tree of values.
    var body: Value { (try? Value(json: Array(payload.utf8))) ?? .null }
}

extension PushedChanges {
    var rows: [PushedRow] {
        (0..<records.count).map { row in
            PushedRow(
                type: records.types[Int(records.type[row])], unit: records.units[Int(records.unit[row])],
                source: records.origins[Int(records.origin[row])].sourceName,
                start: InstantText.iso8601(records.startOf(row)), end: InstantText.iso8601(records.endOf(row)),
                value: records.value[row].isNaN ? nil : records.value[row], created: records.created[row],
                flags: records.flags[row].rawValue, metadata: records.metadata[row], payload: records.payload[row],
                uuid: records.healthKitUUID.isEmpty ? "" : records.healthKitUUID[row]?.description ?? "",
                line: records.line[row])
        }
    }

    var statistics: [PushedRow] { rows.filter { HealthType.base(ofStatistics: $0.type) != nil } }
    var samples: [PushedRow] { rows.filter { HealthType.base(ofStatistics: $0.type) == nil } }
    var reasons: [String] { quarantined.map(\.reason) }
}

/// 2026-10-01T12:00:00Z.
let testNow = Instant(seconds: 1_790_856_000)

/// Decodes the content of `data`.
func pushed(_ data: String, aggregation: String? = nil) throws -> PushedChanges {
    try WayIn.healthAutoExport.changes(
        in: Array(#"{"data":{\#(data)}}"#.utf8), type: "application/json", now: testNow,
        header: { $0 == "automation-aggregation" ? aggregation : nil })
}

/// Decodes one metric's entries.
func pushed(
    metric name: String, _ units: String, _ entries: String, aggregation: String? = nil
) throws -> PushedChanges {
    try pushed(
        #""metrics":[{"name":"\#(name)","units":"\#(units)","data":[\#(entries)]}]"#, aggregation: aggregation)
}
