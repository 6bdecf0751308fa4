import Client
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Processes
import Protocol
import Terminal

enum ImportCommand: Command {
    static let help = CommandHelp(
        name: "healthbus import",
        summary:
            "Hand exports (export.zip, XML or Health Auto Export's JSON; - is standard input) over to the running stack.",
        positionals: [.init("file", repeats: true)],
        options: CommandHelp.stackOptions + [
            .user("the person whose samples they are (default: me)"),
            .init(
                "--complete",
                help: "it is complete: delete samples it lacks, of the types and time it covers"),
            .init("--dry-run", help: "read everything, change nothing; say what would happen"),
            .init(
                "--delete-up-to", value: "percent",
                help: "with --complete: delete nothing if more than this share would be deleted (default: 5)"),
            .init("--mix-made-up", help: "import it even if that mixes made-up data with a person's"),
            .json,
        ],
        examples: [
            "healthbus import export.zip", "healthbus import --json --user anna ~/Downloads/export.zip",
            "healthbus import --complete --dry-run export.zip", "ssh phone cat export.zip | healthbus import -",
        ])

    static func run(_ arguments: Arguments) throws {
        let options = try options(arguments)
        let stack = try Stack(arguments)
        for path in arguments.positionals where path != "-" && !FileManager.default.isReadableFile(atPath: path) {
            let reason = FileManager.default.fileExists(atPath: path) ? "can't be read" : "doesn't exist"
            throw Failure("\(path) \(reason)", hint: "check the path and its permissions")
        }
        try stack.requireRunning(or: "healthbus up --import FILE")
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        let interrupt = Interrupt()
        let imports = ImportClient(
            client: client, observer: stack.observer, hub: stack.hub, isInterrupted: { interrupt.hasCome })
        var outcomes: [ImportClient.Outcome] = []
        for path in arguments.positionals {
            let outcome: ImportClient.Outcome
            do { outcome = try imports.run(path, user: arguments.value("--user"), options: options) } catch let left
                as ImportClient.Interrupted
            {
                let rest = arguments.positionals.count - outcomes.count - 1
                StandardStream.error.write(stack.advice.addressed(text(left, rest: rest)))
                throw Quiet(.failed)
            }
            outcomes.append(outcome)
            if !arguments.flag("--json"), outcome.report != nil { StandardStream.output.write(line(outcome) + "\n") }
        }
        if arguments.flag("--json") {
            StandardStream.output.write(
                Value.object(["files": .array(outcomes.map(\.value))]).json(pretty: true) + "\n")
        }
        if let failed = outcomes.first(where: { $0.report == nil }) {
            throw Failure("\(failed.path) wasn't imported: ", said: failed.problem ?? "")
        }
        if let damaged = outcomes.first(where: \.isDamaged) { throw Self.damaged(damaged) }
        for outcome in outcomes { if let why = outcome.refused { throw refused(outcome, why) } }
    }

    private static func options(_ arguments: Arguments) throws -> ImportClient.Options {
        let isComplete = arguments.flag("--complete")
        // At most one file can be the complete one.
        if isComplete, arguments.positionals.count > 1 {
            throw Failure.usage("--complete takes one file", hint: "give the newest export")
        }
        if arguments.flag("--delete-up-to"), !isComplete {
            throw Failure.usage("--delete-up-to needs --complete", hint: "only a complete import deletes anything")
        }
        let limit = try arguments.number("--delete-up-to", in: 0...100, hint: "give a percentage from 0 to 100")
        return .init(
            isComplete: isComplete, isTrial: arguments.flag("--dry-run"), deleteUpTo: limit,
            mixesMadeUp: arguments.flag("--mix-made-up"))
    }

    /// Explains what continues without this command, and how to end that too.
    private static func text(_ left: ImportClient.Interrupted, rest: Int) -> String {
        let id = left.id.prefix(8)
        let name = (left.name as NSString).lastPathComponent
        let what =
            left.isSending
            ? "\(name) was only partly sent: give it again to go on, or forget it with 'healthbus imports cancel \(id)'"
            : "the stack continues with \(name); 'healthbus imports list' shows the outcome, "
                + "'healthbus imports cancel \(id)' ends it"
        return what + "\n" + (rest > 0 ? "\(HumanFormat.count(rest, "more file")) not handed over\n" : "")
    }

