import Clocks
import Configuration
import Conformance
import DeliveryKit
import Foundation
import HTTP
import Inspection
import Logging
import Terminal
import UploaderReading

enum BackendCommand: Command {
    static let help = CommandHelp(
        name: "healthbus backend",
        summary: "Try a server of your own against the backend's contract, case by case.",
        positionals: [.init("test", words: ["test"]), .init("URL", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init(
                "--token-file", value: "file",
                help: "the server's bearer token (default: HEALTHBUS_BACKEND_TOKEN; "
                    + "if the stack delivers to that URL, the uploader's)"),
            .init("--no-token", help: "the server asks for no token, and none is sent"),
            .init("--only", value: "case", words: BackendCase.allCases.map(\.rawValue), help: "only this case"),
            .json,
        ],
        examples: [
            "healthbus backend test", "healthbus backend test http://127.0.0.1:8790",
            "healthbus backend test https://example.org/health --token-file token",
            "healthbus backend test http://127.0.0.1:8790 --only late-copy --json",
        ])

    static func run(_ arguments: Arguments) throws {
        guard arguments.positionals[0] == "test" else {
            throw Failure.usage(
                "'backend' has no subcommand '\(arguments.positionals[0])'", hint: "write 'healthbus backend test'")
        }
        let only = try arguments.choice("--only", as: BackendCase.self)
        let (url, source) = try target(arguments)
        let token = try source.current(refresh: false)
        let user = "healthbus-test-" + String(format: "%08x", UInt32.random(in: 0 ... .max))
        let report: BackendReport
        do {
            let trial = try BackendTrial(url: url, token: token, user: user, now: WallClock.now)
            defer { LiveLine.error.end() }
            let answers: () -> Void = {
                StandardStream.error.write(
                    "healthbus: this test writes to \(url) as the temporary user \(user), and deletes what it wrote afterwards\n"
                )
            }
            report = try trial.run(only: only, answers: answers) { LiveLine.error.rest($0.asked.rawValue) }
        } catch let error as HTTPError {
            throw Failure("\(error.endpoint): \(error.detail)", hint: error.hint)
        }
        arguments.print(json: report.json, else: report.table(for: Terminal(.output)))
        guard report.failed.isEmpty else {
            throw Failure(
                "the server breaks the contract: \(report.failed.map(\.asked.rawValue).joined(separator: ", "))",
                hint:
                    "docs/backend.md has the contract; try one alone: 'healthbus backend test \(url) --only \(report.failed[0].asked.rawValue)'"
            )
        }
    }
    /// The given URL, or else the one that the stack delivers to, with the token for it.
    private static func target(_ arguments: Arguments) throws -> (url: String, token: TokenSource) {
        let given = arguments.positionals.dropFirst().first
        let file = arguments.value("--token-file")
        let asksForNone = arguments.flag("--no-token")
        if asksForNone, file != nil {
            throw Failure.usage("--no-token can't be combined with --token-file", hint: "leave out one of them")
        }
        if let given, asksForNone { return (given, TokenSource()) }
        let environment = ProcessInfo.processInfo.environment["HEALTHBUS_BACKEND_TOKEN"].flatMap {
            $0.isEmpty ? nil : $0
        }
        if let given, file != nil || environment != nil {
            return (given, TokenSource(file: file, environment: file == nil ? environment : nil))
        }
        let stack = try Stack(arguments)
        let servers = stack.configuration.deliveringToBackends
        guard let uploader = servers.first, servers.count == 1 else {
            throw Failure.usage(
                "this stack delivers to \(servers.count) servers",
                hint: "write the URL of one after 'test', and give --token-file or --no-token")
        }
        let backend = try stack.configuration.only(.backend).map { try BackendAddress.url(of: $0) }
        let own = uploader.address ?? backend
        guard let url = given ?? own else {
            throw Failure.usage("this stack has no backend", hint: "write the server's URL after 'test'")
        }
        if asksForNone { return (url, TokenSource()) }
        if let file { return (url, TokenSource(file: file, environment: nil)) }
        guard url == own else {
            throw Failure.usage(
                "there is no token for \(url)", hint: "set HEALTHBUS_BACKEND_TOKEN, or give --token-file or --no-token")
        }
        return (url, try DestinationToken.source(of: uploader, in: stack.configuration, state: stack.state))
    }
}
