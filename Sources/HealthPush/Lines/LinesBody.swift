import HealthModel
import JSON

/// The body of `POST /v1/lines`: a sample in each line, `type;start;end;value;unit;source`, as a person's Shortcut writes
/// it, with the numbers and names of a phone.
///
/// Empty lines are skipped, and so is a first one that names the fields. The lines are read twice, since all numbers
/// together show how they are printed (`NumberStyle`). A line that isn't understood goes into quarantine, with a reason
/// that names its number and the field.
struct LinesBody {
    /// Items beyond this many are only counted.
    private let limit: Int64
    private var rows = RecordRows()
    private var changes = PushedChanges()
    private var style = NumberStyle()
    /// By the name that a line has; a request has few.
    private var types: [String: HealthType] = [:]

    private init(limit: Int64) { self.limit = limit }

    /// - Parameter body: UTF-8, possibly with a byte order mark.
    /// - Throws: `PushError` when it isn't UTF-8, or has no lines.
    static func changes(in body: [UInt8], limit: Int64 = .max) throws(PushError) -> PushedChanges {
        guard JSONScanner.isUTF8(body) else { throw PushError("the body isn't UTF-8") }
        var reader = LinesBody(limit: limit)
        eachLine(of: body) { reader.look(at: $1) }
        eachLine(of: body) { reader.add($1, number: $0) }
        guard reader.changes.items > 0 else {
            throw PushError("the body has no lines; in Shortcuts, its Request Body is File, with the text")
        }
        var changes = reader.changes
        changes.records = reader.rows.batch
        return changes
    }

    /// Shows each line that isn't empty, nor the header, with its number in the text.
    private static func eachLine(of body: [UInt8], _ show: (_ number: Int, _ line: ArraySlice<UInt8>) -> Void) {
        var start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        var (number, isFirst) = (0, true)
        while start < body.endIndex {
            let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.endIndex
            let line = body[start..<end]
            (start, number) = (end + 1, number + 1)
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
            let isHeader = isFirst && (try? LineFields(line))?.isHeader == true
            isFirst = false
            if !isHeader { show(number, line) }
        }
    }

    /// Notes what a line shows about the style of numbers. What is wrong with it is found when it is added.
    private mutating func look(at line: ArraySlice<UInt8>) {
        guard let fields = try? LineFields(line), let type = try? resolved(fields.type), type.kind == .quantity,
            let number = PhoneNumber(fields.value)
        else { return }
        style.take(number, isShare: type.unit == "%" && ["", "%"].contains(AutoExportUnits.healthKit(fields.unit)))
    }

    private mutating func add(_ line: ArraySlice<UInt8>, number: Int) {
        changes.items += 1
        guard changes.items <= limit else { return }
        do throws(SampleProblem) {
            let fields = try LineFields(line)
            var row = try LineSample(fields, resolved(fields.type), style).row()
            row.item = changes.items
            rows.append(row)
        } catch {
            line.withUnsafeBytes { changes.quarantine($0, "line \(number): \(error.reason)") }
        }
    }

    private mutating func resolved(_ name: String) throws(SampleProblem) -> HealthType {
        if let known = types[name] { return known }
        let type = try LineType.named(name)
        types[name] = type
        return type
    }
}
