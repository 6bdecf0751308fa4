import Clocks
import Configuration
import Control
import Foundation
import HealthModel
import HealthPush
import Inspection
import Logging
import Monitoring
import QRCode
import Terminal

enum PairCommand: Command {
    static let help = CommandHelp(
        name: "healthbus pair",
        summary: "Let a phone in: make its token, and show how to set up its app, with codes for its camera.",
        options: CommandHelp.stackOptions + [
            .init(
                "--app", value: WayIn.apps.map(\.name).joined(separator: "|"),
                help: "the app that sends (default: \(WayIn.apps[0].name))"),
            .user("the person whose data the phone sends (default: me)"),
            .init("--device", value: "name", help: "the phone's name (default: phone, or phone-2, …)"),
            .init(
                "--address", value: "url", help: "where the phone reaches this stack (default: as configured)"),
            .init("--qr", help: "print the codes to a pipe or file too"), .json,
        ],
        examples: [
            "healthbus pair --address https://health.example.org",
            "healthbus pair --user anna --device \"Anna's phone\"",
            "healthbus pair --app open-wearables", "healthbus pair --json",
        ])

    static func run(_ arguments: Arguments) throws {
        let app = try app(arguments.value("--app") ?? WayIn.apps[0].name)
        let stack = try Stack(arguments)
        // Typing errors are reported before a token is made.
        let ingest = stack.configuration.only(.ingest)
        let address = try arguments.value("--address").map { try PairingAddress($0) } ?? standing(stack)
        let (secret, entry) = try TokenFile(stack.state).add(
            TokenWish(
                user: arguments.user, device: arguments.value("--device"), signs: app.proof != .bearer,
                isInvited: app.isInvited),
            now: WallClock.now)
        let sheet = PairingSheet(app, address, secret, entry)
        let mixing = ImportsReport.remarkOnMixing(stack, user: entry.user).map { [$0] } ?? []
        let terminal = Terminal(.output)
        let isDrawn = arguments.flag("--qr") || (terminal.isTerminal && address.isReachable)
        arguments.print(
            sheet.value, else: arguments.advice.addressed(sheet.text { isDrawn ? drawn($0, on: terminal) : nil }))
        let nobody =
            ingest == nil ? ["this stack takes nothing from phones: its configuration has no instance 'ingest'"] : []
        for remark in address.remarks + nobody + mixing { StandardStream.error.write("note: \(remark)\n") }
    }

    private static func app(_ name: String) throws(Failure) -> WayIn.App {
        if let app = WayIn.apps.first(where: { $0.name == name }) { return app }
        let all = WayIn.apps.map(\.name).joined(separator: ", ")
        throw .usage("--app can't be \"\(name)\"", hint: "choose from \(all)")
    }

    private static func standing(_ stack: Stack) throws -> PairingAddress {
        let (endpoint, isTLS) = try stack.ingestEndpoint()
        guard endpoint.port != 0 else {
            throw Failure.usage(
                "phones can't know the port: the stack takes any free one when it starts",
                hint: "set one in the configuration or in HEALTHBUS_INGEST_PORT, or give --address")
        }
        return .standing(at: endpoint, isTLS: isTLS)
    }

    /// Returns nil if the link is too long for a code, or if the window is too narrow to show it.
    private static func drawn(_ link: String, on terminal: Terminal) -> String? {
        guard let symbol = QRSymbol(link), !terminal.isTerminal || symbol.columns <= terminal.width else { return nil }
        return symbol.drawn(
            terminal.usesColor ? .blackOnWhite : .plain(environment: ProcessInfo.processInfo.environment))
    }
}
