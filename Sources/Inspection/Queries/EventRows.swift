import Client
import Configuration
import HealthModel
import HealthViews
import Protocol
import Terminal

/// `healthbus nights` and `healthbus workouts`: the handlers' events, with the columns of the views.
package struct EventRows {
    package enum Kind: String, Sendable { case night, workout }

    package struct Event: Sendable {
        package var user: String
        package var day: LocalDay
        package var version: Int64
        /// The events as delivered, but without the track of a route.
        package var body: Value

        package var start: Instant? { moment("start") ?? moment("startDate") }
        package var end: Instant? { moment("end") ?? moment("endDate") }
        private func moment(_ member: String) -> Instant? { body[member].string.flatMap { InstantText.parse($0) } }
    }

    package let kind: Kind
    /// By start.
    package let events: [Event]
    private let view: HealthView?

    package init(_ stack: Stack, _ reader: StackReader, _ kind: Kind, user: String?, _ range: DateRange) throws {
        self.kind = kind
        view = HealthViews(figures: [])[kind == .night ? .nights : .workouts]
        var found: [String: Event] = [:]
        for handler in stack.configuration.handlers
        where handler.manifest.produces.contains(where: { $0.hasPrefix("events.") }) {
            try reader.forEachRow(handler, topic: "events.", days: range.numbers) { row in
                found[row.key] = nil
                guard user == nil || row.user == user, let day = row.day.map({ LocalDay(number: $0) }),
                    let event = row.body?.read(EventBody.self), event.kind == kind.rawValue
                else { return }
                found[row.key] = Event(
                    user: row.user, day: day, version: row.sequence.value, body: Self.withoutTrack(event.event))
            }
        }
        events = found.values.sorted { ($0.start ?? .distantPast, $0.day) < ($1.start ?? .distantPast, $1.day) }
    }

    /// A track is as large as all other members together; only `--gpx` needs it.
    private static func withoutTrack(_ event: Value) -> Value {
        guard var members = event.object, var route = members["route"]?.object, route["track"] != nil else {
            return event
        }
        route["track"] = nil
        members["route"] = .object(route)
        return .object(members)
    }

    package var columns: [String] { view?.columns.map(\.name) ?? [] }

    package func write(to output: RowOutput) throws {
        for event in events {
            for column in view?.columns ?? [] { output.value(Self.cell(column, event)) }
            try output.endRow()
        }
        try output.finish()
    }

    /// The events as `--json` prints them.
    package var value: Value {
        .array(
            events.map { event in
                .object(
                    Dictionary(
                        (view?.columns ?? []).map { ($0.name, Self.cell($0, event)) }, uniquingKeysWith: { $1 }))
            })
    }

    private static func cell(_ column: ViewColumn, _ event: Event) -> Value {
        switch column.name {
        case "user_id": .string(event.user)
        case "id": event.body["id"]
        case "date": .string(event.day.description)
        case "start_date": Value(event.start.map { InstantText.iso8601($0) })
        case "end_date": Value(event.end.map { InstantText.iso8601($0) })
        case "version": .integer(event.version)
        default: column.value(in: event.body)
        }
    }

    /// A table for people.
    package func table(for terminal: Terminal, zones: ZoneTimeline) -> String {
        kind == .night ? nights(terminal, zones) : workouts(terminal, zones)
    }

    private func nights(_ terminal: Terminal, _ zones: ZoneTimeline) -> String {
        let members = [
            ("Asleep", "asleepMinutes"), ("In bed", "inBedMinutes"), ("Deep", "deepMinutes"), ("Core", "coreMinutes"),
            ("REM", "remMinutes"), ("Awake", "awakeMinutes"),
        ]
        var table = Table(
            [.init("Date"), .init("From"), .init("To")] + members.map { .number($0.0, givesWay: 2) }
                + [.init(""), .init("Source", givesWay: 1)])
        for night in events {
            table.add(
                [night.day.description]
                    + [night.start, night.end].map { $0.map { terminal.clock($0, on: zones) } ?? "" }
                    + members.map { Self.hours(night.body[$0.1].double) }
                    + [Self.title(ofNight: night.body), night.body["source"].string ?? ""])
        }
        return table.render(for: terminal)
    }

    /// Which of a day's sessions it is; the main one needs no word.
    private static func title(ofNight night: Value) -> String {
        guard night["main"].bool == false else { return "" }
        return night["asleepMinutes"].isNull ? "in bed" : "nap"
    }

    private func workouts(_ terminal: Terminal, _ zones: ZoneTimeline) -> String {
        var table = Table([
            .init("Date"), .init("From"), .init("Activity"), .number("Time"), .number("km"),
            .number("kcal", givesWay: 3),
            .number("HR avg", givesWay: 2), .number("Route", givesWay: 1), .init("Id"),
        ])
        for workout in events {
            let body = workout.body
            table.add([
                workout.day.description, workout.start.map { terminal.clock($0, on: zones) } ?? "",
                body["type"].string ?? "other",
                Self.hours(body["duration"].double.map { $0 / 60 }),
                body["distance"].double.map { "\(($0 / 1000).rounded(decimals: 1))" } ?? "",
                Self.whole(body["activeEnergy"].double), Self.whole(body["heartRate"]["average"].double),
                Self.whole(body["route"]["points"].double), body["id"].string ?? "",
            ])
        }
        return table.render(for: terminal)
    }

    private static func hours(_ minutes: Double?) -> String { minutes.map { HumanFormat.hours(minutes: $0) } ?? "" }

    private static func whole(_ number: Double?) -> String { number.map { String(Int($0.rounded())) } ?? "" }
}
