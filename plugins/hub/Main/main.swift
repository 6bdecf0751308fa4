import HubStage
import MessageBus
import PluginKit

PluginProgram.start("hub") { context, stopper in
    let forwarder = try Forwarder()
    stopper.whenAsked { forwarder.stop() }
    try Hub(instance: context.name, forwarder: forwarder).run(
        address: context.address, memory: { ProcessMemory.resident }, ready: { context.log(.hubListening) })
}
