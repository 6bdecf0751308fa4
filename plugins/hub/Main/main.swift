import HubStage
import MessageBus
import PluginKit

PluginProgram.start("hub") { context, stopper in
    let forwarder = try Forwarder()
    stopper.whenAsked { forwarder.stop() }
    try Hub(instance: context.name, forwarder: forwarder).run(
        address: context.address, use: { ProcessUse.members }, ready: { context.log.info("hub.listening") })
}
