import Configuration
import HubStage
import MessageBus
import StageKit

PluginProgram.start("hub") { context, stopper in
    let log = context.log
    let forwarder = try Forwarder { notice in
        log(notice.kind.logEvent, ["who": notice.who, "why": notice.why, "untold": notice.unlogged])
    }
    stopper.whenAsked { forwarder.stop() }
    try Hub(instance: context.name, forwarder: forwarder).run(
        address: context.stack.listening(context.address), seal: try context.stack.hubSeal(in: context.state),
        use: ProcessUse.report, ready: { log(.hubListening) })
}
