import Clocks
import Configuration
import Doctor
import HealthModel
import Inspection
import Logging
import Terminal

enum TokenCommand: Command {
    static let help = CommandHelp(
        name: "healthbus token",
        summary: "Make, list and revoke the tokens that let phones and programs in.",
        positionals: [.init("new|list|revoke"), .init("token", isRequired: false)],
        following: ["new": [], "list": []],
        options: CommandHelp.stackOptions + [
            .user("new: the person whose data it brings (default: me)"),
            .init("--device", value: "name", help: "new: the name of its holder (default: phone, or phone-2, …)"),
            .init(
                "--scope", value: "ingest|read|admin",
                help: "new: hand in data (the default), read data, or everything"),
            .init("--days", value: "number", help: "new: how many days it is valid (default: until it is revoked)"),
            .init(
                "--ends", value: "date", help: "new: its last valid day (UTC), or a time with its offset"),
            .json,
        ],
        examples: [
            "healthbus token new --device \"Anna's phone\"", "healthbus token new --scope read --days 90",
            "healthbus token new --ends 2027-12-31 --json", "healthbus token list", "healthbus token revoke k3m9x2ab",
        ])

    private enum Action: String, CaseIterable { case new, list, revoke }

    static func run(_ arguments: Arguments) throws {
        let action: Action = try arguments.action(offering: "it takes")
        let name = arguments.positionals.count > 1 ? arguments.positionals[1] : nil
        for option in ["--user", "--device", "--scope", "--days", "--ends"]
        where action != .new && arguments.value(option) != nil {
            throw Failure.usage("token \(action.rawValue) doesn't take \(option)", hint: "leave it out")
        }
        if action != .revoke, name != nil {
            throw Failure.usage("token \(action.rawValue) takes no name", hint: "leave it out")
        }
        let wish = try wish(arguments)
        let stack = try Stack(arguments)
        let file = TokenFile(stack.state)
        switch action {
        case .new:
            try make(wish, file, json: arguments.flag("--json"))
            if wish.scope != .read, let remark = ImportsReport.remarkOnMixing(stack, user: wish.user) {
                say("note: \(remark)")
            }
        case .list: try list(file, TokenRecord.uses(of: stack), arguments)
        case .revoke:
            guard let name else {
                throw Failure.usage("token revoke takes a token's id", hint: "'healthbus token list' shows them")
            }
            try revoke(name, file, json: arguments.flag("--json"))
        }
    }

    private static func wish(_ arguments: Arguments) throws -> TokenWish {
        let days = try arguments.integer("--days", in: 1...36_500)
        var ends = days.map { Instant(seconds: WallClock.now.flooredSecond) + .seconds($0 * 86_400) }
        if let text = arguments.value("--ends") {
            guard days == nil else {
                throw Failure.usage("--days and --ends set the same thing", hint: "give only one")
            }
            guard let end = TokenWish.end(text) else {
                throw Failure.usage(
                    "--ends can't be \"\(text)\"", hint: "write it as 2027-12-31 or 2027-12-31T12:00:00+01:00")
            }
            ends = end
        }
        return TokenWish(
            user: arguments.user, device: arguments.value("--device"),
            scope: try arguments.choice("--scope", as: TokenScope.self) ?? .ingest, ends: ends)
    }

    /// Without `--json`, writes nothing but the secret to standard output, so that a script can use it.
    private static func make(_ wish: TokenWish, _ file: TokenFile, json: Bool) throws {
        let now = WallClock.now
        let (secret, entry) = try file.add(wish, now: now)
        guard !json else {
            var members = entry.report(at: now).object ?? [:]
            members["token"] = .string(secret.text)
            StandardStream.output.write(Value.object(members).json(pretty: true) + "\n")
            return
        }
        StandardStream.output.write(secret.text + "\n")
        let ends = entry.ends.map { "until \(InstantText.iso8601($0))" } ?? "until it is revoked"
        say(
            "\(entry.id): made, scope \(entry.scope.rawValue), for user \(entry.user), device \(entry.device); "
                + "valid \(ends). The token is shown only now")
    }

    private static func revoke(_ name: String, _ file: TokenFile, json: Bool) throws {
        let now = WallClock.now
        let entry = try file.revoke(name, now: now)
        say("\(entry.id): revoked; it stops working within a second")
        if json { StandardStream.output.write(entry.report(at: now).json(pretty: true) + "\n") }
    }

    private static func list(_ file: TokenFile, _ uses: [String: TokenUse], _ arguments: Arguments) throws {
        let tokens = try file.read()
        let report = TokenReport(tokens, uses: uses, now: WallClock.now)
        arguments.print(report.value, else: report.table(for: Terminal(.output)))
        if tokens.entries.isEmpty, !arguments.flag("--json") { say("there are no tokens yet") }
    }

    private static func say(_ line: String) { StandardStream.error.write(line + "\n") }
}
