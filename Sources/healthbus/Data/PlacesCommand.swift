import Clocks
import Control
import Figures
import Foundation
import HealthModel
import HealthStatistics
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum PlacesCommand: Command {
    static let help = CommandHelp(
        name: "healthbus places",
        summary: "Name places, and see when you were there: list, add NAME LAT LON, remove, import, export.",
        positionals: [
            .init("list|add|remove|import|export", isRequired: false),
            .init("name-or-file", isRequired: false, repeats: true),
        ],
        following: ["remove": [.known(.places)], "import": [.file]],
        options: CommandHelp.stackOptions + [
            .init("--radius", value: "metres", help: "add, import: the circle's radius, 20 to 100000 (default: 100)"),
            .user("the person whose places they are (default: me)"), .json,
        ],
        examples: [
            "healthbus places add Home 52.5163 13.3777 --radius 150", "healthbus places list",
            "healthbus places remove Home", "healthbus places import places.geojson",
            "healthbus places export > places.geojson",
        ])

    private enum Action: String, CaseIterable {
        case list, add, remove
        case take = "import"
        case give = "export"

        /// The words that follow the action on the command line.
        var words: [String] {
            switch self {
            case .list, .give: []
            case .add: ["name", "latitude", "longitude"]
            case .remove: ["name"]
            case .take: ["file"]
            }
        }
    }

    static func run(_ arguments: Arguments) throws {
        let action: Action = try arguments.action(usual: .list)
        let words = try arguments.words(after: action.rawValue, action.words)
        let radius = try radius(arguments, of: action)
        switch action {
        case .list: try list(arguments)
        case .give: try export(arguments)
        case .add:
            let place = try place(words, radius: radius)
            try watch([place.name: place.value], arguments) { "Watching \(place.name): \($0) in all." }
        case .remove:
            let stack = try Stack(arguments)
            let known = try report(stack, arguments).places.map(\.condition.name)
            guard known.contains(words[0]) else {
                throw Failure.usage(
                    "there is no place \"\(words[0])\"",
                    hint: Nearest.hint(
                        for: words[0], among: known, quoted: true, else: "'healthbus places list' shows them"))
            }
            try watch([words[0]: .null], arguments) { "Removed \(words[0]): \($0) left." }
        case .take:
            guard let text = FileManager.default.contents(atPath: words[0]) else {
                throw Failure("can't read '\(words[0])'", hint: "check the name and its permissions")
            }
            let places = try PlaceCollection(geoJSON: Array(text), radius: radius).places
            let conditions = Dictionary(places.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            try watch(conditions, arguments) {
                "Took in \(HumanFormat.count(places.count, "place")): \($0) in all."
            }
        }
    }

    private static func radius(_ arguments: Arguments, of action: Action) throws -> Double {
        if action != .add, action != .take { try arguments.refuse("--radius", isOnlyFor: "add and import") }
        guard let text = arguments.value("--radius") else { return PlaceCondition.defaultRadius }
        guard let radius = Double(text) else {
            throw Failure.usage("--radius can't be \"\(text)\"", hint: "give a distance in metres")
        }
        return radius
    }

    private static func place(_ words: [String], radius: Double) throws -> PlaceCondition {
        guard let latitude = Double(words[1]), let longitude = Double(words[2]) else {
            throw Failure.usage(
                "latitude and longitude aren't both numbers", hint: "give degrees, as in 52.5163 13.3777")
        }
        do {
            return try PlaceCondition(name: words[0], latitude: latitude, longitude: longitude, radius: radius)
        } catch { throw Failure.usage("\(error)", hint: "give degrees and metres, as in 52.5163 13.3777 --radius 150") }
    }

    static func report(_ stack: Stack, _ arguments: Arguments) throws -> PlacesReport {
        try PlacesReport(stack, stack.reader(), user: arguments.user, now: WallClock.now)
    }

    private static func list(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let report = try report(stack, arguments)
        let none = "no places yet in \(stack.place); 'healthbus places add NAME LAT LON' adds one\n"
        // Until something is stored, there are no zones and no visits.
        let isVisited = report.places.contains { $0.lastEvent != nil }
        func zones() throws -> ZoneTimeline? { isVisited ? try stack.zones(of: arguments.user, stack.reader()) : nil }
        try arguments.print(
            json: report.json, none: report.places.isEmpty ? none : nil,
            else: report.table(for: Terminal(.output), zones: zones()))
    }

    private static func export(_ arguments: Arguments) throws {
        let places = try report(try Stack(arguments), arguments).places
        StandardStream.output.write(PlaceCollection(places.map(\.condition)).geoJSON + "\n")
    }

    /// A request must fit in a single message or, for a stopped stack, in a single argument.
    private static let placesAtOnce = 200

    private static func watch(
        _ conditions: [String: Value], _ arguments: Arguments, _ text: (String) -> String
    ) throws {
        let stack = try Stack(arguments)
        let handler = try PlacesReport.handler(of: stack)
        let client = RepairClient(stack)
        defer { client.close() }
        let names = conditions.keys.sorted()
        var outcome = RepairClient.Outcome.done(.null)
        for first in stride(from: 0, to: names.count, by: placesAtOnce) {
            let some = Set(names[first..<min(first + placesAtOnce, names.count)])
            var request = RepairClient.request("watch")
            (request.user, request.conditions) = (arguments.user, conditions.filter { some.contains($0.key) })
            outcome = try client.repair(handler, request)
        }
        RepairOutput.write(outcome, arguments) { text(RepairOutput.count($0["count"], "place")) }
    }
}
