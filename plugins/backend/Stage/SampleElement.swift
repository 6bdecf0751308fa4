import HTTP
import HealthModel
import JSON

/// One sample or deletion in a request: where its members are, and what they mean.
struct SampleElement {
    var id: JSONSpan?
    var version: JSONSpan?
    var type: JSONSpan?
    var startDate: JSONSpan?
    var endDate: JSONSpan?
    var value: JSONSpan?
    var unit: JSONSpan?
    var source: JSONSpan?
    var sourceType: JSONSpan?
    var healthKitUUID: JSONSpan?
    var metadata: JSONSpan?
    var payload: JSONSpan?

    /// Reads the element at the scanner's position; unknown members are ignored.
    init(_ scanner: inout JSONScanner) throws(JSONScanError) {
        guard scanner.nextIsObject() else {
            _ = try scanner.value()
            return
        }
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let span = try scanner.value()
            if span.isNull { continue }
            switch name.bytes.count {
            case 2 where name == "id": id = span
            case 4 where name == "type": type = span
            case 4 where name == "unit": unit = span
            case 5 where name == "value": value = span
            case 6 where name == "source": source = span
            case 7 where name == "version": version = span
            case 7 where name == "endDate": endDate = span
            case 7 where name == "payload": payload = span
            case 8 where name == "metadata": metadata = span
            case 9 where name == "startDate": startDate = span
            case 10 where name == "sourceType": sourceType = span
            case 13 where name == "healthkitUUID": healthKitUUID = span
            default: continue
            }
        }
    }

    /// Why it can't be stored as a sample; nil when it can. The reason contains no values.
    func problem(start: Instant?, end: Instant?) -> String? {
        guard let type, type.isString, !type.bytes.isEmpty, type.bytes.count <= 200 else { return "type is missing" }
        guard let start else { return "startDate isn't an ISO 8601 date" }
        guard let end else { return "endDate isn't an ISO 8601 date" }
        if end < start { return "endDate is before startDate" }
        if let value, value.double == nil { return "value isn't a number" }
        if let unit, !unit.isString { return "unit isn't text" }
        if let source, !source.isString { return "source isn't text" }
        if let sourceType, !(sourceType == "healthkit" || sourceType == "manual") {
            return "sourceType is neither healthkit nor manual"
        }
        if let healthKitUUID, !healthKitUUID.isString { return "healthkitUUID isn't text" }
        if let metadata, metadata.kind != .object { return "metadata isn't an object" }
        return nil
    }

    /// The sample as stored in a row, if it has no `problem`. Points into the request.
    func content(start: Instant, end: Instant, _ texts: InternedTexts) throws -> SampleContent {
        SampleContent(
            kind: SampleKind(
                type: try texts.id(of: type, .type), unit: try texts.id(of: unit, .unit),
                source: try texts.id(of: source, .source), isManual: isManual),
            start: start.microseconds, end: end.microseconds, value: value?.double, uuid: ElementID(healthKitUUID),
            metadata: metadata.flatMap { $0.bytes.count > 2 ? $0.bytes : nil }, payload: payload?.rawText)
    }

    var isManual: Bool { sourceType.map { $0 == "manual" } ?? false }

    /// The version that the sender gave; 0 if it gave none; nil if it isn't an integer.
    static func version(_ span: JSONSpan?) -> Int64? { span.map { $0.integer } ?? 0 }

    static func date(_ span: JSONSpan?) -> Instant? { span?.instant }
}

extension JSONSpan {
    /// The value's JSON text, including a string's quotes.
    var rawText: UnsafeRawBufferPointer {
        guard isString, let start = bytes.baseAddress else { return bytes }
        return UnsafeRawBufferPointer(start: start - 1, count: bytes.count + 2)
    }
}
