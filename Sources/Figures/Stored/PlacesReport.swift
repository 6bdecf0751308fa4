import Client
import Configuration
import HealthModel
import HealthStatistics
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus places list`: a person's monitored places, with their states and visits, whether the stack is running or
/// not.
package struct PlacesReport {
    package struct Place: Sendable {
        package var condition: PlaceCondition
        package var state = PlaceMonitor.State.unknown
        package var visits = 0
        package var minutes = 0.0
        /// The latest change of its state.
        package var lastEvent: PlaceMonitor.Event?
    }

    package let user: String
    package let limit: Int
    /// By name.
    package let places: [Place]

    /// The handler that watches places.
    /// - Throws: `Failure` if the stack has no such handler.
    package static func handler(of stack: Stack) throws(Failure) -> StackConfiguration.Instance {
        let found = stack.configuration.handlers.first { $0.manifest.types.contains(HealthType.locationIdentifier) }
        if let found { return found }
        throw Failure(
            "the stack in \(stack.place) has no instance of the plugin places",
            hint: stack.catalog.shipped("places.json").map { file in
                "'healthbus up --config \(Advice.quoted(file))' starts it with one; or name the plugin in your own configuration"
            } ?? "name the plugin in the stack's configuration")
    }

    /// - Parameter now: the time for which states are judged.
    package init(_ stack: Stack, _ reader: StackReader, user: String, now: Instant) throws {
        let handler = try Self.handler(of: stack)
        var found: [String: Place] = [:]
        let conditions = try reader.conditions(of: handler, user: user)
        for (name, condition) in conditions.object ?? [:] {
            found[name] = Place(condition: try PlaceCondition(name: name, condition))
        }
        for row in try reader.rows(handler, topic: "events.") where row.user == user {
            guard let event = row.body?.read(EventBody.self), event.kind == "place",
                let name = event.event["place"].string, let change = PlaceMonitor.Event(event.event)
            else { continue }
            if change.state == .satisfied { found[name]?.visits += 1 }
            if change.time >= found[name]?.lastEvent?.time ?? .distantPast { found[name]?.lastEvent = change }
        }
        for row in try reader.rows(handler, topic: "figures.") where row.user == user {
            for place in row.body?["figures"]["places"].array ?? [] {
                if let name = place["place"].string { found[name]?.minutes += place["minutes"].double ?? 0 }
            }
        }
        if !found.isEmpty {
            for (name, state) in try Self.states(stack, reader, handler, conditions, user: user, now: now) {
                found[name]?.state = state
            }
        }
        self.user = user
        limit = Int(handler.configuration["limit"].int ?? 0)
        places = found.values.sorted { $0.condition.name < $1.condition.name }
    }

    /// Based on the fixes of the last two gaps, which determine the present state.
    private static func states(
        _ stack: Stack, _ reader: StackReader, _ handler: StackConfiguration.Instance, _ conditions: Value,
        user: String, now: Instant
    ) throws -> [String: PlaceMonitor.State] {
        let observer = try ObserverQueries(stack, reader)
        guard let zones = try observer.timelines()[user] else { return [:] }
        let window = try PlacesDay.window(handler.configuration)
        let range = now - window.before..<now + .seconds(1)
        let input = DayInput(
            user: user, day: zones.day(of: now), window: [range], zones: zones,
            samples: try observer.samples(
                user: user, types: LocationFix.types.sorted(), from: range.lowerBound, to: range.upperBound,
                detailed: LocationFix.types),
            configuration: handler.configuration, characteristics: ["conditions": conditions])
        return try PlacesDay.states(input, at: now)
    }

    package var json: String { value.json(pretty: true) }

    /// `{user, limit, places: [{name, latitude, longitude, radiusMeters, state, visits, minutes, lastEvent}]}`.
    package var value: Value {
        [
            "user": .string(user), "limit": Value(limit),
            "places": .array(
                places.map { place in
                    var members = place.condition.value.object ?? [:]
                    members["name"] = .string(place.condition.name)
                    members["state"] = .string(place.state.rawValue)
                    members["visits"] = Value(place.visits)
                    members["minutes"] = .number(place.minutes.rounded(decimals: 2))
                    members["lastEvent"] = place.lastEvent?.value ?? .null
                    return .object(members)
                }),
        ]
    }

    package func table(for terminal: Terminal, zones: ZoneTimeline?) -> String {
        var table = Table([
            .init("Place"), .number("Latitude", givesWay: 1), .number("Longitude", givesWay: 1), .number("Radius m"),
            .init("State"), .number("Visits"), .number("Time"), .init("Last event", givesWay: 2),
        ])
        for place in places {
            table.add([
                place.condition.name, Self.degrees(place.condition.latitude), Self.degrees(place.condition.longitude),
                "\(Int(place.condition.radius.rounded()))", Self.words(place.state), HumanFormat.count(place.visits),
                HumanFormat.hours(minutes: place.minutes),
                place.lastEvent.map { terminal.moment($0.time, on: zones) } ?? "",
            ])
        }
        return table.render(for: terminal)
    }

    private static func words(_ state: PlaceMonitor.State) -> String {
        switch state {
        case .satisfied: "inside"
        case .unsatisfied: "outside"
        case .unknown: "unknown"
        }
    }

    /// Six decimals correspond to about 11 cm.
    private static func degrees(_ degrees: Double) -> String { "\(degrees.rounded(decimals: 6))" }
}

extension StackReader {
    /// The conditions that a handler watches for a person, by name.
    func conditions(of handler: StackConfiguration.Instance, user: String) throws -> Value {
        var found: [String: Value] = [:]
        for row in try rows(handler, topic: ConditionBody.topicPrefix) where row.user == user {
            if let kept = row.body?.read(ConditionBody.self) { found[kept.name] = kept.condition }
        }
        return .object(found)
    }
}

extension PlaceMonitor.Event {
    /// A change of state as its handler publishes it; nil if it can't be read.
    fileprivate init?(_ value: Value) {
        guard let state = value["state"].string.flatMap(PlaceMonitor.State.init(rawValue:)),
            let from = value["from"].string.flatMap(PlaceMonitor.State.init(rawValue:)),
            let time = value["time"].string.flatMap({ InstantText.parse($0) })
        else { return nil }
        self.init(state: state, from: from, time: time)
    }

    fileprivate var value: Value {
        [
            "state": .string(state.rawValue), "from": .string(from.rawValue),
            "time": .string(InstantText.iso8601(time)),
        ]
    }
}
