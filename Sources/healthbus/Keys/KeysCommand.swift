import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum KeysCommand: Command {
    static let help = CommandHelp(
        name: "healthbus keys",
        summary: "Make, show and change the keys of a sealed bus: who may connect, and as whom.",
        positionals: [.init("init|list|show|add|rotate|remove"), .init("name", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init("--role", value: "role", help: "add: tap, operator, or the instance it acts as"),
            .init("--grace", value: "seconds", help: "rotate: how long the old key stays valid (default: 600)"),
            .init("--owner", value: "uid[:gid]", help: "init, add: who will own the files"),
            .json,
        ],
        examples: [
            "healthbus keys init", "healthbus keys add anna --role tap", "healthbus keys rotate steps",
            "healthbus keys remove anna",
        ])

    private static let actions = ["init", "list", "show", "add", "rotate", "remove"]

    static func run(_ arguments: Arguments) throws {
        let action = arguments.positionals[0]
        let name = arguments.positionals.count > 1 ? arguments.positionals[1] : nil
        guard actions.contains(action) else {
            throw Failure.usage(
                "'keys' has no subcommand '\(action)'", hint: "it takes \(actions.joined(separator: ", "))")
        }
        for (option, allowed) in [("--role", ["add"]), ("--grace", ["rotate"]), ("--owner", ["init", "add"])]
        where arguments.value(option) != nil && !allowed.contains(action) {
            throw Failure.usage("keys \(action) doesn't take \(option)")
        }
        let needsName = ["show", "add", "remove"].contains(action)
        if needsName, name == nil {
            throw Failure.usage(
                "keys \(action) needs a name",
                hint: action == "add" ? "as in 'healthbus keys add anna --role tap'" : "'healthbus keys list' shows all"
            )
        }
        if ["init", "list"].contains(action), name != nil {
            throw Failure.usage("keys \(action) takes no name", hint: "leave it out")
        }
        if let name, !StackConfiguration.isName(name) {
            throw Failure.usage("'\(name)' can't be a key's name", hint: "a-z, 0-9 and hyphens, at most 64")
        }
        let stack = try Stack(arguments)
        let keys = stack.configuration.keyFolder(stack.state)
        // Keys may be made before the bus is sealed, but without any there is nothing to show or change.
        guard action == "init" || stack.configuration.bus.isSealed || FileManager.default.fileExists(atPath: keys.path)
        else {
            throw Failure(
                "this stack's bus isn't sealed, so it has no keys",
                hint: "to seal it, set \"bus\": { \"sealed\": true } in its configuration, and make the keys with "
                    + "'healthbus keys init'")
        }
        switch (action, name) {
        case ("init", _): try initialize(stack, keys, try owner(arguments))
        case ("add", let name?): try add(name, arguments, stack, keys)
        case ("rotate", let name): try rotate(name, arguments, keys)
        case ("remove", let name?):
            guard name != keys.hub else {
                throw Failure.usage(
                    "the hub's own key can't be removed", hint: "give it a new one: 'keys rotate \(name)'")
            }
            try keys.remove(name)
            say("\(name): removed; a running hub disconnects it within a second")
        case ("show", let name?): return try show(name, stack, arguments)
        default: break
        }
        if action == "list" || arguments.flag("--json") {
            let report = try KeyReport(stack, now: WallClock.now)
            arguments.print(report.value, else: report.table(for: Terminal(.output)))
        }
    }

    private static func say(_ line: String) { StandardStream.error.write(line + "\n") }

    private static func owner(_ arguments: Arguments) throws -> FileOwner? {
        guard let text = arguments.value("--owner") else { return nil }
        guard let owner = FileOwner(text) else {
            throw Failure.usage("--owner \(text) isn't a numeric user id", hint: "as in --owner 1000:1000")
        }
        return owner
    }

    private static func initialize(_ stack: Stack, _ keys: KeyFolder, _ owner: FileOwner?) throws {
        let made = try keys.initialize(stack.configuration.keyRoles, owner: owner)
        say(
            made.isEmpty
                ? "all keys are there, in \(keys.path)"
                : "made \(made.count) key pairs in \(keys.path): \(made.joined(separator: ", "))")
        if !stack.configuration.bus.isSealed {
            say("this stack's bus isn't sealed: set \"bus\": { \"sealed\": true } in its configuration to use them")
        }
    }

    private static func add(_ name: String, _ arguments: Arguments, _ stack: Stack, _ keys: KeyFolder) throws {
        let usual = stack.configuration.keyRoles.first { $0.name == name }?.role
        guard let role = arguments.value("--role").map({ KeyRole($0) }) ?? usual else {
            throw Failure.usage(
                "'\(name)' needs --role",
                hint: "tap only listens, operator gives commands, an instance's name acts as that instance")
        }
        if case .instance(let instance) = role, stack.configuration.instance(instance) == nil || instance == keys.hub {
            let names = stack.names.filter { $0 != keys.hub }.joined(separator: ", ")
            throw Failure.usage("there is no role '\(instance)'", hint: "choose from tap, operator, \(names)")
        }
        guard name != keys.hub else {
            throw Failure.usage("'\(name)' is the hub: 'healthbus keys init' makes its keys")
        }
        let isNew = try keys.add(name, role, owner: try owner(arguments))
        say("\(name): \(isNew ? "made" : "already there"), in \(keys.folder(name)); role \(role)")
    }

    private static func rotate(_ name: String?, _ arguments: Arguments, _ keys: KeyFolder) throws {
        let grace = try arguments.integer("--grace", in: 0...86_400) ?? 600
        let now = WallClock.now
        if name == nil || name == keys.hub {
            try keys.rotateHub()
            say("\(keys.hub): a new key; all reconnect within seconds")
        }
        for one in try name.map({ [$0] }) ?? keys.allowedNames() where one != keys.hub {
            try keys.rotate(one, oldUntil: now + .seconds(grace), now: now)
            say("\(one): a new key; the old one is valid for \(grace) s more")
        }
    }

    private static func show(_ name: String, _ stack: Stack, _ arguments: Arguments) throws {
        let report = try KeyReport(stack, now: WallClock.now)
        guard let row = report.rows.first(where: { $0.name == name }) else {
            throw Failure("there is no key for '\(name)'", hint: "'healthbus keys list' shows all keys")
        }
        arguments.print(row.value, else: row.text(folder: report.folder))
    }
}
