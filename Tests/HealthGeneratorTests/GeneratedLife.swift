import EnergyStage
import Foundation
import HealthGenerator
import HealthImport
import HealthModel
import HealthStatistics
import HeartRateStage
import SleepStage
import StepsStage
import TestSupport
import WorkoutsStage

/// An export as a reader finds it, with the figures that the handlers compute from it.
struct GeneratedLife: Sendable {
    struct Row: Sendable {
        var type: Int32
        var start: Int64
        var end: Int64
        var value: Double
        var origin: Int32
        var created: Int64
        var payload: String
        var metadata: String
    }

    let days: [LocalDay]
    let zones: ZoneTimeline
    let result: ExportGenerator.Result
    private(set) var summary = ReadSummary()
    private(set) var born: Value = .null
    /// In order of start.
    private(set) var rows: [Row] = []
    private(set) var types: [String] = []
    private(set) var origins: [Origin] = []
    /// The day's ring summary.
    private(set) var rings: [LocalDay: Value] = [:]
    private var places: [Range<Int>] = []

    init(_ options: ExportGenerator.Options) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/export.zip"
        result = try ExportGenerator(options).write(to: path)
        days = (1 - options.days...0).map { options.end.adding(days: $0) }
        zones = try ZoneTimeline(zone: options.zone)
        let receiver = LifeReceiver()
        summary = try ExportReader(path: path).read(into: receiver.take)
        let routes = Dictionary(grouping: receiver.routes) { $0.path }.mapValues(Self.summary)
        types = receiver.types
        origins = receiver.origins
        rows = receiver.rows.map { row in
            guard row.payload.contains("workout-routes"),
                case .object(var body)? = try? Value(json: Array(row.payload.utf8)),
                let route = body["route"]?.string, let summary = routes[route]
            else { return row }
            var row = row
            body["routeSummary"] = summary
            row.payload = Value.object(body).json()
            return row
        }
        rows.sort { ($0.start, $0.end) < ($1.start, $1.end) }
        born = receiver.info?.dateOfBirth.map { .string($0.description) } ?? .null
        for summary in receiver.summaries {
            guard let day = LocalDay(summary.date) else { continue }
            rings[day] = try Value(json: Array(summary.payload.utf8))
        }
        places = placesOfDays()
    }

    private static func summary(_ parts: [WorkoutRoute]) -> Value {
        var summary = RouteSummary()
        for part in parts {
            for index in part.time.indices {
                summary.add(
                    time: part.time[index], latitude: part.latitude[index], longitude: part.longitude[index],
                    elevation: part.elevation[index], horizontalAccuracy: part.horizontalAccuracy[index],
                    verticalAccuracy: part.verticalAccuracy[index])
            }
        }
        return summary.value
    }

    /// The rows that begin from the evening of the day before the last to the noon after each day.
    private func placesOfDays() -> [Range<Int>] {
        func first(from moment: Instant) -> Int {
            var (low, high) = (0, rows.count)
            while low < high {
                let middle = (low + high) / 2
                if rows[middle].start < moment.microseconds { low = middle + 1 } else { high = middle }
            }
            return low
        }
        return days.map { day in
            let ranges = zones.ranges(of: day)
            guard let begin = ranges.first?.lowerBound, let end = ranges.last?.upperBound else { return 0..<0 }
            return first(from: begin - .seconds(30 * 3600))..<first(from: end + .seconds(13 * 3600))
        }
    }

    /// Everything that our handlers say about a day.
    func figures(_ index: Int) throws -> [String: Value] {
        var page = SamplePage()
        page.types = types
        page.origins = origins
        for (number, row) in rows[places[index]].enumerated() {
            page.ids.append(SampleID(high: 1, low: UInt64(number)))
            page.sequence.append(1)
            page.type.append(row.type)
            page.start.append(row.start)
            page.end.append(row.end)
            page.value.append(row.value)
            page.origin.append(row.origin)
            page.flags.append([])
            page.created.append(row.created)
            page.payload.append(row.payload)
            page.metadata.append(row.payload.isEmpty ? "" : row.metadata)
        }
        var figures: [String: Value] = [:]
        let handlers: [any DayHandler] = [
            StepsHandler(), EnergyHandler(), HeartRateHandler(), SleepHandler(), WorkoutsHandler(),
        ]
        for handler in handlers {
            let output = try handler.compute(
                DayInput(
                    user: "anna", day: days[index], window: handler.window([:]), zones: zones, cutting: page,
                    characteristics: ["dateOfBirth": born]))
            figures.merge(output.figures) { $1 }
            if handler is WorkoutsHandler { figures["events"] = .array(output.events.map(\.payload)) }
        }
        return figures
    }

    /// The rows of a type, from one source or any, that begin within a time of the day with this index.
    func rows(_ type: String, on index: Int, from start: Instant, to end: Instant, source: String = "") -> [Row] {
        guard let type = types.firstIndex(where: { $0.hasSuffix("Identifier" + type) }) else { return [] }
        return rows[places[index]].filter { row in
            row.type == Int32(type) && row.start >= start.microseconds && row.start < end.microseconds
                && (source.isEmpty || origins[Int(row.origin)].sourceName.contains(source))
        }
    }
}

/// Keeps the rows of an export in few bytes.
private final class LifeReceiver {
    var info: ExportInfo?
    var rows: [GeneratedLife.Row] = []
    var types: [String] = []
    var origins: [Origin] = []
    var summaries: [ActivitySummaryRecord] = []
    var routes: [WorkoutRoute] = []

    func take(_ event: ExportEvent) {
        switch event {
        case .info(let info): self.info = info
        case .records(let batch): take(batch)
        case .summaries(let rows): summaries += rows
        case .route(let route): routes.append(route)
        default: break
        }
    }

    private func take(_ batch: RecordBatch) {
        let types = batch.types.map { Self.index($0, &self.types) }
        let origins = batch.origins.map { Self.index($0, &self.origins) }
        for row in 0..<batch.count where !batch.flags[row].contains(.correlationChild) {
            rows.append(
                .init(
                    type: types[Int(batch.type[row])], start: batch.start[row], end: batch.end[row],
                    value: batch.value[row], origin: origins[Int(batch.origin[row])], created: batch.created[row],
                    payload: batch.payload[row], metadata: batch.metadata[row]))
        }
    }

    private static func index<Element: Equatable>(_ element: Element, _ list: inout [Element]) -> Int32 {
        if let found = list.firstIndex(of: element) { return Int32(found) }
        list.append(element)
        return Int32(list.count - 1)
    }
}
