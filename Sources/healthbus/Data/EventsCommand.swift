import Configuration
import Control
import Figures
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Terminal

enum EventsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus events",
        summary: "Enter what you measured or did: list, add TYPE VALUE, change ID, remove ID.",
        positionals: [
            .init("list|add|change|remove", isRequired: false),
            .init("type-or-id", isRequired: false), .init("value", isRequired: false),
        ],
        following: ["add": [.known(.entries)]],
        options: CommandHelp.stackOptions + [
            .init("--at", value: "time", help: "add, change: when, as in 2025-03-30T08:15 (default: now)"),
            .init("--until", value: "time", help: "add, change: its end (default: an instant)"),
            .init("--value", value: "number", help: "change: another value; add: the same as <value>"),
            .init("--unit", value: "unit", help: "add, change: the value's unit (default: the type's own)"),
            .init("--note", value: "text", help: "add, change: a few words about it; \"\" removes them"),
            .init(
                "--id", value: "id", help: "add: an id of your own, so that a repeat adds nothing (default: random)"),
            .init("--if-version", value: "number", help: "change, remove: only if this is its current version"),
            .user("whose (default: me)"), .json,
        ],
        examples: [
            "healthbus types add coffee --unit cups", "healthbus events add coffee 2 --note \"with milk\"",
            "healthbus events add BodyMass 71.4 --at 2025-03-30T07:00", "healthbus events list",
            "healthbus events change 5f0c --value 3", "healthbus events remove 5f0c",
        ])

    private enum Action: String, CaseIterable {
        case list, add, change, remove

        /// Options that only some of the actions accept.
        var options: Set<String> {
            switch self {
            case .list: []
            case .add: ["--at", "--until", "--value", "--unit", "--note", "--id"]
            case .change: ["--at", "--until", "--value", "--unit", "--note", "--if-version"]
            case .remove: ["--if-version"]
            }
        }

        static let allOptions = ["--at", "--until", "--value", "--unit", "--note", "--id", "--if-version"]
    }

    static func run(_ arguments: Arguments) throws {
        let action: Action = try arguments.action(usual: .list)
        try arguments.refuse(Action.allOptions, besides: action.options, of: "events \(action.rawValue)")
        let words = Array(arguments.positionals.dropFirst())
        let stack = try Stack(arguments)
        switch action {
        case .list:
            try require(words, 0...0, action)
            try list(stack, arguments)
        case .add:
            try require(words, 1...2, action)
            try add(words, stack, arguments)
        case .change:
            try require(words, 1...1, action)
            try change(words[0], stack, arguments)
        case .remove:
            try require(words, 1...1, action)
            let event = try event(words[0], stack, arguments)
            let wish = OwnRequest(.removeEvent, id: event.id, version: try version(arguments))
            try OwnOutput.carryOut(wish, stack, arguments) { _ in "Removed \(event.id)." }
        }
    }

    private static func require(_ words: [String], _ count: ClosedRange<Int>, _ action: Action) throws {
        if words.count > count.upperBound {
            throw Failure.usage("unexpected \"\(words[count.upperBound])\"", hint: usage(action))
        }
        guard words.count >= count.lowerBound else {
            throw Failure.usage(action == .add ? "<type> is missing" : "<id> is missing", hint: usage(action))
        }
    }

    private static func usage(_ action: Action) -> String {
        switch action {
        case .list: "usage: healthbus events list"
        case .add: "usage: healthbus events add <type> <value>"
        case .change, .remove: "usage: healthbus events \(action.rawValue) <id>"
        }
    }

    private static func list(_ stack: Stack, _ arguments: Arguments) throws {
        let reader = stack.reader()
        let report = try EntriesReport(stack, reader, user: arguments.user)
        let none = "no events yet in \(stack.place); 'healthbus events add TYPE VALUE' enters one\n"
        try arguments.print(
            json: report.eventsValue.json(pretty: true), none: report.events.isEmpty ? none : nil,
            else: report.eventTable(for: Terminal(.output), zones: stack.zones(of: arguments.user, reader)))
    }

    private static func add(_ words: [String], _ stack: Stack, _ arguments: Arguments) throws {
        let type = try EnteredType.identifier(words[0], stack, stack.reader(), user: arguments.user)
        guard words.count == 1 || arguments.value("--value") == nil else {
            throw Failure.usage("the value is given twice", hint: "leave --value out")
        }
        let text = words.count == 2 ? words[1] : arguments.value("--value")
        try EnteredType.check(text, of: type)
        var body: [String: Value] = ["type": .string(type)]
        if let text { body["value"] = try value(text) }
        try read(arguments, stack, into: &body)
        // The id is generated here, so that repeating the message doesn't create another event.
        let id = arguments.value("--id") ?? UUID().uuidString.lowercased()
        let wish = OwnRequest(.addEvent, id: id, body: .object(body))
        try OwnOutput.carryOut(wish, stack, arguments) { _ in
            "Entered \(TypeName.short(type)), as \(id)."
        }
    }

    private static func change(_ id: String, _ stack: Stack, _ arguments: Arguments) throws {
        let event = try event(id, stack, arguments)
        var patch: [String: Value] = [:]
        if let text = arguments.value("--value") {
            try EnteredType.check(text, of: event.type)
            patch["value"] = try value(text)
        }
        try read(arguments, stack, into: &patch)
        guard !patch.isEmpty else {
            throw Failure.usage("no change is given", hint: "give --value, --at, --until, --unit or --note")
        }
        // Without an explicit version, the change applies only to the version that was just read.
        let version = try version(arguments) ?? event.version
        let wish = OwnRequest(.changeEvent, id: event.id, version: version, body: .object(patch))
        try OwnOutput.carryOut(wish, stack, arguments) {
            "\(event.id) is in version \($0["version"].int ?? 0) now."
        }
    }

    private static func version(_ arguments: Arguments) throws -> Int64? {
        try arguments.integer("--if-version", in: 1...Int.max).map { Int64($0) }
    }

    /// A number, or the name of a category's value.
    private static func value(_ text: String) throws -> Value {
        if let number = Int64(text) { return .integer(number) }
        guard let number = Double(text) else {
            guard Double(text.replacing(",", with: ".")) == nil else {
                throw Failure.usage("\(text) isn't a number", hint: "use a point, as in 71.4")
            }
            return .string(text)
        }
        guard number.isFinite else {
            throw Failure.usage("\(text) isn't a finite number", hint: "as in 2 or 71.4")
        }
        return .number(number)
    }

    private static func event(_ id: String, _ stack: Stack, _ arguments: Arguments) throws -> OwnEventRow {
        try EntriesReport(stack, stack.reader(), user: arguments.user, event: id).event(id)
    }

    private static func read(_ arguments: Arguments, _ stack: Stack, into body: inout [String: Value]) throws {
        for (option, member) in [("--at", "start"), ("--until", "end")] {
            guard let text = arguments.value(option) else { continue }
            guard let moment = ZoneMoment(text) else {
                throw Failure.usage("\(option) \(text) isn't a time", hint: "as in 2025-03-30T08:15")
            }
            // The value as 'events list' shows it.
            let zones = try stack.zones(of: arguments.user, stack.reader())
            body[member] = .string(InstantText.iso8601(moment.instant(on: zones)))
        }
        if let unit = arguments.value("--unit") { body["unit"] = .string(unit) }
        if let note = arguments.value("--note") { body["note"] = note.isEmpty ? .null : .string(note) }
    }
}

/// Carries out what a person wants to do with their own events and types.
enum OwnOutput {
    static func carryOut(
        _ wish: OwnRequest, _ stack: Stack, _ arguments: Arguments, _ text: (Value) -> String
    ) throws {
        var request = RepairClient.request("own")
        (request.user, request.own) = (arguments.user, wish)
        var outcome = try stack.repair(try stack.instance(.observer), request)
        // The observer doesn't name a person's types where everybody on the bus can read it.
        if let name = typeName(wish), case .done(let result) = outcome, var members = result.object {
            members["name"] = .string(name)
            outcome = .done(.object(members))
        }
        RepairOutput.write(outcome, arguments, text)
    }

    private static func typeName(_ wish: OwnRequest) -> String? {
        switch wish.action {
        case .addType: wish.body?["name"].string
        case .changeType, .removeType: wish.id
        default: nil
        }
    }
}
