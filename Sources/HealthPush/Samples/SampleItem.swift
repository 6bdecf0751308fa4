import HealthModel
import JSON

/// One sample as sent by a program, with its members still in the text.
struct SampleItem {
    private(set) var uuid: JSONSpan?
    private(set) var type: JSONSpan?
    private(set) var start: JSONSpan?
    private(set) var end: JSONSpan?
    private(set) var value: JSONSpan?
    private(set) var unit: JSONSpan?
    private(set) var source: JSONSpan?
    private(set) var device: JSONSpan?
    private(set) var created: JSONSpan?
    private(set) var metadata: JSONSpan?
    private(set) var userEntered: JSONSpan?
    private(set) var sourceType: JSONSpan?
    /// A statistic for a stretch of time instead of a sample.
    private(set) var statistics: JSONSpan?
    private(set) var workout: JSONSpan?
    private(set) var parts: JSONSpan?
    private(set) var payload: JSONSpan?
    private(set) var location: JSONSpan?

    /// The maximum size of an item's JSON, in bytes.
    private static let textLimit = 512 << 10
    private static let nameLimit = 1000

    /// - Throws: `SampleProblem` when the item isn't an object, or is larger than `textLimit`.
    init(_ span: JSONSpan) throws(SampleProblem) {
        guard span.kind == .object else { throw SampleProblem(reason: "a sample is a JSON object") }
        guard span.bytes.count <= Self.textLimit else {
            throw SampleProblem(reason: "a sample has at most \(Self.textLimit >> 10) KiB of JSON")
        }
        try span.eachMember { name, member in
            if !member.isNull { take(name, member) }
        }
    }

    private mutating func take(_ name: JSONSpan, _ member: JSONSpan) {
        switch name.text {
        case "uuid", "healthkitUUID": uuid = member
        case "type": type = member
        case "start", "startDate": start = member
        case "end", "endDate": end = member
        case "value": value = member
        case "unit": unit = member
        case "source": source = member
        case "device": device = member
        case "created", "creationDate": created = member
        case "metadata": metadata = member
        case "userEntered": userEntered = member
        case "sourceType": sourceType = member
        case "statistics": statistics = member
        case "workout": workout = member
        case "parts": parts = member
        case "payload": payload = member
        case "location": location = member
        default: break
        }
    }

    /// Takes from a part's correlation the times, source, device and creation date that the part itself lacks.
    mutating func inherit(_ whole: SampleItem) {
        start = start ?? whole.start
        end = end ?? whole.end
        source = source ?? whole.source
        device = device ?? whole.device
        created = created ?? whole.created
    }

    /// The sample's row; for a correlation, its own row and those of its parts.
    func rows(item: Int64) throws(SampleProblem) -> [RecordRows.Row] {
        var row = RecordRows.Row()
        row.item = item
        try readType(&row)
        try readTimes(&row)
        try readOrigin(&row)
        try readTexts(&row)
        if let uuid {
            guard uuid.isString, let id = SampleID(uuid: uuid.bytes) else {
                throw SampleProblem(reason: "uuid isn't a UUID")
            }
            row.uuid = id
        }
        let kind = HealthType.named(row.type).kind
        if let statistics { try readStatistics(statistics, &row) }
        switch kind {
        case .quantity: try readQuantity(&row)
        case .category: try readCategory(&row)
        case .workout: row.payload = try WorkoutPayload.json(of: workout, start: row.start, end: row.end)
        case .correlation: return try withParts(row)
        case .other where row.type == HealthType.locationIdentifier:
            row.payload = try LocationPayload.json(of: location ?? payload)
        case .other: try readOther(&row)
        }
        return [row]
    }

    private func readType(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let name = type?.text, !name.isEmpty, name.utf8.count <= 200 else {
            throw SampleProblem(reason: "type is missing, or isn't a HealthKit identifier")
        }
        row.type = name
    }

