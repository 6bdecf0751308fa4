import Clocks
import Conformance
import Foundation
import HTTP
import HealthModel
import Logging
import Terminal
import UploaderReading

enum BackendCommand: Command {
    static let help = CommandHelp(
        name: "healthbus backend",
        summary: "Try a server of your own against the backend's contract, case by case.",
        positionals: [.init("test"), .init("URL")],
        options: [
            .init(
                "--token-file", value: "file",
                help: "the server's bearer token (default: HEALTHBUS_BACKEND_TOKEN of the environment)"),
            .init("--only", value: "case", help: "this case alone"),
            .json,
        ],
        examples: [
            "healthbus backend test http://127.0.0.1:8790",
            "healthbus backend test https://example.org/health --token-file token",
            "healthbus backend test http://127.0.0.1:8790 --only late-copy --json",
        ])

    static func run(_ arguments: Arguments) throws {
        guard arguments.positionals[0] == "test" else {
            throw Failure.usage(
                "healthbus backend can't \"\(arguments.positionals[0])\"", hint: "usage: healthbus backend test <URL>")
        }
        let url = arguments.positionals[1]
        let only = try arguments.choice("--only", as: BackendCase.self)
        let token: String
        do {
            token = try TokenSource(
                file: arguments.value("--token-file"),
                environment: arguments.flag("--token-file")
                    ? nil : ProcessInfo.processInfo.environment["HEALTHBUS_BACKEND_TOKEN"]
            ).current(refresh: false)
        } catch let failure as Failure where !arguments.flag("--token-file") {
            throw Failure.usage(failure.message, hint: "set HEALTHBUS_BACKEND_TOKEN, or give --token-file")
        }
        let user = "healthbus-test-" + String(format: "%08x", UInt32.random(in: 0 ... .max))
        StandardStream.error.write("healthbus: writes to \(url) under the user \(user), and deletes that again\n")
        // One line that is written over: what has been tried so far.
        let watches = Terminal(.error).isTerminal
        let report: BackendReport
        do {
            let trial = try BackendTrial(url: url, token: token, user: user, now: WallClock.now)
            defer { if watches { StandardStream.error.write("\r\u{1B}[K") } }
            report = try trial.run(only: only) { result in
                if watches { StandardStream.error.write("\r\u{1B}[K\(result.asked.rawValue)") }
            }
        } catch let error as HTTPError {
            throw Failure("\(error.endpoint): \(error.detail)", hint: error.hint)
        }
        StandardStream.output.write(
            arguments.flag("--json") ? report.json + "\n" : report.table(for: Terminal(.output)))
        guard report.failed.isEmpty else {
            throw Failure(
                "the server doesn't keep the contract: \(report.failed.map(\.asked.rawValue).joined(separator: ", "))",
                hint:
                    "docs/backend.md has the contract; try one alone: 'healthbus backend test \(url) --only \(report.failed[0].asked.rawValue)'"
            )
        }
    }
}
