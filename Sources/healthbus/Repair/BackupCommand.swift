import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Terminal

enum BackupCommand: Command {
    static let help = CommandHelp(
        name: "healthbus backup",
        summary: "Write a consistent copy of everything the stack holds into a new folder, whether it runs or not.",
        positionals: [.init("folder")], options: CommandHelp.stackOptions + [.json],
        examples: ["healthbus backup /mnt/backup/healthbus-2025-03-30"])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        var bar = CopyBar("Copying")
        let made = try Backup(stack, folder: arguments.positionals[0]).make { bar.update($0, of: $1) }
        bar.finish()
        if made.hasOpenImport {
            StandardStream.error.write(
                "An import is being read: its file isn't part of the backup. After a restore, import it again.\n")
        }
        if arguments.flag("--json") {
            let value = (made.manifest.value.object ?? [:]).merging([
                "folder": .string(made.folder), "bytes": .integer(made.bytes),
            ]) { $1 }
            StandardStream.output.write(Value.object(value).json(pretty: true) + "\n")
        } else {
            StandardStream.output.write(
                "Backed up \(HumanFormat.count(made.manifest.entries.count, "instance")), \(HumanFormat.bytes(Int(made.bytes))), into \(made.folder).\n"
            )
        }
    }
}

enum RestoreCommand: Command {
    static let help = CommandHelp(
        name: "healthbus restore",
        summary: "Replace what a stopped stack holds with a backup.",
        positionals: [.init("folder")],
        options: CommandHelp.stackOptions + [Confirmation.option, .init("--dry-run", help: CommandHelp.dryRun), .json],
        examples: [
            "healthbus restore /mnt/backup/healthbus-2025-03-30",
            "healthbus restore --dry-run backup --state /srv/health",
        ])

    static func run(_ arguments: Arguments) throws {
        let stack = try Stack(arguments)
        let restore = try Restore(stack, folder: arguments.positionals[0])
        var bar = CopyBar("Checking")
        let isTrial = arguments.flag("--dry-run")
        if isTrial {
            try restore.check { bar.update($0, of: $1) }
        } else {
            if !restore.replaced.isEmpty {
                try Confirmation.require(
                    .replace, "what \(stack.state.path) holds of \(restore.replaced.joined(separator: ", "))", arguments
                )
            }
            try restore.run { bar.update($0, of: $1) }
        }
        bar.finish()
        let made = InstantText.iso8601(restore.manifest.made)
        if arguments.flag("--json") {
            var value = restore.manifest.value.object ?? [:]
            value["state"] = .string(stack.state.path)
            value["dryRun"] = .bool(isTrial)
            value["replaced"] = .array(restore.replaced.map { .string($0) })
            StandardStream.output.write(Value.object(value).json(pretty: true) + "\n")
        } else {
            StandardStream.output.write(
                isTrial
                    ? "The backup of \(made) is whole. It would replace \(HumanFormat.count(restore.replaced.count, "instance")) in \(stack.state.path)."
                        + " Nothing was changed.\n"
                    : stack.advice.addressed(
                        "Restored \(HumanFormat.count(restore.manifest.entries.count, "instance")) as of \(made). Start them with \(stack.startCommand), "
                            + "and import what has arrived since. A backup doesn't hold the stack's configuration: "
                            + "if it had a file of its own, name that with --config.\n"))
        }
    }
}

/// "Copying ████████░░░░░░░░░░░░ 40 %, 120.0 MB of 300.0 MB, 45.0 MB/s, about 4 s left".
struct CopyBar {
    private let title: String
    private let terminal = Terminal(.error)
    private let began = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    init(_ title: String) { self.title = title }

    mutating func update(_ done: Int64, of total: Int64) {
        let now = ContinuousClock.now
        guard terminal.isTerminal, total > 0, drawn.map({ now - $0 > .milliseconds(100) }) ?? true else { return }
        drawn = now
        let share = min(1, Double(done) / Double(total))
        let filled = Int(share * 20)
        var text =
            "\(title) " + String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
            + " \(Int(share * 100)) %, \(HumanFormat.bytes(Int(done))) of \(HumanFormat.bytes(Int(total)))"
        let seconds = (now - began) / .seconds(1)
        if seconds >= 0.5, done > 0 {
            text += ", \(HumanFormat.bytes(Int(Double(done) / seconds)))/s"
            if share < 1 {
                text += ", about \(HumanFormat.duration(.seconds((seconds / share - seconds).rounded(.up)))) left"
            }
        }
        StandardStream.error.write("\r" + DisplayWidth.truncated(text, to: max(1, terminal.width - 1)) + "\u{1B}[K")
    }

    func finish() { if drawn != nil { StandardStream.error.write("\r\u{1B}[K") } }
}
