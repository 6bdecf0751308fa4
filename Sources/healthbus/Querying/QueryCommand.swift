import Configuration
import Inspection
import Logging
import Terminal

enum QueryCommand: Command {
    static let help = CommandHelp(
        name: "healthbus query",
        summary:
            "Run one SELECT over what the reference backend holds; --tables lists its tables.",
        positionals: [.init("SQL", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init("--tables", help: "list the tables instead: columns, kinds, units"),
            .init("--backend", value: "instance", help: "which one, if the stack has several"),
            .init("--seconds", value: "number", help: "how long it may take (default: 60)"), .csv, .json, .ndjson,
        ],
        examples: [
            "healthbus query --tables",
            "healthbus query 'SELECT date, steps FROM days ORDER BY date DESC LIMIT 7'",
            "healthbus query 'SELECT hour, avg(steps) AS steps FROM hours GROUP BY hour' --csv",
            "healthbus query 'SELECT source, sum(samples) AS samples FROM sources GROUP BY source' --json",
        ])

    static func run(_ arguments: Arguments) throws {
        let sql = arguments.positionals.first
        guard !arguments.flag("--tables") else {
            guard sql == nil else {
                throw Failure.usage("--tables can't be combined with a statement", hint: "give only one")
            }
            let output = RowOutput(ViewList.columns, try arguments.rowFormat())
            return try ViewList.write(figures: try Stack(arguments).configuration.figures, to: output)
        }
        guard let sql else { throw BackendQuery.empty }
        guard QueryProcess.isThisOne else {
            return try QueryProcess.run(within: .seconds(try arguments.integer("--seconds", in: 1...86_400) ?? 60))
        }
        try BackendQuery.limitMemory()
        let query = try BackendQuery(sql, try Stack(arguments), backend: arguments.value("--backend"))
        if let note = query.note { StandardStream.error.write("healthbus: \(note)\n") }
        let format = try arguments.rowFormat(on: QueryProcess.screen)
        let output = RowOutput(query.columns, format)
        try query.write(to: output)
        if output.rows == 0, case .table = format { StandardStream.error.write("no rows\n") }
    }
}
