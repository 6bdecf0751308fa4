import HealthModel
import JSON

/// What the app Life Dashboard Companion posts, from an iPhone or an Android phone: lists of records by kind, and the
/// records that were deleted.
///
/// - `source` says which of the two it is; each list is a member named after its kind (`LifeDashboardKind`). Members
///   that aren't lists of records are ignored.
/// - `deleted_records`, `[{type, uuid}]`: an id of a food or of a blood pressure stands for all its samples.
///
/// Each record is an item, and so is each deletion. Kinds that aren't known are quarantined.
struct LifeDashboardBody {
    private let limit: Int64
    private var rows = RecordRows()
    private var changes = PushedChanges()
    private var isAndroid = false

    private init(limit: Int64) { self.limit = limit }

    /// - Throws: `PushError` when the body isn't JSON, or doesn't name one of the app's sources.
    static func changes(in request: PushRequest) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(request.body) else { throw PushError("the body isn't UTF-8") }
        var reader = LifeDashboardBody(limit: request.items)
        let problem = request.body.withUnsafeBytes { text -> PushError? in
            do throws(JSONScanError) {
                return try reader.read(text) ? nil : PushError("its 'source' is none of the app's: \(sources)")
            } catch { return PushError("the body is invalid: \(error)") }
        }
        if let problem { throw problem }
        reader.changes.records = reader.rows.batch
        return reader.changes
    }

    /// One quarantined item: its list's key and the record.
    static func item(_ raw: String) -> PushedChanges? {
        let body = Array("{\"source\":\"\(iPhone)\",\(raw)}".utf8)
        return try? changes(
            in: PushRequest(body: body, type: "", now: .epoch, header: { _ in nil }, items: .max))
    }

    private static let iPhone = "healthkit_ios"
    private static let android = "health_connect"
    private static let sources = "\(iPhone) and \(android)"

    private mutating func read(_ text: UnsafeRawBufferPointer) throws(JSONScanError) -> Bool {
        var lists: [String: JSONSpan] = [:]
        var unknown: [(String, JSONSpan)] = []
        var deleted: JSONSpan?
        var source: String?
        var scanner = JSONScanner(text)
        try scanner.beginObject()
        // The app writes its members in any order.
        while let name = try scanner.nextMember() {
            let value = try scanner.value()
            let key = name.text ?? ""
            if key == "source" {
                source = value.text
            } else if key == "deleted_records" {
                deleted = value
            } else if LifeDashboardKind.named[key] != nil {
                lists[key] = value
            } else if !Self.others.contains(key), value.kind == .array {
                unknown.append((key, value))
            }
        }
        try scanner.end()
        guard source == Self.iPhone || source == Self.android else { return false }
        isAndroid = source == Self.android
        if let deleted { try eachElement(deleted) { $0.add(deleted: $1) } }
        for key in LifeDashboardKind.keys {
            guard let kind = LifeDashboardKind.named[key], let list = lists[key] else { continue }
            if case .derived = kind { continue }
            try eachElement(list) { $0.add($1, kind, key) }
        }
        for (key, list) in unknown {
            try eachElement(list) { reader, span in
                guard reader.count() else { return }
                reader.quarantine(span, key, "this kind of record isn't known")
            }
        }
        return true
    }

    /// Lists that aren't records.
    private static let others: Set = ["daily_totals", "deletions_unavailable"]

    /// All members that a body may have.
    static let members = others.union(LifeDashboardKind.keys).union([
        "timestamp", "app_version", "source", "sequence", "deleted_records", "backfill", "window_start", "window_end",
        "window_complete", "records_outside_window", "_diagnostics", "_resolutions",
    ])

    private mutating func eachElement(
        _ list: JSONSpan, _ body: (inout LifeDashboardBody, JSONSpan) -> Void
    ) throws(JSONScanError) {
        guard list.kind == .array else { return }
        var scanner = JSONScanner(list.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() { body(&self, try scanner.value()) }
    }

    private mutating func count() -> Bool {
        changes.items += 1
        return changes.items <= limit
    }

    private mutating func quarantine(_ span: JSONSpan, _ key: String, _ reason: String) {
        let text = Array("\"\(key)\":[".utf8) + Array(span.whole) + Array("]".utf8)
        text.withUnsafeBytes { changes.quarantine($0, reason) }
    }

    private mutating func add(deleted span: JSONSpan) {
        guard count() else { return }
        var (kind, uuid): (String?, SampleID?) = (nil, nil)
        do throws(SampleProblem) {
            try span.eachMember { name, value in
                if name == "type" { kind = value.text }
                if name == "uuid" { uuid = value.isString ? SampleID(uuid: value.bytes) : nil }
            }
        } catch { return quarantine(span, "deleted_records", error.reason) }
        guard let uuid else { return quarantine(span, "deleted_records", "uuid isn't a UUID") }
        changes.deleted.append(uuid)
        changes.deletedItems.append(changes.items)
        if kind == "nutrition" || kind == "blood_pressure" { changes.deletedWholes.append(uuid) }
    }

    private mutating func add(_ span: JSONSpan, _ kind: LifeDashboardKind, _ key: String) {
        guard count() else { return }
        do throws(SampleProblem) {
            let record = try LifeDashboardRecord(span)
            if case .sleep = kind { return try add(sleep: record, span) }
            for row in try record.rows(of: kind, item: changes.items, isAndroid: isAndroid) { rows.append(row) }
        } catch { quarantine(span, key, error.reason) }
    }

    /// A night has its stages, each a sample of its own; from Android it may have none.
    private mutating func add(sleep night: LifeDashboardRecord, _ span: JSONSpan) throws(SampleProblem) {
        guard let list = night.member("stages"), list.kind == .array, list.bytes.count > 2 else {
            return rows.append(try night.unstaged(item: changes.items))
        }
        var stages: [JSONSpan] = []
        do throws(JSONScanError) {
            var scanner = JSONScanner(list.bytes)
            try scanner.beginArray()
            while try scanner.nextElement() { stages.append(try scanner.value()) }
        } catch { throw SampleProblem(reason: "\(error)") }
        for stage in stages {
            do throws(SampleProblem) {
                if let row = try LifeDashboardRecord(stage).stage(item: changes.items, of: night) { rows.append(row) }
            } catch {
                // The other stages count.
                let text = Array("\"sleep\":[{\"stages\":[".utf8) + Array(stage.whole) + Array("]}]".utf8)
                text.withUnsafeBytes { changes.quarantine($0, error.reason) }
            }
        }
    }
}

