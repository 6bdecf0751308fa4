import Foundation
import HealthModel
import MessageBus
import Synchronization
import TestSupport
import Testing
import Wire

extension EndToEnd {
    /// What the hub owes those who come and those who come after it.
    @Suite(.timeLimit(.minutes(30))) struct HubTests {
        /// Whoever comes hears the hub at once rather than with its next heartbeat, and the hub takes its sockets' files
        /// away when it ends.
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
                try await until("the first heartbeat, which nobody hears") { beats.withLock { $0 } > 0 }
                // Each comes when the one before has heard: by the hub's own beats alone that takes a second each.
                let started = ContinuousClock.now
                for _ in 0..<20 {
                    let heard = Mutex(false)
                    let bus = try BusConnection(
                        address: address, subscriptions: [.prefix("heartbeat.")],
                        handlers: .init(message: { _ in heard.withLock { $0 = true } }))
                    #expect(eventually { heard.withLock { $0 } })
                    bus.close()
                }
                #expect(ContinuousClock.now - started < .seconds(10))
                #expect(FileManager.default.fileExists(atPath: stack.path("pub")))
                forwarder.stop()
                try await until("the hub's end") { ended.withLock { $0 } != nil }
                #expect(ended.withLock { $0 } == "")
                #expect(try FileManager.default.contentsOfDirectory(atPath: stack.folder) == [])
            }
        }
    }
}
