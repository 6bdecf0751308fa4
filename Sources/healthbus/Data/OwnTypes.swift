import Configuration
import Figures
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

/// `healthbus types own|add|change|remove`: a person's own types.
enum OwnTypes {
    enum Action: String, CaseIterable {
        case own, add, change, remove

        var options: Set<String> {
            switch self {
            case .own: ["--user"]
            case .add: ["--unit", "--aggregation", "--category", "--user"]
            case .change: ["--unit", "--aggregation", "--user"]
            case .remove: ["--user"]
            }
        }
    }

    static func refuseOptions(_ arguments: Arguments, besides known: Set<String>, of action: String) throws {
        let all = ["--unit", "--aggregation", "--user", "--category"]
        try arguments.refuse(all, besides: known, of: "types" + (action.isEmpty ? "" : " " + action))
    }

    static func run(_ action: Action, _ stack: Stack, _ arguments: Arguments) throws {
        try refuseOptions(arguments, besides: action.options, of: action.rawValue)
        let words = Array(arguments.positionals.dropFirst())
        guard words.count == (action == .own ? 0 : 1) else {
            throw Failure.usage(
                action == .own ? "types own takes no type" : "types \(action.rawValue) takes one name",
                hint: action == .own ? "leave it out" : "as in 'healthbus types \(action.rawValue) coffee'")
        }
        switch action {
        case .own: try list(stack, arguments)
        case .add:
            // The observer knows the names of the usual figures; a person's own handler may have others.
            guard
                OwnTypeNames.meaning(of: words[0]) != nil
                    || !FigureNames.isTaken(words[0], by: stack.configuration.figures)
            else {
                throw Failure.usage(
                    "a day has a figure of that name",
                    hint: "choose another name, such as \(OwnTypeNames.proposal(for: words[0]))")
            }
            var body = members(arguments)
            body["name"] = .string(words[0])
            if arguments.flag("--category") { body["kind"] = "category" }
            let form = words[0] + (arguments.flag("--category") ? "" : " 1")
            try OwnOutput.carryOut(OwnRequest(.addType, body: .object(body)), stack, arguments) { _ in
                "Made \(words[0]). 'healthbus events add \(form)' enters an event."
            }
        case .change:
            let body = members(arguments)
            guard !body.isEmpty else {
                throw Failure.usage("no change is given", hint: "give --unit or --aggregation")
            }
            let wish = OwnRequest(.changeType, id: words[0], body: .object(body))
            try OwnOutput.carryOut(wish, stack, arguments) {
                "\(words[0]) is in version \($0["version"].int ?? 0) now."
            }
        case .remove:
            let wish = OwnRequest(.removeType, id: words[0])
            try OwnOutput.carryOut(wish, stack, arguments) { _ in "Removed \(words[0])." }
        }
    }

    private static func members(_ arguments: Arguments) -> [String: Value] {
        var body: [String: Value] = [:]
        if let unit = arguments.value("--unit") { body["unit"] = .string(unit) }
        if let aggregation = arguments.value("--aggregation") { body["aggregation"] = .string(aggregation) }
        return body
    }

    private static func list(_ stack: Stack, _ arguments: Arguments) throws {
        let report = try EntriesReport(stack, stack.reader(), user: arguments.user)
        let none = "no types of your own yet in \(stack.place); 'healthbus types add NAME' makes one\n"
        arguments.print(
            json: report.typesValue.json(pretty: true), none: report.types.isEmpty ? none : nil,
            else: report.typeTable(for: Terminal(.output)))
    }
}
