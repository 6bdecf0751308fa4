import Foundation
import HealthModel
import MessageBus
import Wire

/// The forwarder as a process: it says again and again that it is there, which is how everyone else knows that the bus works.
public struct Hub {
    private let instance: String
    private let forwarder: Forwarder

    public init(instance: String, forwarder: Forwarder) {
        self.instance = instance
        self.forwarder = forwarder
    }

    /// Forwards until the forwarder is stopped.
    /// - Parameter use: what the process takes of the machine, as a heartbeat's members.
    public func run(address: BusAddress, seal: HubSeal?, use: () -> [String: Value], ready: () -> Void) throws {
        let pid = ProcessInfo.processInfo.processIdentifier
        try forwarder.run(address: address, seal: seal, ready: ready) {
            let counters = forwarder.counters
            var details: [String: Value] = ["forwarded": .integer(Int64(counters.forwarded))]
            if seal != nil {
                details["refused"] = .integer(Int64(counters.refused))
                details["denied"] = .integer(Int64(counters.denied))
            }
            let body: [String: Value] = [
                "plugin": "hub", "phase": "ready", "pid": .integer(Int64(pid)), "epoch": 0,
                "details": .object(details),
            ]
            return Message(
                topic: "heartbeat.\(instance)", header: .init(from: instance, at: WallClock.now),
                body: .object(body.merging(use()) { $1 }))
        }
    }
}
