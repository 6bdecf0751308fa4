import HealthModel
import JSON

/// The body of `POST /v1/samples`: a health store's changes, sent by a companion app or any program. docs/ways-in.md
/// has its schema.
///
/// It is one JSON object, `{"samples": [...], "deleted": ["UUID", ...]}`, or lines (NDJSON), each of which is a sample
/// or `{"deleted": "UUID"}`. If an item has missing or wrong members, only that item goes into quarantine.
package struct SamplesBody {
    static let lineTypes = ["application/x-ndjson", "application/ndjson", "application/jsonl"]

    /// Items beyond this many are only counted.
    private let limit: Int64
    private var rows = RecordRows()
    private var changes = PushedChanges()

    private init(limit: Int64) { self.limit = limit }

    static func changes(in request: PushRequest) throws(PushError) -> PushedChanges {
        lineTypes.contains(request.type)
            ? try changes(lines: request.body, limit: request.items)
            : try changes(json: request.body, limit: request.items)
    }

    /// - Parameter body: JSON.
    /// - Throws: `PushError` when the body isn't JSON, has neither `samples` nor `deleted`, has a `user` that isn't
    ///   text.
    package static func changes(json body: [UInt8], limit: Int64 = .max) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8") }
        var reader = SamplesBody(limit: limit)
        let problem = body.withUnsafeBytes { reader.problem(inDocument: $0) }
        if let problem { throw PushError("the body is invalid: \(problem)") }
        // If a request says that its data is another user's, the data must not be taken for the token owner's.
        guard !reader.isUserOdd else { throw PushError("'user' isn't text") }
        guard reader.hasList else { throw PushError("the body has neither 'samples' nor 'deleted'") }
        return reader.finished
    }

    /// - Parameter body: a JSON object on each line; empty lines are skipped. A line that isn't a JSON object counts as
    ///   an item that isn't understood.
    /// - Throws: `PushError` when the body isn't UTF-8, or has no lines.
    package static func changes(lines body: [UInt8], limit: Int64 = .max) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8") }
        var reader = SamplesBody(limit: limit)
        body.withUnsafeBytes { text in
            for line in text.split(separator: UInt8(ascii: "\n")) {
                reader.readLine(UnsafeRawBufferPointer(rebasing: line))
            }
        }
        guard reader.changes.items > 0 else { throw PushError("the body has no lines") }
        return reader.finished
    }

    private var hasList = false
    private var isUserOdd = false

    private var finished: PushedChanges {
        var changes = changes
        changes.records = rows.batch
        return changes
    }

    private mutating func problem(inDocument text: UnsafeRawBufferPointer) -> JSONScanError? {
        do throws(JSONScanError) {
            try readDocument(text)
            return nil
        } catch { return error }
    }

    private mutating func readDocument(_ text: UnsafeRawBufferPointer) throws(JSONScanError) {
        var scanner = JSONScanner(text)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            if name == "samples" {
                hasList = true
                try scanner.beginArray()
                while try scanner.nextElement() { add(sample: try scanner.value()) }
            } else if name == "deleted" {
                hasList = true
                try scanner.beginArray()
                while try scanner.nextElement() { add(deleted: try scanner.value()) }
            } else if name == "user" {
                let user = try scanner.value()
                changes.user = user.text
                isUserOdd = user.text == nil && !user.isNull
            } else {
                _ = try scanner.value()
            }
        }
        try scanner.end()
    }

    private mutating func readLine(_ text: UnsafeRawBufferPointer) {
        if text.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        do throws(JSONScanError) {
            var scanner = JSONScanner(text)
            let line = try scanner.value()
            try scanner.end()
            guard line.kind == .object else { return refuse(text, "the line isn't a JSON object") }
            var members = JSONScanner(line.bytes)
            try members.beginObject()
            if let name = try members.nextMember(), name == "deleted" {
                add(deleted: try members.value())
            } else {
                add(sample: line)
            }
        } catch { refuse(text, "the line isn't JSON: \(error.reason)") }
    }

    private mutating func refuse(_ raw: UnsafeRawBufferPointer, _ reason: String) {
        guard count() else { return }
        changes.quarantine(raw, reason)
    }

    /// Counts one more item, and returns whether there is room for it; items beyond the limit are only counted.
    private mutating func count() -> Bool {
        changes.items += 1
        return changes.items <= limit
    }

    private mutating func add(deleted span: JSONSpan) {
        guard count() else { return }
        guard let uuid = Self.uuid(span) else {
            return changes.quarantine(span.bytes, "a deletion is a HealthKit UUID, as text or as {\"uuid\": …}")
        }
        changes.deleted.append(uuid)
        changes.deletedItems.append(changes.items)
    }

    private static func uuid(_ span: JSONSpan) -> SampleID? {
        if span.isString { return SampleID(uuid: span.bytes) }
        guard span.kind == .object else { return nil }
        var uuid: JSONSpan?
        try? span.eachMember { if $0 == "uuid" { uuid = uuid ?? $1 } }
        return uuid.flatMap { $0.isString ? SampleID(uuid: $0.bytes) : nil }
    }

    private mutating func add(sample span: JSONSpan) {
        guard count() else { return }
        do throws(SampleProblem) {
            for row in try SampleItem(span).rows(item: changes.items) { rows.append(row) }
        } catch { changes.quarantine(span.bytes, error.reason) }
    }
}
