import HealthModel
import JSON

/// What the iPhone app healthykit posts: `{device_id, export_id, generated_at, timezone, …, metrics: […], workouts: […]}`.
/// Each element of the two lists is an item (`HealthykitItem`); an item that isn't understood goes into quarantine.
struct HealthykitBody {
    /// Items beyond this many are only counted.
    private let limit: Int64
    /// When the request was received.
    private let now: Instant
    private var rows = RecordRows()
    private var changes = PushedChanges()
    private var hasList = false

    private init(now: Instant, limit: Int64) { (self.now, self.limit) = (now, limit) }

    /// - Throws: `PushError` when the body isn't JSON, or has neither list.
    static func changes(
        in body: [UInt8], now: Instant, limit: Int64 = .max
    ) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8") }
        var reader = HealthykitBody(now: now, limit: limit)
        let problem = body.withUnsafeBytes { reader.problem(inDocument: $0) }
        if let problem { throw PushError("the body is invalid: \(problem)") }
        guard reader.hasList else { throw PushError("the body has neither 'metrics' nor 'workouts'") }
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
            guard name == "metrics" || name == "workouts" else {
                _ = try scanner.value()
                continue
            }
            hasList = true
            let isWorkout = name == "workouts"
            try scanner.beginArray()
            while try scanner.nextElement() { add(try scanner.value(), isWorkout: isWorkout) }
        }
        try scanner.end()
    }

    private mutating func add(_ span: JSONSpan, isWorkout: Bool) {
        changes.items += 1
        guard changes.items <= limit else { return }
        do throws(SampleProblem) {
            var item = try HealthykitItem(span)
            var row = isWorkout ? try item.workout() : try item.metric(receivedAt: now)
            row.item = changes.items
            rows.append(row)
        } catch { changes.quarantine(span.bytes, error.reason) }
    }
}
