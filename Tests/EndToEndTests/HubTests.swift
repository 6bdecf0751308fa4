import Foundation
import HealthModel
import HubStage
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

extension EndToEnd {
    /// What processes can expect from the hub when they connect, and what it leaves behind for the next hub.
    @Suite struct HubTests {
        /// A process that connects receives the hub's heartbeat at once instead of waiting for the next one, and the
        /// hub removes its socket files when it ends.
        @Test func newcomersHearTheHub() async throws {
            try await withStack { stack in
                let address = BusAddress(folder: stack.folder)
                let forwarder = try Forwarder()
                let beats = Mutex(0)
                let ended = Mutex<String?>(nil)
                let hub = Thread {
                    do {
                        try forwarder.run(address: address, ready: {}) {
                            beats.withLock { $0 += 1 }
                            return Message(topic: "heartbeat.hub", header: .init(from: "hub", at: 1), body: [:])
                        }
                        ended.withLock { $0 = "" }
                    } catch { ended.withLock { $0 = "\(error)" } }
                }
                hub.start()
                try await until("the first heartbeat, which is lost") { beats.withLock { $0 } > 0 }
                // Each process connects once the one before it has received the hub's heartbeat. If there were only the
                // hub's regular heartbeats, each process would wait for a second; as it is, only a busy machine makes
                // some of them wait.
                var quick = 0
                let areHeard = try eventually {
                    let heard = Mutex(false)
                    let started = ContinuousClock.now
                    let bus = try BusConnection(
                        address: address, subscriptions: [.prefix("heartbeat.")],
                        handlers: .init(message: { _ in heard.withLock { $0 = true } }))
                    try #require(eventually { heard.withLock { $0 } })
                    if ContinuousClock.now - started < .milliseconds(500) { quick += 1 }
                    bus.close()
                    return quick == 10
                }
                #expect(areHeard)
                #expect(FileManager.default.fileExists(atPath: stack.path("pub")))
                forwarder.stop()
                try await until("the hub's end") { ended.withLock { $0 } != nil }
                #expect(ended.withLock { $0 } == "")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder) == [])
            }
        }
    }
}
