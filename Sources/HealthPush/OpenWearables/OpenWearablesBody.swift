import HealthModel
import JSON

/// What the Open Wearables SDK for iOS posts: `{"provider": "apple", "sdkVersion", "syncTimestamp", "data": {"records",
/// "sleep", "workouts"}}`, members in any order, each list optional. Each element of a list is an item, see
/// `OpenWearablesItem`. Nothing in it says that a sample was deleted.
struct OpenWearablesBody {
    /// Items beyond this many are only counted.
    private let limit: Int64
    private var rows = RecordRows()
    private var changes = PushedChanges()
    private var provider: String?
    private var hasData = false

    private init(limit: Int64) { self.limit = limit }

    /// - Throws: `PushError` when the body isn't JSON, has no object `data`, or isn't from HealthKit.
    static func changes(in body: [UInt8], limit: Int64 = .max) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8") }
        var reader = OpenWearablesBody(limit: limit)
        let problem = body.withUnsafeBytes { reader.problem(inDocument: $0) }
        if let problem { throw PushError("the body is invalid: \(problem)") }
        guard reader.hasData else { throw PushError("the body has no object 'data'") }
        guard reader.provider == "apple" else {
            throw PushError("'provider' isn't apple: only what comes from Apple Health is taken")
        }
        var changes = reader.changes
        changes.records = reader.rows.batch
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
            let value = try scanner.value()
            if name == "provider" { provider = value.text?.lowercased() }
            if name == "data", value.kind == .object { try readData(value) }
        }
        try scanner.end()
    }

    private mutating func readData(_ data: JSONSpan) throws(JSONScanError) {
        hasData = true
        var scanner = JSONScanner(data.bytes)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let value = try scanner.value()
            guard let list = OpenWearablesItem.List(rawValue: name.text ?? ""), !value.isNull else { continue }
            var elements = JSONScanner(value.bytes)
            try elements.beginArray()
            while try elements.nextElement() { add(try elements.value(), in: list) }
        }
    }

    private mutating func add(_ element: JSONSpan, in list: OpenWearablesItem.List) {
        changes.items += 1
        guard changes.items <= limit else { return }
        do throws(SampleProblem) {
            rows.append(try OpenWearablesItem(element).row(in: list, item: changes.items))
        } catch { changes.quarantine(element.whole, error.reason) }
    }
}
