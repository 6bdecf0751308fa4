import Configuration
import ConsolidatorStage
import DebouncerStage
import ExecStage
import HandlerKit
import HubStage
import Logging
import MessageBus
import StageKit

// Runs the plugin after which it is called: `make build` makes a link `healthbus-steps` for the plugin `steps`.
let program = CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? ""
let plugin = String(program.dropFirst("healthbus-".count))

switch plugin {
case "hub":
    PluginProgram.start(plugin) { context, stopper in
        let log = context.log
        let forwarder = try Forwarder { notice in
            log(notice.kind.logEvent, ["who": notice.who, "why": notice.why, "untold": notice.unlogged])
        }
        stopper.whenAsked { forwarder.stop() }
        try Hub(instance: context.name, forwarder: forwarder).run(
            address: context.stack.listening(context.address), seal: try context.stack.hubSeal(in: context.state),
            use: ProcessUse.report, ready: { log(.hubListening) })
    }
case "debouncer": PluginProgram.run(.debouncer)
case "consolidator": PluginProgram.run(.consolidator)
case "exec":
    PluginProgram.run(plugin) { context in
        let runner = try ExecRunner(context)
        return StageParts(handler: HandlerStage(.beside(runner.traits), context), effects: runner)
    }
default:
    if let handler = LinkedHandler.named(plugin) { PluginProgram.run(plugin, handler) }
    reportAndExit(
        Failure.usage(
            "\(program) isn't the name of a plugin", hint: "'healthbus run steps' runs the plugin 'steps'"),
        program: program)
}
