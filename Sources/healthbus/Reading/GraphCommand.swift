import Client
import Clocks
import HealthModel
import Inspection
import Logging
import Monitoring
import Terminal

enum GraphCommand: Command {
    static let help = CommandHelp(
        name: "healthbus graph",
        summary:
            "Draw which process listens to which, from configuration and manifests; if the stack runs, with states.",
        options: CommandHelp.stackOptions + [
            .init("--dot", help: "for Graphviz: healthbus graph --dot | dot -Tsvg"), .json,
        ],
        examples: ["healthbus graph", "healthbus graph --dot"])

    static func run(_ arguments: Arguments) throws {
        guard !(arguments.flag("--dot") && arguments.flag("--json")) else {
            throw Failure.usage("--dot and --json can't be combined", hint: "give only one")
        }
        let stack = try Stack(watching: arguments)
        let graph = StackGraph(stack.configuration, states: try states(stack))
        if arguments.flag("--dot") { return _ = StandardStream.output.write(graph.dot) }
        let terminal = Terminal(.output)
        let lines = GraphDrawing(graph).lines(width: terminal.isTerminal ? terminal.width : 80, terminal: terminal)
        arguments.print(graph.value, else: lines.joined(separator: "\n") + "\n")
    }

    /// Empty for a stack that isn't running.
    private static func states(_ stack: Stack) throws -> [String: String] {
        let reader = stack.reader()
        guard try stack.names.contains(where: { try reader.isRunning($0) }) else { return [:] }
        let beats = try reader.gather(stack.names, within: 0.5)
        let sample = TopSample(names: stack.names, beats: beats, now: WallClock.now, monotonic: MonotonicClock.now)
        return Dictionary(uniqueKeysWithValues: TopTable(sample).rows.map { ($0.name, $0.state) })
    }
}
