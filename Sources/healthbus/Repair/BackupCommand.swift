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
        let bar = CopyBar(title: "Copying")
        let made = try Backup(stack, folder: arguments.positionals[0]).make { bar.update($0, of: $1) }
        LiveLine.error.end()
        if made.hasOpenImport {
            StandardStream.error.write(
                "An import is being read: its file isn't part of the backup. After a restore, import it again.\n")
        }
        let value = (made.manifest.value.object ?? [:]).merging([
            "folder": .string(made.folder), "bytes": .integer(made.bytes),
        ]) { $1 }
        arguments.print(
            .object(value),
            else:
                "Backed up \(HumanFormat.count(made.manifest.entries.count, "instance")), \(HumanFormat.bytes(Int(made.bytes))), into \(made.folder).\n"
        )
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
        let bar = CopyBar(title: "Checking")
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
        LiveLine.error.end()
        let made = InstantText.iso8601(restore.manifest.made)
        var value = restore.manifest.value.object ?? [:]
        value["state"] = .string(stack.state.path)
        value["dryRun"] = .bool(isTrial)
        value["replaced"] = .array(restore.replaced.map { .string($0) })
        arguments.print(
            .object(value),
            else:
                isTrial
                ? "The backup of \(made) is whole. It would replace \(HumanFormat.count(restore.replaced.count, "instance")) in \(stack.state.path)."
                    + " Nothing was changed.\n"
                : stack.advice.addressed(
                    "Restored \(HumanFormat.count(restore.manifest.entries.count, "instance")) as of \(made). Start them with \(stack.startCommand), "
                        + "and import what has arrived since. A backup doesn't hold the stack's configuration: "
                        + "if it had a file of its own, name that with --config.\n"))
    }
}

/// "Copying ████████░░░░░░░░░░░░ 40 %, 120.0 MB of 300.0 MB, 45.0 MB/s, about 4 s left".
struct CopyBar {
    let title: String
    private let began = ContinuousClock.now

    init(title: String) { self.title = title }

    func update(_ done: Int64, of total: Int64) {
        guard total > 0 else { return }
        LiveLine.error.restSometimes(
            ProgressBar.line(
                title, Int(done), of: Int(total), after: ContinuousClock.now - began,
                amount: "\(HumanFormat.bytes(Int(done))) of \(HumanFormat.bytes(Int(total)))",
                rate: { HumanFormat.bytes(Int($0)) }))
    }
}
