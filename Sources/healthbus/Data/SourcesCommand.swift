import Configuration
import Control
import Figures
import Inspection
import Logging
import Protocol
import Terminal

enum SourcesCommand: Command {
    static let help = CommandHelp(
        name: "healthbus sources",
        summary: "Show where samples come from; leave a source out of everything or of figures, and take it back.",
        details:
            "Samples that are left out stay in the store. Figures are computed without them, and destinations delete "
            + "them; with --figures they are still delivered. With --type, the list shows the sources of one type in the "
            + "order in which they count.",
        positionals: [.init("list|leave-out|take-back", isRequired: false), .init("source", isRequired: false)],
        options: CommandHelp.stackOptions + [
            .init("--type", value: "type", help: "only this type's samples"),
            .init("--from", value: "date", help: "leave-out: only from this day on (default: for all the past too)"),
            .init("--figures", help: "leave-out: only of figures"),
            .user("whose (default: me)"), .json,
        ],
        examples: [
            "healthbus sources", "healthbus sources --type StepCount",
            "healthbus sources leave-out 'Smart Ring' --type StepCount --from 2025-01-01",
            "healthbus sources take-back 'Smart Ring' --type StepCount",
        ])

    private enum Action: String, CaseIterable {
        case list
        case leaveOut = "leave-out"
        case takeBack = "take-back"
    }

    static func run(_ arguments: Arguments) throws {
        let words = arguments.positionals
        let action: Action = try arguments.action(usual: .list)
        for option in ["--from", "--figures"] where action != .leaveOut {
            try arguments.refuse(option, isOnlyFor: "leave-out")
        }
        guard words.count == (action == .list ? min(words.count, 1) : 2) else {
            throw Failure.usage(
                action == .list ? "sources list takes no arguments" : "sources \(action.rawValue) takes one source",
                hint: action == .list ? "leave it out" : "'healthbus sources' lists them")
        }
        let stack = try Stack(arguments)
        let report = try SourcesReport(stack, stack.reader(), user: arguments.user)
        let type = try arguments.value("--type").map { try TypeName.identifier($0, known: report.types) }
        if action == .list {
            arguments.print(json: report.json(type: type), else: report.text(type: type, for: Terminal(.output)))
            return
        }
        var rule = LeftOutSource(user: arguments.user, source: try report.source(words[1]), type: type)
        if let text = arguments.value("--from") {
            let day = try DateRange.days(text, "--from") { try stack.today(of: arguments.user) }.first
            guard let start = report.start(of: day) else {
                throw Failure.usage(
                    "\(day) isn't in this calendar: a flight or a change of zone skipped it",
                    hint: "give the day after it")
            }
            rule.from = start
        }
        if arguments.flag("--figures") { rule.figuresOnly = true }
        if action == .takeBack, !report.isLeftOut(rule) {
            throw Failure(
                "'\(rule.source)', \(report.words(rule)), isn't left out", hint: "'healthbus sources' shows what is")
        }
        try change(rule, action, report, stack, arguments)
    }

    private static func change(
        _ rule: LeftOutSource, _ action: Action, _ report: SourcesReport, _ stack: Stack, _ arguments: Arguments
    ) throws {
        var request = RepairClient.request("leaveOut")
        request.leftOut = rule
        if action == .takeBack { request.revert = true }
        let outcome = try stack.repair(try stack.instance(.observer), request)
        let what = "'\(rule.source)', \(report.words(rule))"
        let count = HumanFormat.count(Int(report.count(rule)), "sample")
        RepairOutput.write(outcome, arguments) { _ in
            switch action {
            case .takeBack: "Counts again: \(what). Days and destinations get the changes."
            case .list, .leaveOut:
                "Left out: \(what)" + (rule.from == nil ? ", \(count)." : ".")
                    + (rule.figuresOnly == true
                        ? " Days get the changes; the samples are still delivered."
                        : " Days and destinations get the changes; the samples stay in the store.")
            }
        }
    }
}
