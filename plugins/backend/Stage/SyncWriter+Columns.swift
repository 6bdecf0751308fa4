import HealthModel
import JSON
import Protocol
import SQLite

extension SyncWriter {
    /// Works as for JSON elements, except that rows are written in id order, unless some are manual, so that each page
    /// of the table is written once.
    /// - Returns: the outcomes, all committed, without the ids of the elements stored.
    func write(_ delivery: SampleDelivery, now: Instant) throws -> SyncOutcome {
        try write(listsIDs: false) {
            try batch(user: delivery.user, device: delivery.device, syncedAt: delivery.syncedAt ?? now)
        } elements: { batch, outcome in
            // Deletions come first: a manual sample may replace a deleted one of the same moment.
            let ids = delivery.deleted
            for row in SampleColumns.byID(Array(ids.indices), ids) {
                let version = delivery.deletedVersions[row]
                let effect = try samples.delete(id: .uuid(ids[row]), version: version, in: batch)
                try note(effect, ids[row], version: version, deleted: true, batch, &outcome)
            }
            try writeSamples(delivery.samples, batch, &outcome)
        }
    }

    private func writeSamples(_ page: SamplePage, _ batch: SyncBatch, _ outcome: inout SyncOutcome) throws {
        var columns = SampleColumns(page)
        try page.metadata.bytes.withUnsafeBytes { metadata in
            try page.payload.bytes.withUnsafeBytes { payload in
                var rows: [Int] = []
                rows.reserveCapacity(page.count)
                for row in 0..<page.count {
                    let problem = columns.problem(row, metadata: metadata, payload: payload) {
                        samples.isKnown(metadata: $0)
                    }
                    if let problem {
                        outcome.refuse(page.ids[row], .samples, index: row, problem)
                    } else {
                        rows.append(row)
                    }
                }
                // Of manual samples with the same moment and version, the first one stays.
                let isOrdered = page.flags.contains { $0.contains(.manual) }
                for row in isOrdered ? rows : SampleColumns.byID(rows, page.ids) {
                    let content = SampleContent(
                        kind: try columns.kind(row, texts), start: page.start[row], end: page.end[row],
                        value: page.value[row].isFinite ? page.value[row] : nil, uuid: columns.uuid(row),
                        metadata: columns.metadata(row, of: metadata), payload: columns.payload(row, of: payload))
                    let version = page.sequence[row]
                    let effect = try samples.write(content, id: .uuid(page.ids[row]), version: version, in: batch)
                    try note(effect, page.ids[row], version: version, deleted: false, batch, &outcome)
                }
            }
        }
    }

    private func note(
        _ effect: SampleTable.Effect, _ id: SampleID, version: Int64, deleted: Bool, _ batch: SyncBatch,
        _ outcome: inout SyncOutcome
    ) throws {
        if effect.verdict == .conflict { return outcome.addConflict(id) }
        outcome.count(effect.verdict)
        guard effect.verdict.writes else { return }
        note(effect, .uuid(id))
        guard let audit else { return }
        try Array(id.description.utf8).withUnsafeBytes {
            try audit.count(user: batch.user, kind: -1, id: $0, version: version, deleted: deleted)
        }
    }
}

/// A page's rows in the table's form: the contents of its dictionaries are looked up once, and nothing is allocated per
/// row.
struct SampleColumns {
    private let page: SamplePage
    private let hasMetadata: Bool
    private let hasPayload: Bool
    private let isType: [Bool]
    // Numbers of the dictionaries' strings; nil until a stored row uses the string.
    private var types: [Int64?]
    private var units: [Int64?]
    private var sources: [Int64?]

    /// The years 0 to 9999, as in JSON times.
    static let times: ClosedRange<Int64> = -62_167_219_200_000_000...253_402_300_799_999_999

