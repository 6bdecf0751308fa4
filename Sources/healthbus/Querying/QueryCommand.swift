import Clocks
import HealthModel
import Inspection
import Logging
import Terminal

enum QueryCommand: Command {
    static let help = CommandHelp(
        name: "healthbus query",
        summary:
            "Run one SELECT over what the reference backend holds: samples, days, hours, nights, workouts, sources.",
        positionals: [.init("SQL")],
        options: CommandHelp.stackOptions + [
            .init("--backend", value: "instance", help: "which one, if the stack has several"),
            .init("--seconds", value: "number", help: "how long it may take (default: 60)"), .csv, .json, .ndjson,
        ],
        examples: [
            "healthbus query 'SELECT date, steps FROM days ORDER BY date DESC LIMIT 7'",
            "healthbus query 'SELECT hour, avg(steps) AS steps FROM hours GROUP BY hour' --csv",
            "healthbus query 'SELECT source, sum(samples) AS samples FROM sources GROUP BY source' --json",
        ])

    static func run(_ arguments: Arguments) throws {
        let seconds = Double(try arguments.integer("--seconds", in: 1...86_400) ?? 60)
        let query = try BackendQuery(
            arguments.positionals[0], try Stack(arguments), backend: arguments.value("--backend"), seconds: seconds,
            clock: { Double(MonotonicClock.now.microseconds) / 1e6 })
        if let note = query.note { StandardStream.error.write("healthbus: \(note)\n") }
        let output = RowOutput(query.columns, try arguments.rowFormat())
        try query.write(to: output, seconds: seconds)
        if output.rows == 0, case .table = try arguments.rowFormat() {
            StandardStream.error.write("no rows\n")
        }
    }
}
