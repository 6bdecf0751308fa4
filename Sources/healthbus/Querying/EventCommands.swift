import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum NightsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus nights", summary: "List nights and naps, with the length of each sleep stage.",
        options: CommandHelp.stackOptions + [
            .from(), .to(), .last, .user("whose (default: me)"), .csv, .json, .ndjson,
        ],
        examples: ["healthbus nights --last month", "healthbus nights --from 2025-03-01 --to 2025-03-31 --csv"])

    static func run(_ arguments: Arguments) throws { try EventOutput.write(.night, arguments) }
}

enum WorkoutsCommand: Command {
    static let help = CommandHelp(
        name: "healthbus workouts",
        summary: "List workouts, or write one's route as GPX.",
        options: CommandHelp.stackOptions + [
            .from(), .to(), .last, .user("whose (default: me)"),
            .init(
                "--gpx", value: "id", help: "the route of this workout as GPX 1.1; the start of its id is enough"),
            .init("--output", short: "-o", value: "file", help: "--gpx: where to write it (default: standard output)"),
            .csv, .json, .ndjson,
        ],
        examples: [
            "healthbus workouts --last 2025-03", "healthbus workouts --gpx 019b60cc > run.gpx",
            "healthbus workouts --last year --csv",
        ])

    static func run(_ arguments: Arguments) throws {
        guard let id = arguments.value("--gpx") else {
            guard arguments.value("--output") == nil else {
                throw Failure.usage("--output is only for --gpx", hint: "leave it out, or write > file")
            }
            return try EventOutput.write(.workout, arguments)
        }
        let stack = try Stack(arguments)
        let track = try GPXTrack.of(workout: id, stack, stack.reader(), user: arguments.user)
        guard let path = arguments.value("--output"), path != "-" else {
            StandardStream.output.write(track.text)
            return
        }
        try PrivateFile.write(track.text, to: path)
        StandardStream.error.write("Wrote the route to \(path).\n")
    }
}

private enum EventOutput {
    static func write(_ kind: EventRows.Kind, _ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let reader = stack.reader()
        let range = try arguments.dateRange(stack, user: arguments.user)
        let rows = try EventRows(stack, reader, kind, user: arguments.user, range)
        switch try arguments.rowFormat() {
        case .table(let terminal):
            guard !rows.events.isEmpty else {
                let advice = try NothingYet.advice(stack, reader, user: arguments.user)
                StandardStream.error.write(
                    stack.advice.addressed(
                        range.isEverything
                            ? "no \(kind.rawValue)s yet in \(stack.place); \(advice)\n"
                            : "no \(kind.rawValue)s \(range.words)in \(stack.place)\n"))
                return
            }
            StandardStream.output.write(rows.table(for: terminal, zones: try stack.zones(of: arguments.user, reader)))
        case let format: try rows.write(to: RowOutput(rows.columns, format))
        }
    }
}