    private func readTimes(_ row: inout RecordRows.Row) throws(SampleProblem) {
        guard let start = start.flatMap(Self.instant) else {
            throw SampleProblem(reason: "start isn't a date: ISO 8601 with an offset, or seconds since 1970")
        }
        guard let end = end.map(Self.instant) ?? start else {
            throw SampleProblem(reason: "end isn't a date: ISO 8601 with an offset, or seconds since 1970")
        }
        guard end >= start else { throw SampleProblem(reason: "end is before start") }
        (row.start, row.end) = (start, end)
        if let created {
            guard let instant = Self.instant(created) else { throw SampleProblem(reason: "created isn't a date") }
            row.created = max(0, instant.flooredSecond)
        }
    }

    /// Reads ISO 8601 text, or a number of seconds since 1970.
    private static func instant(_ span: JSONSpan) -> Instant? {
        if span.kind == .string { return InstantText.parse(span.bytes.bindMemory(to: UInt8.self)) }
        // The range is that of the years 1 to 9999; nothing outside it can be intended.
        guard let seconds = span.double, (-62_135_596_800...253_402_300_799).contains(seconds) else { return nil }
        return Instant(microseconds: Int64((seconds * 1e6).rounded()))
    }

    private func readOrigin(_ row: inout RecordRows.Row) throws(SampleProblem) {
        var origin = Origin(sourceName: "")
        if let source {
            if let name = source.text {
                origin = Origin(sourceName: name)
            } else if source.kind == .object {
                origin = try Self.origin(source)
            } else {
                throw SampleProblem(reason: "source must be a name, or {\"name\", \"version\", \"productType\"}")
            }
        }
        if let device {
            guard let text = device.text else { throw SampleProblem(reason: "device isn't text") }
            origin.device = text
        }
        for part in [origin.sourceName, origin.sourceVersion, origin.productType, origin.device]
        where part.utf8.count > Self.nameLimit {
            throw SampleProblem(reason: "source and device have at most \(Self.nameLimit) bytes each")
        }
        row.origin = origin
    }

    private static func origin(_ object: JSONSpan) throws(SampleProblem) -> Origin {
        var (name, version, product) = ("", "", "")
        try object.eachMember { key, value in
            if key == "name" { name = value.text ?? "" }
            if key == "version" { version = value.text ?? "" }
            if key == "productType" { product = value.text ?? "" }
        }
        return Origin(sourceName: name, sourceVersion: version, productType: product)
    }

    private func readTexts(_ row: inout RecordRows.Row) throws(SampleProblem) {
        if let metadata {
            guard metadata.kind == .object else { throw SampleProblem(reason: "metadata isn't an object") }
            if metadata.bytes.count > 2 { row.metadata = [UInt8](metadata.bytes) }
            if try Self.saysUserEntered(metadata) { row.flags.insert(.userEntered) }
        }
        if let userEntered {
            guard userEntered.kind == .bool else { throw SampleProblem(reason: "userEntered is true or false") }
            if userEntered.bytes.first == UInt8(ascii: "t") { row.flags.insert(.userEntered) }
        }
        if let sourceType {
            guard sourceType == "healthkit" || sourceType == "manual" else {
                throw SampleProblem(reason: "sourceType is neither healthkit nor manual")
            }
            if sourceType == "manual" { row.flags.insert(.manual) }
        }
    }

    /// Whether the metadata has HealthKit's own marker for manual entries (`HKMetadataKeyWasUserEntered`), as a number,
    /// boolean or text.
    static func saysUserEntered(_ metadata: JSONSpan) throws(SampleProblem) -> Bool {
        var marker: JSONSpan?
        try metadata.eachMember { if $0 == "HKWasUserEntered" { marker = marker ?? $1 } }
        guard let marker else { return false }
        return marker.integer == 1 || marker.kind == .bool && marker.bytes.first == UInt8(ascii: "t")
            || marker.text == "1"
    }
}
