import HealthModel
import JSON

/// The positions of a type and its unit in the columns' dictionaries.
struct AutoExportSlots {
    let type: Int32
    let unit: Int32
}

/// One record, before conversion to columns.
struct AutoExportRow: RecordCells {
    /// From `AutoExportRows.slots(_:unit:)`.
    var slots: AutoExportSlots
    /// Why it is a statistic; nil for a sample.
    var statistic: AutoExportReason?
    var origin: Int32 = 0
    var start: Instant
    var end: Instant
    /// The value in the canonical unit; NaN for none.
    var value = Double.nan
    /// Seconds since 1970; 0 when unknown.
    var created: Int64 = 0
    var flags: RecordFlags = []
    var uuid: SampleID?
    /// JSON objects with their members in order; empty if there are no members.
    var metadata: [UInt8] = []
    var payload: [UInt8] = []
}

/// Where a quarantined item was, so that it can be reread without the rest of the request.
struct AutoExportContext {
    /// The name of the section or the metric.
    let name: JSONSpan
    var isMetric = false
    /// The metric's units.
    var units: JSONSpan?
    /// For a metric: what the request says about aggregation, if anything.
    var aggregation: String?

    func wrap(_ raw: UnsafeRawBufferPointer) -> [UInt8] {
        var out: [UInt8] = []
        out.append(json: isMetric ? "{\"name\":" : "{")
        Self.append(name, to: &out)
        if let units {
            out.append(json: ",\"units\":")
            Self.append(units, to: &out)
        }
        out.append(json: isMetric ? ",\"data\":[" : ":[")
        // Anything beyond this limit would be cut off anyway.
        out.append(contentsOf: raw.prefix(AutoExportRows.rawLimit))
        out.append(json: "]")
        if let aggregation {
            out.append(json: ",\"aggregation\":")
            out.append(jsonString: aggregation)
        }
        out.append(json: "}")
        return out
    }

    /// Appends the text only if it is short, since it is stored again with each item.
    private static func append(_ span: JSONSpan, to out: inout [UInt8]) {
        if span.bytes.count <= 128 { out.append(contentsOf: span.whole) } else { out.append(json: "\"too long\"") }
    }
}

/// Fills the columns of a request's changes.
struct AutoExportRows {
    static let rawLimit = 4096
    /// The maximum length of a row's text: a longer row can't be sent, since a message frame holds 1 MiB.
    static let rowTextLimit = 512 << 10

    private var changes = PushedChanges()
    private var columns = RecordRows()
    /// The previous row's source, which is nearly always the source of the next row too.
    private var lastSource: [UInt8] = []
    private var lastOrigin: Int32 = -1
    private var hasUUIDs = false
    private var statistics: [Taken: Int64] = [:]

    /// A type, by its position among the columns' types, and why its entries are statistics.
    private struct Taken: Hashable {
        let type: Int32
        let reason: AutoExportReason
    }

    /// Takes the changes so far, if they don't all have to be there at the end; an error of its ends the reading.
    var deliver: ((PushedChanges) throws -> Void)?
    private(set) var failure: (any Error)?

    mutating func beginItem() {
        if isFull { handOver() }
        changes.items += 1
    }

    /// Items beyond this many are only counted.
    var limit = Int64.max
    /// The source of an item that names none.
    var unnamedSource = HealthAutoExport.sourceName

    private var hasRoom: Bool { changes.items <= limit && failure == nil }

    /// As many rows, or as much text, as an import's batch.
    private var isFull: Bool {
        guard deliver != nil else { return false }
        let batch = columns.batch
        return batch.count >= 4096 || batch.payload.bytes.count + batch.metadata.bytes.count >= Self.rowTextLimit
            || changes.quarantined.count >= 128
    }

    mutating func handOver() {
        guard let deliver, failure == nil else { return }
        let full = changes(with: columns.takeRows())
        (hasUUIDs, changes.quarantined) = (false, [])
        do { try deliver(full) } catch { failure = error }
    }

    /// Adds a record of the item.
    mutating func append(_ row: AutoExportRow) throws(SampleProblem) {
        guard hasRoom else { return }
        guard row.metadata.count + row.payload.count <= Self.rowTextLimit else {
            throw SampleProblem(reason: "the item holds more than 512 KiB of text")
        }
        columns.append(
            row, item: changes.items, type: row.slots.type, unit: row.slots.unit, origin: row.origin)
        if row.uuid != nil { hasUUIDs = true }
        if let reason = row.statistic { statistics[Taken(type: row.slots.type, reason: reason), default: 0] += 1 }
    }

    /// Quarantines the item unchanged.
    mutating func quarantine(_ error: any Error, raw: UnsafeRawBufferPointer, within context: AutoExportContext) {
        quarantine((error as? SampleProblem)?.reason ?? "it can't be read: \(error)", raw: raw, within: context)
    }

    mutating func quarantine(_ reason: String, raw: UnsafeRawBufferPointer, within context: AutoExportContext? = nil) {
        guard hasRoom else { return }
        let text = context.map { Self.cut($0.wrap(raw)) } ?? Self.cut(raw)
        changes.quarantined.append(QuarantinedInput(line: changes.items, reason: reason, raw: text))
    }

    /// At most 4 KiB, without splitting a character.
    private static func cut(_ text: some RandomAccessCollection<UInt8>) -> String {
        guard text.count > rawLimit else { return String(decoding: text, as: UTF8.self) }
        var end = text.index(text.startIndex, offsetBy: rawLimit)
        while end > text.startIndex, text[end] & 0xC0 == 0x80 { end = text.index(before: end) }
        return String(decoding: text[..<end], as: UTF8.self)
    }

    var finished: PushedChanges { changes(with: columns.batch) }

    private func changes(with records: RecordBatch) -> PushedChanges {
        var changes = changes
        changes.records = records
        changes.taken = taken(records.types)
        if !hasUUIDs { changes.records.healthKitUUID = [] }
        return changes
    }

    private func taken(_ types: [String]) -> [TakenStatistics] {
        statistics.compactMap { taken, count in
            HealthType.base(ofStatistics: types[Int(taken.type)]).map {
                TakenStatistics(type: $0, count: count, reason: taken.reason.text)
            }
        }.sorted { ($0.type, $0.reason) < ($1.type, $1.reason) }
    }

    /// The positions of a type and its unit; if no unit is given, the type's canonical one is used.
    mutating func slots(_ identifier: String, unit: String? = nil) -> AutoExportSlots {
        let unit = unit ?? HealthType.named(identifier).unit
        return AutoExportSlots(type: columns.slot(type: identifier), unit: columns.slot(unit: unit))
    }

    mutating func originSlot(of source: JSONSpan?) -> Int32 {
        guard let source, source.kind == .string, !source.bytes.isEmpty else {
            return originSlot(named: source?.text ?? "")
        }
        if lastOrigin >= 0, lastSource.count == source.bytes.count, lastSource.elementsEqual(source.bytes) {
            return lastOrigin
        }
        lastSource = Array(source.bytes)
        lastOrigin = originSlot(named: source.text ?? "")
        return lastOrigin
    }

    mutating func originSlot(named name: String) -> Int32 {
        columns.slot(Origin(sourceName: name.isEmpty ? unnamedSource : name))
    }
}