extension LifeDashboardRecord {
    /// - Returns: nil for time out of bed, which isn't sleep.
    fileprivate func stage(
        item: Int64, of night: LifeDashboardRecord
    ) throws(SampleProblem) -> RecordRows.Row? {
        let name = member("stage")?.text
        if name == "out_of_bed" { return nil }
        guard let value = name.flatMap({ LifeDashboardKind.stages[$0] }) else {
            throw SampleProblem(reason: "stage isn't one of those known")
        }
        var row = try row(item: item)
        (row.type, row.value) = (HealthType.sleepIdentifier, Double(value))
        // From Android only the night has a source.
        if source == nil { row.origin = Origin(sourceName: night.source?.text ?? "") }
        return row
    }

    fileprivate func unstaged(item: Int64) throws(SampleProblem) -> RecordRows.Row {
        guard let end = member("session_end_time")?.text.flatMap({ InstantText.parse($0) }),
            let seconds = member("duration_seconds")?.integer, (1...172_800).contains(seconds)
        else { throw SampleProblem(reason: "a night has stages, or session_end_time and duration_seconds") }
        var row = RecordRows.Row()
        (row.item, row.type, row.value) = (item, HealthType.sleepIdentifier, 1)
        (row.start, row.end) = (end - .seconds(seconds), end)
        row.origin = Origin(sourceName: source?.text ?? "")
        row.uuid = uuid.flatMap { $0.isString ? SampleID(uuid: $0.bytes) : nil }
        return row
    }
}
