import HealthModel
import JSON

/// One element of `records`, `sleep` or `workouts`, with its members still in the text.
///
/// - Its `id` is HealthKit's UUID, and dates are whole seconds, so the store finds the same sample from an export.
/// - A correlation isn't sent, only its samples, each as a record of its own: exports have those too.
/// - `source` has no name but the recording app's identifier, which differs between a watch and a phone. It stands in
///   for the name, since samples without one would all be of one source, and count twice where the devices overlap. The
///   store sees from equal samples that it is the same source as in exports.
struct OpenWearablesItem {
    enum List: String, CaseIterable { case records, sleep, workouts }

    private var id: JSONSpan?
    private(set) var type: JSONSpan?
    private(set) var stage: JSONSpan?
    private var start: JSONSpan?
    private var end: JSONSpan?
    private(set) var value: JSONSpan?
    private(set) var unit: JSONSpan?
    private var source: JSONSpan?
    private var metadata: JSONSpan?
    /// A workout's numbers.
    private(set) var values: JSONSpan?

    /// The maximum size of an item's JSON, in bytes.
    private static let textLimit = 512 << 10
    private static let nameLimit = 1000

    /// - Throws: `SampleProblem` when the item isn't an object, or is larger than `textLimit`.
    init(_ span: JSONSpan) throws(SampleProblem) {
        guard span.kind == .object else { throw SampleProblem(reason: "the item isn't an object") }
        guard span.bytes.count <= Self.textLimit else {
            throw SampleProblem(reason: "an item has at most \(Self.textLimit >> 10) KiB of JSON")
        }
        try span.eachMember { name, member in
            if !member.isNull { take(name, member) }
        }
    }

    private mutating func take(_ name: JSONSpan, _ member: JSONSpan) {
        switch name.text {
        case "id": id = member
        case "type": type = member
        case "stage": stage = member
        case "startDate": start = member
        case "endDate": end = member
        case "value": value = member
        case "unit": unit = member
        case "source": source = member
        case "metadata": metadata = member
        case "values": values = member
        default: break
        }
    }

    func row(in list: List, item: Int64) throws(SampleProblem) -> RecordRows.Row {
        var row = RecordRows.Row()
        row.item = item
        if let id {
            guard id.isString, let uuid = SampleID(uuid: id.bytes) else {
                throw SampleProblem(reason: "id isn't a UUID")
            }
            row.uuid = uuid
        }
        row.start = try Self.instant(start, "startDate")
        row.end = try Self.instant(end, "endDate")
        guard row.end >= row.start else { throw SampleProblem(reason: "endDate is before startDate") }
        row.origin = try origin()
        if let metadata, metadata.kind == .object, metadata.bytes.count > 2 {
            row.metadata = [UInt8](metadata.bytes)
            if try SampleItem.saysUserEntered(metadata) { row.flags.insert(.userEntered) }
        }
        switch list {
        case .records: try readRecord(&row)
        case .sleep: try readSleep(&row)
        case .workouts: try readWorkout(&row)
        }
        return row
    }

    private static func instant(_ span: JSONSpan?, _ name: String) throws(SampleProblem) -> Instant {
        guard let span, span.kind == .string,
            let instant = InstantText.parse(span.bytes.bindMemory(to: UInt8.self))
        else { throw SampleProblem(reason: "\(name) isn't a date in ISO 8601 with an offset") }
        return instant
    }

    /// The names of older versions of the SDK count too.
    private func origin() throws(SampleProblem) -> Origin {
        guard let source, source.kind == .object else { return Origin(sourceName: "") }
        var texts: [String: String] = [:]
        try source.eachMember { name, value in
            if let name = name.text, let text = value.text, !text.isEmpty { texts[name] = text }
        }
        let origin = Origin(
            sourceName: texts["name"] ?? texts["appId"] ?? texts["bundleIdentifier"] ?? "",
            sourceVersion: texts["version"] ?? "", productType: texts["productType"] ?? texts["deviceModel"] ?? "")
        for part in [origin.sourceName, origin.sourceVersion, origin.productType]
        where part.utf8.count > Self.nameLimit {
            throw SampleProblem(reason: "a source's texts have at most \(Self.nameLimit) bytes each")
        }
        return origin
    }
}
