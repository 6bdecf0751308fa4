import Clocks
import Configuration
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// The place on the bus of an instance that is no stage: it only says that it is there.
package final class BusMember: Sendable {
    private let bus: BusConnection

    /// Connects, and goes on saying so until `leave`.
    /// - Parameter details: of the plugin's own kind; they don't change.
    package init(_ context: PluginContext, details: HeartbeatDetails) throws {
        let name = context.name
        let plugin = context.instance.manifest.name
        let log = context.log
        let presence = SharedPresence()
        bus = try BusConnection(
            address: context.address, subscriptions: [.exact(Heartbeat.topic(name))],
            handlers: .init(
                message: { _ in
                    // Others hear it with the next heartbeat, a second later.
                    presence.state.withLock { _ = $0.heardSelf(at: MonotonicClock.now) }
                },
                heartbeat: {
                    presence.state.withLock { $0.said(at: MonotonicClock.now) }
                    var beat = Heartbeat(
                        instance: name, plugin: plugin, phase: .ready,
                        pid: Int(ProcessInfo.processInfo.processIdentifier), details: details)
                    ProcessUse.tell(&beat)
                    return beat.message(at: WallClock.now)
                },
                pace: { presence.state.withLock { $0.pace(at: MonotonicClock.now) } },
                answersHello: true,
                refused: { log(.busRefused, failed: true, ["why": $0]) },
                failed: { log(.busFailed, ["why": "\($0)"]) }))
    }

    package func leave() { bus.close() }
}

private final class SharedPresence: Sendable {
    let state = Mutex(Presence(at: MonotonicClock.now))
}
