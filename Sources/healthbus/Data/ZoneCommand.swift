import Client
import Configuration
import Control
import Figures
import HealthModel
import Inspection
import Logging
import Terminal

enum ZoneCommand: Command {
    static let help = CommandHelp(
        name: "healthbus zone",
        summary:
            "Show or change where a person's days begin: set <zone>, add <from> <zone>, remove <from>.",
        positionals: [
            .init("show|set|add|remove", isRequired: false), .init("zone-or-moment", isRequired: false, repeats: true),
        ],
        following: [
            "show": [], "set": [.known(.zones)], "add": [.free, .known(.zones)], "remove": [],
        ],
        options: CommandHelp.stackOptions + [.user("whose days (default: me)"), .json],
        examples: [
            "healthbus zone", "healthbus zone set Europe/Berlin",
            "healthbus zone add 2025-03-30T14:00 America/New_York",
            "healthbus zone remove 2025-03-30",
        ])

    private enum Action: String, CaseIterable {
        case show, set, add, remove

        /// The words that follow the action on the command line.
        var words: [String] {
            switch self {
            case .show: []
            case .set: ["zone"]
            case .add: ["from", "zone"]
            case .remove: ["from"]
            }
        }
    }

    static func run(_ arguments: Arguments) throws {
        let action: Action = try arguments.action(usual: .show)
        let words = try arguments.words(after: action.rawValue, action.words)
        // Typos are reported before any request is sent.
        let moment = try action == .add || action == .remove ? moment(words[0]) : nil
        let zone = try action == .set || action == .add ? known(words[words.count - 1]) : nil
        let stack = try Stack(arguments)
        let user = arguments.user
        if action != .show { try stack.requireRunning() }
        // A user's first zone is set before there is any timeline to show.
        let report = action == .set ? ZoneReport(user: user, parts: []) : try ZoneReport(stack, user: user)
        let change: ZoneClient.Change? =
            switch (action, moment, zone) {
            case (.set, _, let zone?): .set(zone: zone)
            case (.add, let moment?, let zone?):
                .add(from: try ZonePlan.instant(of: moment, in: report.parts), zone: zone)
            case (.remove, let moment?, _): .remove(from: try removable(moment, words[0], report))
            default: nil
            }
        try show(try change.map { try apply($0, stack, user: user) } ?? report, arguments)
    }

    private static func apply(_ change: ZoneClient.Change, _ stack: Stack, user: String) throws -> ZoneReport {
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let parts = try ZoneClient(client: client, observer: stack.observer, hub: stack.hub).apply(change, user: user)
        // Once a person has said in which zone days begin, they aren't asked again.
        if case .set = change { try StackLayer(stack.state).setFormerZone(nil, of: user) }
        return ZoneReport(user: user, parts: parts)
    }

    private static func show(_ report: ZoneReport, _ arguments: Arguments) throws {
        try arguments.print(json: report.json, else: report.table(for: Terminal(.output)))
        // The note goes to standard error, so that the table keeps its form in a pipe; the JSON includes the origin of
        // each entry.
        guard !arguments.flag("--json"), let note = report.note else { return }
        StandardStream.error.write("note: \(arguments.advice.addressed(note))\n")
    }

    private static func moment(_ text: String) throws -> ZoneMoment {
        guard let moment = ZoneMoment(text) else {
            throw Failure.usage(
                "\"\(text)\" is neither a date nor a time",
                hint: "write it as 2025-03-30, 2025-03-30T14:00 (by the clock of the zone before) "
                    + "or 2025-03-30T14:00+02:00")
        }
        return moment
    }

    private static func known(_ name: String) throws -> String {
        try ZoneName.require(name)
        return name
    }

    private static func removable(_ moment: ZoneMoment, _ text: String, _ report: ZoneReport) throws -> Instant {
        let found = try ZonePlan.added(at: moment, in: report.parts)
        if let part = found.first, found.count == 1 { return part.from }
        guard found.isEmpty else {
            let each = found.map { InstantText.iso8601($0.from) }.map { text in "'healthbus zone remove \(text)'" }
            throw Failure(
                "\(found.count) zones were added on \(text)", hint: "choose from \(each.joined(separator: ", "))")
        }
        let from = try ZonePlan.instant(of: moment, in: report.parts)
        guard !report.parts.contains(where: { $0.from == from && $0.origin == .seen }) else {
            throw Failure(
                "the entry of \(text) was seen in the data, not added",
                hint: "'healthbus zone add \(text) ZONE' overrides it")
        }
        // A local time stands for a different moment once the entry before it has been removed.
        let nearest = try ZonePlan.nearestAdded(to: moment, in: report.parts).map { InstantText.iso8601($0.from) }
        throw Failure(
            "no zone was added for \(text)",
            hint: nearest.map { text in "the nearest begins at \(text): 'healthbus zone remove \(text)'" }
                ?? "none was added at all: 'healthbus zone show' shows the timeline")
    }
}
