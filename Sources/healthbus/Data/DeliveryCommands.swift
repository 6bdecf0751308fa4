import BackgroundDelivery
import Client
import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

enum TypesCommand: Command {
    static let help = CommandHelp(
        name: "healthbus types",
        summary:
            "Show how each type is delivered; switch types off and on, set their frequency; make your own.",
        details: "'off' pauses a type: nothing waits for it, and 'on' continues from there. "
            + "'deny' acts as a person who forbids the app to read it, and 'allow' as one who permits it again. "
            + "The frequency 'default' is the one that the app asks for.",
        positionals: [
            .init("off|on|frequency|deny|allow|own|add|change|remove", isRequired: false),
            .init("type", isRequired: false), .init("frequency", isRequired: false),
        ],
        following: [
            "off": [.known(.types)], "on": [.known(.types)], "deny": [.known(.types)], "allow": [.known(.types)],
            "own": [], "add": [], "change": [.known(.own)], "remove": [.known(.own)],
        ],
        options: CommandHelp.stackOptions + [
            .init("--unit", value: "unit", help: "add, change: the unit of its values, such as cups"),
            .init(
                "--aggregation", value: "sum|average|latest|count",
                help: "add, change: what a day shows (default: sum, or count for a category)"),
            .init("--category", help: "add: it has no value; a day shows how often it occurred"),
            .user("own, add, change, remove: whose (default: me)"), .json,
        ],
        examples: [
            "healthbus types", "healthbus types off BodyMass", "healthbus types frequency StepCount hourly",
            "healthbus types add coffee --unit cups", "healthbus types add cold-shower --category",
            "healthbus types own", "healthbus types remove coffee",
        ])

    private static let actions = ["off", "on", "frequency", "deny", "allow"]

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let words = arguments.positionals
        guard let action = words.first else {
            try OwnTypes.refuseOptions(arguments, besides: [], of: "")
            return try show(stack, arguments)
        }
        if let own = OwnTypes.Action(rawValue: action) { return try OwnTypes.run(own, stack, arguments) }
        guard actions.contains(action) else {
            let all = actions + OwnTypes.Action.allCases.map(\.rawValue)
            throw Failure.usage(
                "'types' has no subcommand '\(action)'",
                hint: "it takes \(all.joined(separator: ", ")), or nothing to list them")
        }
        try OwnTypes.refuseOptions(arguments, besides: [], of: action)
        let wanted = action == "frequency" ? 3 : 2
        guard words.count == wanted else {
            throw Failure.usage(
                "types \(action) takes \(wanted == 3 ? "a type and a frequency" : "one type")",
                hint: "as in 'healthbus types \(action) StepCount\(wanted == 3 ? " hourly" : "")'")
        }
        var acting = stack
        acting.acting = stack.observer
        let report = try TypesReport(acting, now: Date())
        let type = try TypeName.identifier(words[1], known: report.types.map(\.type))
        var setting = SwitchTypes.Setting()
        switch action {
        case "off", "on": setting.on = action == "on"
        case "deny", "allow": setting.denied = action == "deny"
        default:
            let names = DeliveryFrequency.allCases.map(\.name) + [SwitchTypes.appsFrequency]
            guard names.contains(words[2]) else {
                throw Failure.usage(
                    "\(words[2]) isn't a frequency", hint: "choose from \(names.joined(separator: ", "))")
            }
            guard ObserverRegistrations.canWake(type) else {
                throw Failure.usage(
                    "\(type) has no frequency: HealthKit doesn't deliver correlations in the background",
                    hint: "set that of the types of its parts")
            }
            setting.frequency = words[2]
        }
        try command(stack) { try $0.setType(type, setting) }
        try show(stack, arguments, only: type)
    }

    private static func show(_ stack: Stack, _ arguments: Arguments, only type: String? = nil) throws {
        let report = try TypesReport(stack, now: Date()).only(type)
        func none() throws -> String? {
            guard report.types.isEmpty else { return nil }
            let advice = try NothingYet.advice(stack, stack.reader(foundSilent: { _ in }), user: nil)
            return "no types yet in \(stack.place); \(advice)\n"
        }
        try arguments.print(json: report.json, none: none(), else: report.table(for: Terminal(.output)))
    }

    /// Sends commands to the running observer.
    static func command<Result>(_ stack: Stack, _ body: (DeliveryCommands) throws -> Result) throws -> Result {
        guard try stack.reader().isRunning(stack.observer) else {
            throw Failure("no stack is running in \(stack.place)", hint: "start it with \(stack.startCommand)")
        }
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        return try body(DeliveryCommands(client: client, observer: stack.observer, hub: stack.hub))
    }
}

enum DeviceCommand: Command {
    static let help = CommandHelp(
        name: "healthbus device",
        summary:
            "Show or set what the stack knows about the phone: its app, lock, battery and network.",
        details: "The keys are app (\(DeviceState.AppState.allCases.map(\.rawValue).joined(separator: ", "))), battery "
            + "(0 to 1), network (wifi, cellular, …, none or unknown), and locked, charging, lowPower, sleepMode and deferring "
            + "(true or false).",
        positionals: [
            .init("show|set|reset", isRequired: false),
            .init("key=value", isRequired: false, repeats: true),
        ],
        options: CommandHelp.stackOptions + [.json],
        examples: [
            "healthbus device", "healthbus device set locked=true app=background", "healthbus device reset",
        ])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let words = Array(arguments.positionals.dropFirst())
        let state: DeviceState
        switch arguments.positionals.first {
        case "show", nil:
            guard words.isEmpty else { throw Failure.usage("device show takes no arguments") }
            let saved: [Page<DeliveryPage>] = try stack.reader().pages(try stack.instance(.observer), .delivery)
            state = saved.first?.device ?? DeviceState()
        case "set":
            let members = try DeviceState.members(words)
            guard !members.isEmpty else {
                throw Failure.usage("device set needs KEY=VALUE", hint: "as in locked=true or app=background")
            }
            state = try TypesCommand.command(stack) { try $0.setDevice(members) }
        case "reset":
            guard words.isEmpty else { throw Failure.usage("device reset takes no arguments") }
            state = try TypesCommand.command(stack) { try $0.setDevice(nil) }
        case let other?:
            throw Failure.usage(
                "'device' has no subcommand '\(other)'", hint: "it takes show, set KEY=VALUE... and reset")
        }
        arguments.print(Value(state), else: state.text)
    }
}
