import HealthModel
import JSON

extension AutoExportReader {
    /// A row of a type with this start and end.
    mutating func row(_ identifier: String, unit: String? = nil, _ start: Instant, _ end: Instant) -> AutoExportRow {
        AutoExportRow(slots: rows.slots(identifier, unit: unit), start: start, end: end)
    }

    /// A row of a metric's type, or of its statistics. There may be many such rows, so their positions in the columns
    /// are looked up once.
    mutating func row(of series: inout AutoExportSeries, _ span: AutoExportSpan) -> AutoExportRow {
        let identifier = series.metric.type.identifier
        guard span.isStatistic else {
            let slots = series.sampleSlots ?? rows.slots(identifier, unit: series.ownUnit)
            series.sampleSlots = slots
            return AutoExportRow(slots: slots, start: span.start, end: span.end)
        }
        let slots = series.statisticSlots ?? rows.slots(HealthType.statistics(of: identifier), unit: series.ownUnit)
        series.statisticSlots = slots
        var row = AutoExportRow(slots: slots, start: span.start, end: span.end)
        (row.created, row.statistic) = (now.flooredSecond, span.statistic)
        return row
    }

    /// A row of a type, or of its statistics.
    mutating func row(_ identifier: String, unit: String? = nil, _ span: AutoExportSpan) -> AutoExportRow {
        let type = span.isStatistic ? HealthType.statistics(of: identifier) : identifier
        var row = row(type, unit: unit, span.start, span.end)
        if span.isStatistic { (row.created, row.statistic) = (now.flooredSecond, span.statistic) }
        return row
    }

    /// Reads what every item may have (source, id, metadata, whether it was typed in), and puts everything that hasn't
    /// been requested into the payload.
    /// - Parameters:
    ///   - metadata: entries by HealthKit's keys; they take precedence over the item's own.
    ///   - keepsID: whether the item's id is that of the sample in HealthKit.
    mutating func describe(
        _ row: inout AutoExportRow, metadata: [String: Value] = [:], payload: [String: Value] = [:],
        spread: (least: Double?, most: Double?) = (nil, nil), keepsID: Bool = true
    ) {
        describeOrigin(&row, metadata, keepsID: keepsID)
        let rest = item.rest
        if rest.isEmpty, payload.isEmpty {
            row.payload = Self.text(spread)
            return
        }
        var members = rest.merging(payload) { _, own in own }
        if let most = spread.most { members["maximum"] = .number(most) }
        if let least = spread.least { members["minimum"] = .number(least) }
        row.payload = Array(Value.object(members).json().utf8)
    }

    /// As above, for an item that may contain long series. Members that are too long for a row are listed in `notKept`.
    /// - Parameter payload: makes the payload from the remaining members.
    mutating func describe(
        _ row: inout AutoExportRow, metadata: [String: Value] = [:], restLimit: Int,
        payload: ([String: Value]) -> [String: Value]
    ) {
        describeOrigin(&row, metadata, keepsID: true)
        let (rest, notKept) = item.rest(upTo: restLimit)
        var members = payload(rest)
        if !notKept.isEmpty { members["notKept"] = .array(notKept.map { .string($0) }) }
        if !members.isEmpty { row.payload = Array(Value.object(members).json().utf8) }
    }

    private mutating func describeOrigin(_ row: inout AutoExportRow, _ metadata: [String: Value], keepsID: Bool) {
        row.origin = origin()
        if keepsID, let id = item.look("id") ?? item.look("uuid") ?? item.look("source_uuid"),
            let uuid = SampleID(uuid: id.bytes)
        {
            row.uuid = uuid
            _ = item.take("id", "uuid", "source_uuid")
        }
        readMetadata(&row, metadata)
    }

    private mutating func readMetadata(_ row: inout AutoExportRow, _ metadata: [String: Value]) {
        var members = metadata
        if item.look("metadata")?.kind == .object, let own = item.take("metadata")?.value.object {
            members.merge(own.filter { !$0.value.isNull }) { known, _ in known }
        }
        if item.look("userEntered")?.flag != nil, item.take("userEntered")?.flag == true {
            members["HKWasUserEntered"] = "1"
        }
        guard !members.isEmpty else { return }
        if let entered = members["HKWasUserEntered"], [.string("1"), .bool(true), .integer(1)].contains(entered) {
            row.flags.insert(.userEntered)
        }
        row.metadata = Array(Value.object(members).json().utf8)
    }

    /// Several sources come as one string, joined by `|`, and stay that way. Heart-rate notifications have an object
    /// with a name instead of a string.
    private mutating func origin() -> Int32 {
        guard let source = item.take("source") else { return rows.originSlot(named: "") }
        guard source.kind == .object else { return rows.originSlot(of: source) }
        return rows.originSlot(named: source.value["name"].string ?? "")
    }

    private static func text(_ spread: (least: Double?, most: Double?)) -> [UInt8] {
        guard spread.least != nil || spread.most != nil else { return [] }
        var text: [UInt8] = []
        if let most = spread.most {
            text.append(json: "{\"maximum\":")
            text.append(json: most)
        }
        if let least = spread.least {
            text.append(json: text.isEmpty ? "{\"minimum\":" : ",\"minimum\":")
            text.append(json: least)
        }
        text.append(json: "}")
        return text
    }
}
