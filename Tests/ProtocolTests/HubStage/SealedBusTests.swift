import CZeroMQ
import Foundation
import HealthModel
import HubStage
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

/// Which peers a sealed bus lets in, and what each may do there.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct SealedBusTests {
    let bus: SealedBus

    init() throws { bus = try SealedBus() }

    @Test func whoIsOnTheListSpeaksAndHears() throws {
        try bus.admit("sender")
        try bus.admit("listener")
        let sender = try sender(try bus.address("sender"))
        let listener = try Listener(try bus.address("listener"), [.exact("a.b")])
        try #require(listener.hears(sender))
        for _ in 0..<20 { sender.send(message("a.b")) }
        sender.send(message("a.bc"))
        #expect(eventually { listener.topics.count == 20 })
        #expect(listener.hears(sender))
        #expect(listener.topics.allSatisfy { $0 == "a.b" })
        #expect(bus.hub?.forwarder.counters.denied == 0)
        sender.close()
        listener.close()
        #expect(bus.hub?.stop() == true)
    }

    @Test func rightsHoldByMessage() throws {
        try bus.admit("sender", publishes: [.prefix("figures."), .exact("heartbeat.sender")])
        try bus.admit("listener", hears: [.prefix("figures."), .exact("daily.summary")])
        try bus.admit("other")
        let sender = try sender(try bus.address("sender"))
        let other = try BusConnection(
            address: try bus.address("other"), subscriptions: [], handlers: .init(message: { _ in }))
        let listener = try Listener(try bus.address("listener"), [.prefix("")])
        let all = try Listener(try bus.address("other"), [.prefix("")])
        try #require(listener.hears(sender) && all.hears(sender) && all.hears(other))
        let before = bus.hub?.forwarder.counters.denied ?? 0
        sender.send(message("observed.steps"))
        sender.send(message("heartbeat.observer"))
        // The topic is right, but the message claims to come from another process.
        sender.send(Message(topic: "figures.steps", header: .init(from: "steps", at: 1)))
        sender.send([Array("figures.steps".utf8), [0xFF], []])
        sender.send([Array("figures.steps".utf8)])
        sender.send(message("heartbeat.sender"))
        sender.send(message("figures.steps"))
        #expect(eventually { all.topics.contains("figures.steps") && listener.topics.contains("figures.steps") })
        #expect(
            all.topics.filter { !["heartbeat.hub", "control.hello"].contains($0) } == [
                "heartbeat.sender", "figures.steps",
            ])
        #expect(listener.topics == ["figures.steps"])
        #expect((bus.hub?.forwarder.counters.denied ?? 0) - before == 5)
        // One notice covers many refused messages; it names the sender and the topic's family, but shows none of the
        // content.
        let denied = bus.notices.filter { $0.kind == .denied }
        #expect(denied.count == 1)
        #expect(denied.first?.who == "sender")
        #expect(denied.first?.why == "may not publish this topic: observed.…")
        for connection in [sender, other] { connection.close() }
        listener.close()
        all.close()
        #expect(bus.hub?.stop() == true)
    }

    /// A tap's key lets it receive everything, but send nothing, not even a pull.
    @Test func aTapOnlyListens() throws {
        try bus.admit("sender")
        try bus.admit("tap", publishes: [])
        let sender = try sender(try bus.address("sender"))
        let listener = try Listener(try bus.address("sender"), [.prefix("")])
        let tap = try Listener(try bus.address("tap"), [.prefix("")])
        try #require(tap.hears(sender) && listener.hears(sender))
        tap.bus?.send(message("pull.observer"))
        tap.bus?.send(message("control.observer"))
        #expect(eventually { (bus.hub?.forwarder.counters.denied ?? 0) >= 2 })
        #expect(listener.hears(sender))
        #expect(listener.topics.allSatisfy { ["heartbeat.hub", "control.hello"].contains($0) })
        sender.close()
        listener.close()
        tap.close()
        #expect(bus.hub?.stop() == true)
    }

    /// A process with an unknown key gets nothing, reports that once, and keeps trying; as soon as its key is on the
    /// list, it gets in automatically.
    @Test func aStrangersKeyIsRefusedOnBothSides() throws {
        try bus.admit("sender")
        let sender = try sender(try bus.address("sender"))
        let refused = Mutex<[String]>([])
        let heard = Mutex(0)
        let stranger = try BusConnection(
            address: try bus.address("late"), subscriptions: [.prefix("")],
            handlers: .init(
                message: { _ in heard.withLock { $0 += 1 } },
                refused: { why in refused.withLock { $0.append(why) } }))
        #expect(eventually { refused.withLock { $0.contains { $0.contains("refuses this key") } } })
        #expect(eventually { bus.notices.contains { $0.kind == .refused && $0.who == "127.0.0.1" } })
        for _ in 0..<50 { sender.send(message("a.b")) }
        #expect(heard.withLock { $0 } == 0)
        #expect(refused.withLock { $0.count } == 1)
        try bus.admit("late")
        #expect(eventually { heard.withLock { $0 } > 0 })
        stranger.close()
        sender.close()
        #expect(bus.hub?.stop() == true)
    }

    /// A client that expects a different hub at this address reveals nothing to this hub, and reports why.
    @Test func aClientOfAnotherHubReportsWhy() throws {
        try bus.admit("sender")
        let refused = Mutex<[String]>([])
        let client = try BusConnection(
            address: try bus.address("sender", hubKey: try BusKeyPair.make().publicKey), subscriptions: [.prefix("")],
            handlers: .init(message: { _ in }, refused: { why in refused.withLock { $0.append(why) } }))
        #expect(eventually { refused.withLock { !$0.isEmpty } })
        #expect(eventually { bus.notices.contains { $0.why.contains("handshake for this hub's key") } })
        client.close()
        #expect(bus.hub?.stop() == true)
    }

    /// A peer whose name is removed from the list is cut off, even if it is connected; the others reconnect
    /// automatically.
    @Test func whoIsStruckOffIsOut() throws {
        try bus.admit("sender")
        try bus.admit("listener")
        let key = try bus.admit("gone")
        let sender = try sender(try bus.address("sender"))
        let listener = try Listener(try bus.address("listener"), [.prefix("a.")])
        let gone = try Listener(try bus.address("gone"), [.prefix("a.")])
        try #require(listener.hears(sender) && gone.hears(sender))
        bus.strikeOff(key)
        try #require(eventually { bus.notices.contains { $0.kind == .reopened } })
        #expect(listener.hears(sender))
        let mark = gone.topics.count
        // Each message is sent after the previous one has arrived: messages from the time without a hub may still fill
        // the queues, so part of a burst would be dropped.
        for number in 1...50 {
            sender.send(message("a.secret"))
            try #require(eventually { listener.topics.count >= number })
        }
        #expect(gone.topics.count == mark)
        sender.close()
        listener.close()
        gone.close()
        #expect(bus.hub?.stop() == true)
        #expect(bus.hub?.failed == nil)
    }

    /// New keys for a client or the hub are used without a restart.
    @Test func keysChangeWhileAllRun() throws {
        try bus.admit("sender")
        let old = try bus.admit("listener")
        let sender = try sender(try bus.address("sender"))
        let listener = try Listener(try bus.address("listener"), [.prefix("a.")])
        try #require(listener.hears(sender))
        // Both keys are valid for a while; then the old one becomes invalid.
        try bus.admit("listener")
        #expect(listener.hears(sender))
        bus.strikeOff(old)
        #expect(listener.hears(sender))
        try bus.rekeyHub()
        try #require(eventually { bus.notices.contains { $0.why == "it has a new key" } })
        #expect(listener.hears(sender))
        sender.close()
        listener.close()
        #expect(bus.hub?.stop() == true)
    }

    /// The hub ends and restarts: every process reconnects automatically.
    @Test func everyoneComesBackToANewHub() throws {
        try bus.admit("sender")
        try bus.admit("listener")
        let sender = try sender(try bus.address("sender"))
        let listener = try Listener(try bus.address("listener"), [.prefix("a.")])
        try #require(listener.hears(sender))
        #expect(bus.hub?.stop() == true)
        try bus.start()
        #expect(listener.hears(sender))
        sender.close()
        listener.close()
        #expect(bus.hub?.stop() == true)
    }
}