    /// Describes what a file added, and what a complete one removed, by type.
    static func line(_ outcome: ImportClient.Outcome) -> String {
        guard let report = outcome.reported else { return "\(outcome.path): \(outcome.problem ?? "not imported")" }
        func count(_ number: Int64) -> String { HumanFormat.count(Int(number)) }
        let isTrial = report.dryRun == true
        let name = (outcome.path as NSString).lastPathComponent
        let total = report.total
        // The number of samples deleted, either by the file's own tombstones or because a complete export lacks them.
        let deleted = total.deleted + report.samplesDeleted
        var text =
            "\(name): \(count(total.read)) read, \(count(total.added)) \(isTrial ? "would be " : "")added, "
            + "\(count(total.known)) known, \(count(deleted)) \(isTrial ? "would be " : "")deleted, "
            + "\(count(total.quarantined)) quarantined, in " + HumanFormat.duration(.seconds(report.seconds))
        for renamed in report.source.renamed ?? [] {
            text +=
                "\n  '\(renamed.from)' and '\(renamed.to)' are one source under two names, known by "
                + HumanFormat.count(Int(renamed.samples), "sample")
        }
        if report.samplesReplaced > 0 {
            text +=
                "\n  \(isTrial ? "would be replaced" : "replaced"): "
                + HumanFormat.count(Int(report.samplesReplaced), "older sample")
                + " for which HealthKit has condensed ones now"
        }
        text += ImportedFiles(report.source).text
        guard report.completeness != nil || isTrial else { return text }
        let types = report.byType.sorted { $0.key < $1.key }
        if isTrial {
            for (type, tally) in types where tally.added > 0 {
                text += "\n  would be added: \(count(tally.added)) \(type)"
            }
        }
        for (type, tally) in types {
            guard let absent = tally.deletedByAbsence, absent > 0 else { continue }
            text += "\n  \(isTrial ? "would be deleted" : "deleted"): \(count(absent)) \(type)"
        }
        if let complete = report.completeness, complete.refused == nil, complete.deletedByAbsence == 0 {
            text += "\n  it lacks nothing that is stored"
        }
        return text
    }

    static func damaged(_ outcome: ImportClient.Outcome) -> Failure {
        // A report from an earlier release doesn't have this field.
        let isCut = outcome.reported?.source.cut ?? true
        return Failure(
            "\(outcome.path) is damaged: \(outcome.problem ?? "")",
            hint: outcome.reported?.dryRun == true
                || (outcome.refused != nil && outcome.reported?.total.added == 0)
                ? "nothing was changed" + (isCut ? "; try a whole copy" : "")
                : "the part before the damage was imported" + (outcome.refused == nil ? "" : ", nothing was deleted")
                    + (isCut
                        ? "; import a whole copy to get the rest"
                        : "; 'healthbus quarantine list' shows the rest"),
            code: .damaged)
    }

    private static func refused(_ outcome: ImportClient.Outcome, _ why: String) -> Failure {
        let isTrial = outcome.reported?.dryRun == true
        let added = outcome.reported?.total.added ?? 0
        return Failure(
            "\(outcome.path) \(isTrial ? "would be refused" : added > 0 ? "deleted nothing" : "wasn't imported"): \(why)",
            hint: (added > 0 ? "what it added (\(added)) stays; " : "")
                + wayOut(of: why, isTrial: isTrial))
    }

    /// Suggests what would help, judging by the reason that the observer gives for refusing (in its `ImportPlan`):
    /// raising the limit helps only if too large a share would be deleted.
    private static func wayOut(of why: String, isTrial: Bool) -> String {
        if why.hasPrefix("it would delete ") {
            return "if you want that, " + (isTrial ? "" : "check with --dry-run and ")
                + "raise --delete-up-to; otherwise import a newer, complete export"
        }
        if why.contains("--complete could delete") {
            return "import it without --complete, then see 'healthbus quarantine list'"
        }
        return "import a newer, complete export"
    }
}
