import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum SamplesCommand: Command {
    static let help = CommandHelp(
        name: "healthbus samples",
        summary: "List samples in order of time, however many: briefly for people, in full with --csv or --json.",
        options: CommandHelp.stackOptions + [
            .init(
                "--type", value: "type", repeats: true,
                help: "only these, such as StepCount (default: all but workouts)"),
            .init("--source", value: "name", help: "only sources with this in their name"),
            .init("--by-hand", value: "yes|no", help: "only what a person typed in, or only the rest"),
            .from(), .to(), .last, .init("--limit", value: "number", help: "stop after this many"),
            .user("whose (default: me)"), .csv, .json, .ndjson,
        ],
        examples: [
            "healthbus samples --type HeartRate --last 2025 --csv > heart-rate.csv",
            "healthbus samples --type StepCount --from yesterday",
            "healthbus samples --type BodyMass --source Scale --json",
        ])

    private enum YesOrNo: String, CaseIterable { case yes, no }

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        var wish = SampleExport.Wish(user: arguments.user)
        let held = try TypesReport(stack, now: .now)
        let known = held.types.map(\.type)
        wish.types = try arguments.values("--type").map { try TypeName.identifier($0, known: known) }
        guard !wish.types.contains(HealthType.workoutIdentifier) else {
            throw Failure.usage("workouts aren't samples here", hint: "'healthbus workouts' lists them")
        }
        wish.source = arguments.value("--source")
        wish.isEnteredByHand = try arguments.choice("--by-hand", as: YesOrNo.self).map { $0 == .yes }
        wish.range = try arguments.dateRange(stack, user: wish.user)
        wish.limit = try arguments.integer("--limit", in: 1 ... .max)
        let format = try arguments.rowFormat()
        let isShort = if case .table = format { true } else { false }
        let output = RowOutput(isShort ? SampleExport.shortColumns : SampleExport.columns, format)
        try SampleExport(stack, wish).write(to: output, isShort: isShort)
        if output.rows == 0 {
            let range = wish.range.words
            StandardStream.error.write(stack.advice.addressed("no such samples \(range)in \(stack.place)\n"))
        }
        // Without --type they are in the list.
        let apart = held.statistics.of(
            wish.user, types: wish.types.filter { !wish.types.contains(HealthType.statistics(of: $0)) })
        StandardStream.error.write(stack.advice.addressed(apart.text))
    }
}
