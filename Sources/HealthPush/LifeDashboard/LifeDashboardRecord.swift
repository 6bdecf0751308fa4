import HealthModel
import JSON

/// A record with its members still in the text.
struct LifeDashboardRecord {
    private(set) var uuid: JSONSpan?
    private(set) var source: JSONSpan?
    private(set) var start: JSONSpan?
    private(set) var end: JSONSpan?
    /// Those of a kind: numbers and words.
    private(set) var others: [(name: JSONSpan, value: JSONSpan)] = []

    private static let textLimit = 64 << 10
    private static let nameLimit = 1000

    init(_ span: JSONSpan) throws(SampleProblem) {
        guard span.kind == .object else { throw SampleProblem(reason: "a record is a JSON object") }
        guard span.bytes.count <= Self.textLimit else {
            throw SampleProblem(reason: "a record has at most \(Self.textLimit >> 10) KiB of JSON")
        }
        try span.eachMember { name, member in
            if member.isNull { return }
            if name == "uuid" {
                uuid = member
            } else if name == "source" {
                source = member
            } else if name == "start_time" || name == "time" || name == "bucket_start" {
                start = member
            } else if name == "end_time" || name == "bucket_end" {
                end = member
            } else {
                others.append((name, member))
            }
        }
    }

    func member(_ name: String) -> JSONSpan? { others.first { $0.name.text == name }?.value }

    /// Whether it is a sum or mean of several records, as the app sends if a resolution is set for the kind.
    var isBucket: Bool { others.contains { $0.name == "sample_count" } }

    /// A row without a type and a value.
    func row(item: Int64) throws(SampleProblem) -> RecordRows.Row {
        var row = RecordRows.Row()
        row.item = item
        guard let start = start.flatMap(Self.instant) else { throw SampleProblem(reason: "its time isn't a date") }
        guard let end = end.map(Self.instant) ?? start else { throw SampleProblem(reason: "end_time isn't a date") }
        guard end >= start else { throw SampleProblem(reason: "it ends before it starts") }
        (row.start, row.end) = (start, end)
        if let source {
            guard let name = source.text, name.utf8.count <= Self.nameLimit else {
                throw SampleProblem(reason: "source isn't a name of at most \(Self.nameLimit) bytes")
            }
            row.origin = Origin(sourceName: name)
        }
        // Android has ids that aren't UUIDs for the readings within a record: those are recognized by their contents.
        row.uuid = uuid.flatMap { $0.isString ? SampleID(uuid: $0.bytes) : nil }
        return row
    }

    func number(_ kind: LifeDashboardNumber, _ member: String? = nil) throws(SampleProblem) -> Double {
        guard let value = self.member(member ?? kind.member), value.kind == .number,
            let number = kind.factors.convert(value.bytes.bindMemory(to: UInt8.self)), number.isFinite
        else { throw SampleProblem(reason: "\(member ?? kind.member) isn't a number") }
        return number
    }

    private static func instant(_ span: JSONSpan) -> Instant? {
        span.kind == .string ? InstantText.parse(span.bytes.bindMemory(to: UInt8.self)) : nil
    }
}
