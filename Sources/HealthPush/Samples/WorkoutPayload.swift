import HealthModel
import JSON

/// A workout's payload, from the `workout` member of an item: the same members as for a workout from an export (see
/// docs/ways-in.md), in canonical units. `activity` is HealthKit's name or number; everything else is kept unchanged.
enum WorkoutPayload {
    static func json(of span: JSONSpan?) throws(SampleProblem) -> [UInt8] {
        guard let span, span.kind == .object else {
            throw SampleProblem(reason: "a workout has its activity in 'workout': {\"activity\": …}")
        }
        var out: [UInt8] = [UInt8(ascii: "{")]
        var hasActivity = false
        do throws(JSONScanError) {
            var scanner = JSONScanner(span.bytes)
            try scanner.beginObject()
            while let name = try scanner.nextMember() {
                let value = try scanner.value()
                if out.count > 1 { out.append(UInt8(ascii: ",")) }
                out.append(UInt8(ascii: "\""))
                out.append(contentsOf: name.bytes)
                out.append(json: "\":")
                if name == "activity", let activity = activity(value) {
                    hasActivity = true
                    out.append(jsonString: activity)
                } else if value.isString {
                    out.append(UInt8(ascii: "\""))
                    out.append(contentsOf: value.bytes)
                    out.append(UInt8(ascii: "\""))
                } else {
                    out.append(contentsOf: value.bytes)
                }
            }
        } catch { throw SampleProblem(reason: "\(error)") }
        guard hasActivity else {
            throw SampleProblem(reason: "the workout's activity isn't one of HealthKit's names or numbers")
        }
        out.append(UInt8(ascii: "}"))
        return out
    }

    private static func activity(_ span: JSONSpan) -> String? {
        if let number = span.integer {
            return Int(exactly: number).map { WorkoutActivity(raw: $0).identifier }
        }
        guard let name = span.text, !name.isEmpty, name.utf8.count <= 200 else { return nil }
        return WorkoutActivity(named: name).identifier
    }
}
