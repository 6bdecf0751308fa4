import Configuration
import Control
import Figures
import Foundation
import HealthGenerator
import HealthModel
import Inspection
import Logging
import Monitoring
import Supervisor
import Terminal

/// `make run`: goes from nothing to a running stack with days to look at.
enum DemoCommand: Command {
    static let help = CommandHelp(
        name: "healthbus demo",
        summary: "Start the stack on a made-up person's export, or on yours, and show the result.",
        options: [
            .init(
                "--state", value: "folder",
                help: "the stack's state folder (default: as for up, with -demo at the end for made-up data)"),
            .config,
            .init("--export", value: "file", help: "your own export instead of a made-up one"),
            .init(
                "--zone", value: "zone",
                help: "where days begin (default: Europe/Berlin for made-up data, else the machine's)"),
        ],
        examples: ["healthbus demo", "healthbus demo --export export.zip"])

    static let startsAfresh = true

    static func run(_ arguments: Arguments) throws {
        if let zone = arguments.value("--zone") { try ZoneName.require(zone) }
        Supervisor.blockSignals()
        let export = arguments.value("--export")
        let stack = try Stack(starting: arguments, state: folder(arguments))
        let say: @Sendable (String) -> Void = { line in
            LiveLine.error.above { StandardStream.output.write(line + "\n") }
        }
        say("state  \(stack.state.path)")
        let choice = try ZoneChoice(stack, option: arguments.value("--zone"), user: nil)
        let zone = choice.holds ?? (export == nil ? choice.asked?.name ?? "Europe/Berlin" : choice.beginning.name)
        let isMachines = choice.holds == nil && choice.asked == nil && export != nil
        say(
            choice.notice.map(stack.advice.addressed)
                ?? "zone   \(zone)" + (isMachines ? " (this machine's; --zone names another)" : ""))
        var options = StackRunner.Options()
        options.imports = [try export ?? generate(in: stack, zone: zone, say)]
        (options.zone, options.passesOn) = (zone, quiet())
        // The demo's own folder may hold data that an earlier release generated without marking it as made up.
        options.mixesMadeUp = export == nil && arguments.value("--state") == nil
        options.showsSummary = Terminal(.error).isTerminal
        let runner = StackRunner(
            stack, options, say: say, whenIdle: { outcome in try show(stack, outcome, say) })
        _ = try runner.run()
    }

    /// Where the demo keeps its state. A made-up person's data never goes into a real person's folder.
    static func folder(_ arguments: Arguments) -> String {
        arguments.value("--state")
            ?? StateFolder.standard().path + (arguments.value("--export") == nil ? "-demo" : "")
    }

    /// The processes' logs would break up the progress bar; anyone who wants them can set the log level.
    private static func quiet() -> Log.Level {
        (ProcessInfo.processInfo.environment["HEALTHBUS_LOG_LEVEL"] ?? "").isEmpty ? .error : .debug
    }

    private static func generate(in stack: Stack, zone: String, _ say: (String) -> Void) throws -> String {
        try StateFolder.make(stack.state.path)
        let file = stack.state.path + "/made-up-export.zip"
        // Another release may make up another life, which would mix with the one that the folder holds.
        if FileManager.default.fileExists(atPath: file) {
            say("export \(file): the made-up person of the first start")
            return file
        }
        // The data ends on a fixed date, so that it includes the change to summer time on 2025-03-30.
        let generator = try ExportGenerator(.init(days: 90, seed: 1, zone: zone, isMarked: true))
        var bar = ProgressBar("generating", totalBytes: nil)
        let result = try generator.write(to: file) { written, _ in bar.update(bytes: 0, records: written) }
        bar.update(bytes: result.bytes, records: result.records)
        bar.finish()
        say("export \(file): 90 days of a made-up person, \(HumanFormat.count(result.records)) records")
        return file
    }

    private static func show(_ stack: Stack, _ outcome: StackRunner.Outcome, _ say: (String) -> Void) throws {
        for file in outcome.imports { say(ImportCommand.line(file)) }
        let days = try DaysReport(
            stack.reader(), consolidator: try stack.instance(.consolidator), user: nil, last: 7)
        say("\nThe last seven days with data:\n")
        say(days.table(for: Terminal(.output)))
        let delivered = try DeliveryReport(stack)
        say(delivered.text)
        // If the program was started by a path, the shell needs to know the program's folder in order to find it.
        let program = CommandLine.arguments.first ?? "healthbus"
        let folder = program.contains("/") ? URL(fileURLWithPath: program).deletingLastPathComponent().path : nil
        let path = folder.map { "\n  export PATH=\"\($0):$PATH\"" } ?? ""
        say(
            """

            Everything is delivered\(outcome.trust.clause), and the stack keeps running. In another terminal:
              export HEALTHBUS_STATE="\(stack.state.path)"\(path)
              healthbus open
              healthbus status
              healthbus days
              healthbus tap figures. daily.
            Ctrl-C stops it; what it holds stays in the state folder.
            """)
    }
}
