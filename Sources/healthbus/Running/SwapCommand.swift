import Configuration
import Control
import Foundation
import HealthModel
import Inspection
import Logging
import Protocol
import Terminal

enum SwapCommand: Command {
    static let help = CommandHelp(
        name: "healthbus swap",
        summary: "Swap a running instance's plugin for another; nothing is lost, and the others don't notice.",
        positionals: [.init("instance")],
        options: CommandHelp.stackOptions + [
            .init("--with", value: "plugin", help: "the plugin: its name, or the path of its folder"),
            .init("--back", help: "go back to the configured plugin"),
            .init(
                "--dry-run", help: "only start it beside the running one, try it on some days, and say how that went"),
            .init("--force", help: "swap even if days fail or events would be deleted"),
            .init(
                "--within", value: "seconds", help: "how long it may take to stand by, and to be ready (default: 30)"),
            .json,
        ],
        examples: ["healthbus swap steps --with steps-python --dry-run", "healthbus swap steps --back"])

    static func run(_ arguments: Arguments) throws {
        let name = arguments.positionals.first ?? ""
        guard arguments.flag("--back") != (arguments.value("--with") != nil) else {
            throw Failure.usage(
                "swap needs either --with or --back", hint: "as in 'healthbus swap \(name) --with PLUGIN'")
        }
        guard let within = Double(arguments.value("--within") ?? "\(SwapWish.usualSeconds)"),
            (0.1...3600).contains(within)
        else {
            throw Failure.usage("--within takes seconds, 0.1 to 3600", hint: "leave it out for 30")
        }
        let plugin = arguments.value("--with").map(plugin)
        // A person may be swapping back because the other plugin has a problem, so that plugin needn't be usable.
        let stack = try Stack(arguments, choices: plugin == nil ? [name: .configured] : [:])
        try stack.named(name)
        let container = ContainerSwap(stack, instance: name)
        if plugin == nil, container == nil, !arguments.flag("--dry-run"),
            let result = try SwapClient(stack).takeBackStopped(name)
        {
            return show(result, [], arguments)
        }
        let wish = SwapWish(
            id: UUID().uuidString.lowercased(), instance: name, plugin: plugin, isTrial: arguments.flag("--dry-run"),
            isForced: arguments.flag("--force"), within: within)
        try follow(wish, stack, container, arguments)
    }

    /// A plugin in a form that other processes can find, whatever their working directory: a path becomes absolute.
    static func plugin(_ text: String) -> String {
        text.contains("/") ? URL(fileURLWithPath: text).standardizedFileURL.path : text
    }

    private static func follow(
        _ wish: SwapWish, _ stack: Stack, _ container: ContainerSwap?, _ arguments: Arguments
    ) throws {
        let isJSON = arguments.flag("--json")
        var hasReported = false
        func report(_ step: SwapProgress) {
            guard !isJSON, !hasReported, let line = step.trialLine else { return }
            hasReported = true
            StandardStream.output.write(line + "\n")
        }
        let result = try container?.swap(wish) ?? SwapClient(stack).swap(wish, progress: report)
        report(result)
        let changes = try TrialFile(folder: stack.state.instance(wish.instance)).take(swap: wish.id) ?? []
        if !isJSON { StandardStream.output.write(SwapProgress.table(of: changes, for: Terminal(.output))) }
        if isJSON || result.step == .done { show(result, changes, arguments) }
        guard result.step == .done else { throw Failure(result.problem ?? "it wasn't swapped", hint: result.hint) }
        // Only now, since this command ends with its container.
        if !wish.isTrial { container?.end() }
    }

    private static func show(_ result: SwapProgress, _ changes: [TrialChange], _ arguments: Arguments) {
        var members = Value(result).object ?? [:]
        members["changes"] = .array(changes.map { Value($0) })
        arguments.print(.object(members), else: result.resultLine + "\n")
    }
}