    init(_ page: SamplePage) {
        self.page = page
        hasMetadata = page.metadata.count > 0
        hasPayload = page.payload.count > 0
        isType = page.types.map { !$0.isEmpty && $0.utf8.count <= ElementID.limit }
        types = Array(repeating: nil, count: page.types.count)
        units = Array(repeating: nil, count: page.units.count)
        sources = Array(repeating: nil, count: page.origins.count)
    }

    /// What is wrong with a row's numbers; nil when nothing is.
    func problem(_ row: Int) -> String? {
        guard isType[Int(page.type[row])] else { return "type is missing" }
        guard !page.flags[row].contains(.deleted) else { return "deletions don't belong to samples" }
        guard Self.times.contains(page.start[row]) else { return "start isn't within the years 0 to 9999" }
        guard Self.times.contains(page.end[row]) else { return "end isn't within the years 0 to 9999" }
        return page.end[row] < page.start[row] ? "end is before start" : nil
    }

    /// What is wrong with a row; nil when nothing is.
    /// - Parameter isKnown: whether metadata has been checked before.
    func problem(
        _ row: Int, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer,
        isKnown: (UnsafeRawBufferPointer) -> Bool
    ) -> String? {
        if let problem = problem(row) { return problem }
        if let text = self.metadata(row, of: metadata), !isKnown(text), !Self.isObject(text) {
            return "metadata isn't an object"
        }
        return self.payload(row, of: payload).flatMap { Self.isJSON($0) ? nil : "payload isn't JSON" }
    }

    mutating func kind(_ row: Int, _ known: InternedTexts) throws -> SampleKind {
        let (type, origin) = (Int(page.type[row]), Int(page.origin[row]))
        var kind = SampleKind(isManual: page.flags[row].contains(.manual))
        kind.type = try types[type] ?? known.id(of: page.types[type])
        types[type] = kind.type
        kind.source = try sources[origin] ?? known.id(of: page.origins[origin].sourceName)
        sources[origin] = kind.source
        if let unit = page.unitIndex(row) {
            kind.unit = try units[unit] ?? known.id(of: page.units[unit])
            units[unit] = kind.unit
        }
        return kind
    }

    func uuid(_ row: Int) -> ElementID? { page.uuidOf(row).map { .uuid($0) } }

    /// The row's part of the column's bytes; nil if that is empty or an object without members.
    func metadata(_ row: Int, of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard hasMetadata else { return nil }
        let text = Self.trimmed(UnsafeRawBufferPointer(rebasing: bytes[page.metadata.range(row)]))
        return text.count > 2 ? text : text.isEmpty || text.elementsEqual("{}".utf8) ? nil : text
    }

    /// The row's part of the column's bytes; nil for null.
    func payload(_ row: Int, of bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard hasPayload else { return nil }
        let text = Self.trimmed(UnsafeRawBufferPointer(rebasing: bytes[page.payload.range(row)]))
        return text.isEmpty || text.elementsEqual("null".utf8) ? nil : text
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }
        var range = 0..<text.count
        while let first = range.first, isSpace(text[first]) { range.removeFirst() }
        while let last = range.last, isSpace(text[last]) { range.removeLast() }
        return UnsafeRawBufferPointer(rebasing: text[range])
    }

    static func isObject(_ text: UnsafeRawBufferPointer) -> Bool { text.first == UInt8(ascii: "{") && isJSON(text) }

    static func isJSON(_ text: UnsafeRawBufferPointer) -> Bool {
        guard String(validating: text, as: UTF8.self) != nil else { return false }
        var scanner = JSONScanner(text)
        do {
            _ = try scanner.value()
            try scanner.end()
            return true
        } catch {
            return false
        }
    }

    /// Rows ordered by id; rows with the same id keep their order.
    static func byID(_ rows: [Int], _ ids: [SampleID]) -> [Int] {
        var isSorted = true
        for (row, next) in zip(rows, rows.dropFirst()) where ids[next] < ids[row] {
            isSorted = false
            break
        }
        return isSorted ? rows : rows.sorted { (ids[$0], $0) < (ids[$1], $1) }
    }
}
