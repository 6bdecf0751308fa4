import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol

/// The forwarder as a process: it keeps reporting that it is running, which is how all other processes know that the
/// bus works.
package struct Hub {
    private let instance: String
    private let forwarder: Forwarder

    package init(instance: String, forwarder: Forwarder) { (self.instance, self.forwarder) = (instance, forwarder) }

    /// Forwards until the forwarder is stopped.
    /// - Parameter use: writes the process's use of machine resources into a heartbeat.
    package func run(address: BusAddress, seal: HubSeal?, use: (inout Heartbeat) -> Void, ready: () -> Void) throws {
        let pid = Int(ProcessInfo.processInfo.processIdentifier)
        try forwarder.run(address: address, seal: seal, ready: ready) {
            let counters = forwarder.counters
            let isSealed = seal != nil
            var beat = Heartbeat(
                instance: instance, plugin: "hub", phase: .ready, pid: pid,
                details: HeartbeatDetails(
                    HubDetails(
                        forwarded: counters.forwarded, refused: isSealed ? counters.refused : nil,
                        denied: isSealed ? counters.denied : nil)))
            use(&beat)
            return beat.message(at: WallClock.now)
        }
    }
}
