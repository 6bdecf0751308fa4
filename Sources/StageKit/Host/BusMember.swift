import Clocks
import Configuration
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// The bus connection of an instance that isn't a stage: the instance reports its presence, and may receive and send a
/// few other messages.
package final class BusMember: Sendable {
    private let bus: BusConnection
    private let name: String

    /// Connects, and keeps reporting the instance's presence until `leave`.
    /// - Parameters:
    ///   - details: specific to the plugin; evaluated for each heartbeat.
    ///   - subscriptions: the other topics that the instance wants to receive.
    ///   - message: called on the bus thread with messages on those topics; must return quickly.
    package init(
        _ context: PluginContext, details: @escaping @Sendable () -> HeartbeatDetails,
        subscriptions: [Subscription] = [], message: @escaping @Sendable (Message) -> Void = { _ in }
    ) throws {
        let name = context.name
        self.name = name
        let plugin = context.instance.manifest.name
        let log = context.log
        let presence = SharedPresence()
        bus = try BusConnection(
            address: context.address, subscriptions: [.exact(Heartbeat.topic(name))] + subscriptions,
            handlers: .init(
                message: {
                    guard $0.topic == Heartbeat.topic(name) else { return message($0) }
                    // Others learn of this from the next heartbeat, which follows within a second.
                    presence.state.withLock { _ = $0.heardSelf(at: MonotonicClock.now) }
                },
                heartbeat: {
                    presence.state.withLock { $0.said(at: MonotonicClock.now) }
                    var beat = Heartbeat(
                        instance: name, plugin: plugin, phase: .ready,
                        pid: Int(ProcessInfo.processInfo.processIdentifier), details: details())
                    ProcessUse.report(&beat)
                    return beat.message(at: WallClock.now)
                },
                pace: { presence.state.withLock { $0.pace(at: MonotonicClock.now) } },
                answersHello: true,
                refused: { log(.busRefused, failed: true, ["why": $0]) },
                failed: { log(.busFailed, ["why": "\($0)"]) }))
    }

    /// Sends a message, which may be lost.
    package func say(_ topic: String, _ body: Value) {
        bus.send(Message(topic: topic, header: .init(from: name, at: WallClock.now), body: body))
    }

    package func leave() { bus.close() }
}

private final class SharedPresence: Sendable {
    let state = Mutex(Presence(at: MonotonicClock.now))
}
