import HealthModel
import Testing

/// The samples of a day, written by hand, and what a handler computes from them.
struct DayBuilder {
    var zones: ZoneTimeline
    var day: LocalDay
    var configuration: Value = [:]
    var characteristics: Value = [:]
    private var page = SamplePage()

    init(_ day: String = "2025-06-01", zone: String = "Europe/Berlin") throws {
        try self.init(day, zones: ZoneTimeline(zone: zone))
    }

    init(_ day: String, zones: ZoneTimeline) throws {
        self.zones = zones
        self.day = try #require(LocalDay(day))
    }

    /// Rows must be added in canonical order.
    mutating func add(
        _ type: String, _ start: String, _ end: String? = nil, _ value: Double, source: String = "Watch",
        unit: String? = nil, payload: String = "", metadata: String = "", uuid: SampleID? = nil
    ) throws {
        let start = try #require(InstantText.parse(start))
        add(
            type, start, try end.map { try #require(InstantText.parse($0)) } ?? start, value, source: source,
            unit: unit,
            payload: payload, metadata: metadata, uuid: uuid)
    }

    mutating func add(
        _ type: String, _ start: Instant, _ end: Instant, _ value: Double, source: String = "Watch",
        unit: String? = nil, payload: String = "", metadata: String = "", uuid: SampleID? = nil
    ) {
        page.ids.append(SampleID(high: 1, low: UInt64(page.count)))
        page.sequence.append(1)
        page.type.append(Self.index(type, in: &page.types))
        page.start.append(start.microseconds)
        page.end.append(end.microseconds)
        page.value.append(value)
        page.origin.append(Self.index(Origin(sourceName: source), in: &page.origins))
        page.flags.append([])
        if let unit { page.unit.append(Self.index(unit, in: &page.units)) }
        page.payload.append(payload)
        page.metadata.append(metadata)
        page.healthKitUUID.append(uuid)
    }

    /// Computes the day in the same way as the host does, using nothing but the slice of that day.
    func compute(_ handler: some DayHandler) throws -> DayOutput {
        try handler.compute(
            DayInput(
                user: "anna", day: day, window: handler.window(configuration), zones: zones, cutting: page,
                configuration: configuration, characteristics: characteristics))
    }

    private static func index<Element: Equatable>(_ element: Element, in list: inout [Element]) -> Int32 {
        if let found = list.firstIndex(of: element) { return Int32(found) }
        list.append(element)
        return Int32(list.count - 1)
    }
}
