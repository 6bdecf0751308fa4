import Client
import Configuration
import Inspection
import Logging
import Monitoring
import StageKit
import Terminal

enum MonitorCommand: Command {
    static let help = CommandHelp(
        name: "healthbus monitor",
        summary: "Answer /metrics (Prometheus), /live and /ready for a stack not run by 'up', as in containers.",
        options: CommandHelp.stackOptions + [
            .init(
                "--listen", value: "[host:]port",
                help: "where (default: as the configuration's \"monitoring\" says, else 127.0.0.1:9464)")
        ],
        examples: ["healthbus monitor", "healthbus monitor --listen 0.0.0.0:9464 --config configs/compose.json"])

    static func run(_ arguments: Arguments) throws {
        let stopper = try Stopper()
        let stack = try Stack(watching: arguments)
        let endpoint =
            try arguments.endpoint("--listen") ?? stack.configuration.monitoring
            ?? Endpoint(port: Endpoint.monitoringPort)
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let server = try MonitoringServer(stack, client, at: endpoint)
        if let endpoint = server.endpoint {
            StandardStream.error.write("metrics  http://\(endpoint)/metrics\n")
        }
        stopper.wait()
        server.stop()
    }
}

enum ReadyCommand: Command {
    static let help = CommandHelp(
        name: "healthbus ready",
        summary: "End with 0 when an instance, or the whole stack, is ready; with 1 when it isn't. For health checks.",
        positionals: [.init("instance", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init("--within", value: "seconds", help: "wait up to this long (default: 2)"), .json,
        ],
        examples: ["healthbus ready", "healthbus ready observer --within 30"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(watching: arguments)
        let seconds = try arguments.number("--within", in: 0...86_400, hint: "give seconds, 0 to 86400") ?? 2
        let names = try arguments.positionals.first.map { [try stack.named($0, listed: true).name] } ?? stack.names
        let readiness = try Readiness.wait(for: names, of: stack, within: seconds)
        if arguments.flag("--json") { StandardStream.output.write(readiness.json + "\n") }
        guard readiness.isReady else {
            throw Failure(readiness.problem, hint: "'healthbus doctor' says more")
        }
        if !arguments.flag("--json") { StandardStream.output.write(readiness.text) }
    }
}
