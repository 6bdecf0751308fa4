import CZeroMQ
import Foundation
import Glibc
import HealthModel
import HubStage
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

/// Strangers on the network of a sealed bus: they get nothing, and disturb nobody.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct SealedNoiseTests {
    let bus: SealedBus
    let sender: BusConnection
    let listener: Listener

    init() throws {
        bus = try SealedBus()
        try bus.admit("sender")
        try bus.admit("listener")
        sender = try BusConnection(
            address: try bus.address("sender"), subscriptions: [], handlers: .init(message: { _ in }))
        listener = try Listener(try bus.address("listener"), [.prefix("a.")])
        try #require(listener.hears(sender))
    }

    private func end() {
        #expect(listener.hears(sender))
        sender.close()
        listener.close()
        #expect(bus.hub?.stop() == true)
        #expect(bus.hub?.failed == nil)
    }

    /// ZeroMQ without CURVE is refused at both endpoints, with a line in the log. Which side hangs up first varies, and
    /// so does the wording of the log line.
    @Test func plainTextGetsNothing() throws {
        let context = try ZeroMQContext()
        let publisher = try ZeroMQSocket(context, type: ZMQ_PUB)
        let subscriber = try ZeroMQSocket(context, type: ZMQ_SUB)
        let dealer = try ZeroMQSocket(context, type: ZMQ_DEALER)
        try publisher.connect(bus.address.publish)
        try subscriber.connect(bus.address.subscribe)
        try subscriber.subscribe("")
        try dealer.connect(bus.address.subscribe)
        _ = try dealer.send(
            Message(
                topic: "subscribe", header: .init(from: "listener", at: 1), body: ["topics": [""]]
            ).frames)
        #expect(
            try eventually {
                _ = try publisher.send(message("a.forged").frames)
                sender.send(message("a.true"))
                return [bus.address.publish, bus.address.subscribe].allSatisfy { endpoint in
                    bus.notices.contains { $0.kind == .refused && $0.who == endpoint }
                }
            })
        #expect(eventually { listener.topics.contains("a.true") })
        #expect(!listener.topics.contains("a.forged"))
        #expect(try subscriber.receive() == nil)
        #expect(try dealer.receive() == nil)
        end()
    }

    /// Random bytes are sent: without a greeting, after the greeting of each version of the protocol, and after that of
    /// CURVE.
    @Test(arguments: [1, 2, 3, 4, 5])
    func noiseHarmsNobody(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        func zeros(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }
        let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F]
        let greetings: [[UInt8]] = [
            [], [1, 0], [3, 0, 0], [5, 0, 1, 2, 3, 4], signature, signature + [0], signature + [1, 2],
            signature + [1, 1, 0, 0], signature + [3, 0] + Array("NULL".utf8) + zeros(48),
            signature + [3, 1] + Array("CURVE".utf8) + zeros(47),
            signature + [3, 1] + Array("CURVE".utf8) + zeros(47) + [4, 200, 5] + Array("HELLO".utf8) + [1, 0],
        ]
        for greeting in greetings {
            for endpoint in [bus.address.publish, bus.address.subscribe] {
                let connection = try RawConnection(endpoint)
                let length = Int.random(in: 1...600, using: &random)
                connection.send(greeting + (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
                _ = connection.receive(within: 5)
            }
        }
        end()
    }

    /// Replaying a peer's bytes gives an eavesdropper nothing: each handshake uses fresh keys.
    @Test func aReplayedConversationOpensNothing() throws {
        let recorder = try Recorder(bus.address.publish)
        let victim = try BusConnection(
            address: recorder.address(try bus.address("sender")), subscriptions: [],
            handlers: .init(message: { _ in }))
        // Each message has its own number: some may still be in transit when the first arrives, but none arrives twice.
        var number: Int64 = 0
        #expect(
            eventually {
                number += 1
                victim.send(message("a.once", .integer(number)))
                return listener.topics.contains("a.once")
            })
        victim.close()
        #expect(listener.hears(sender))
        let recorded = recorder.recorded
        #expect(recorded.count > 400)
        let before = bus.notices.count
        let replay = try RawConnection(bus.address.publish)
        replay.send(recorded)
        #expect(replay.isHungUp())
        #expect(eventually { bus.notices.count > before })
        #expect(listener.hears(sender))
        let numbers = listener.messages.compactMap(\.body.int)
        #expect(Set(numbers).count == numbers.count && !numbers.isEmpty)
        end()
    }

    /// Many connections that send nothing don't hold up the others.
    @Test func silentConnectionsStopNobody() throws {
        let silent = try (0..<200).map { try RawConnection($0 % 2 == 0 ? bus.address.publish : bus.address.subscribe) }
        #expect(listener.hears(sender))
        let late = try Listener(try bus.address("listener"), [.prefix("a.")])
        #expect(late.hears(sender))
        withExtendedLifetime(silent) {}
        late.close()
        end()
    }

    /// A peer that has been let in floods the bus with messages, both allowed and forbidden: other peers' messages
    /// still arrive. Each message is compared with all subscriptions, so an identity may have only a limited number of
    /// them, no matter how often it connects.
    @Test func aHearerCostsTheHubNoMoreThanItsShare() throws {
        try bus.admit("greedy")
        let many = try (0..<6).map { number in
            try Listener(try bus.address("greedy"), (0..<200).map { .prefix("x.\(number).\($0).") })
        }
        #expect(eventually { bus.notices.contains { $0.why == "subscribes to more than 1024 topics" } })
        try bus.admit("long")
        let long = try Listener(try bus.address("long"), [.prefix(String(repeating: "x", count: 256))])
        #expect(
            eventually {
                bus.notices.contains { $0.who == "long" && $0.why.contains("on a socket meant only for those") }
            })
        // Subscriptions to topics that a peer may not receive cost nothing.
        try bus.admit("modest", hears: [.exact("a.b")])
        let modest = try (0..<6).map { number in
            try Listener(try bus.address("modest"), (0..<200).map { .prefix("x.\(number).\($0).") } + [.exact("a.b")])
        }
        for listener in modest { #expect(listener.hears(sender)) }
        #expect(!bus.notices.contains { $0.who == "modest" })
        #expect(listener.hears(sender))
        for listener in many + modest + [long] { listener.close() }
        end()
    }

    /// The hub reads the topic and header of each message: if either is too long, the message isn't passed on.
    @Test func longTopicsAndHeadersGoNowhere() throws {
        let before = bus.hub?.forwarder.counters.denied ?? 0
        sender.send(message("b." + String(repeating: "x", count: 254)))
        let padding: [String: Value] = ["padding": .string(String(repeating: "x", count: 17 << 10))]
        sender.send(Message(topic: "b.c", header: .init(from: "sender", at: 1, other: padding)))
        #expect(eventually { (bus.hub?.forwarder.counters.denied ?? 0) - before >= 2 })
        #expect(bus.notices.contains { $0.why == "sent a topic or header that is too long" })
        #expect(listener.hears(sender))
        end()
    }

    @Test func aFloodStopsNobody() throws {
        try bus.admit("flood", publishes: [.exact("b.allowed")])
        let flood = try BusConnection(
            address: try bus.address("flood"), subscriptions: [], handlers: .init(message: { _ in }))
        let stop = Mutex(false)
        let ended = DispatchSemaphore(value: 0)
        let thread = Thread {
            while !stop.withLock({ $0 }) {
                for _ in 0..<200 {
                    flood.send(message("b.forbidden", .bytes([UInt8](repeating: 0, count: 1000))))
                    flood.send(message("b.allowed", .bytes([UInt8](repeating: 0, count: 1000))))
                }
                usleep(1000)
            }
            ended.signal()
        }
        thread.start()
        #expect(eventually { (bus.hub?.forwarder.counters.denied ?? 0) > 1000 })
        let denied = bus.hub?.forwarder.counters.denied ?? 0
        #expect(listener.hears(sender))
        // The flood continues throughout.
        #expect(eventually { (bus.hub?.forwarder.counters.denied ?? 0) > denied })
        stop.withLock { $0 = true }
        ended.wait()
        #expect(bus.notices.count { $0.kind == .denied && $0.who == "flood" } <= 3)
        flood.close()
        end()
    }
}

/// The doorkeeper guards an open bus too: it makes libzmq refuse peers with old protocol versions, in which some random
/// bytes make libzmq 4.3.4 abort.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct OpenNoiseTests {
    @Test func oldestProtocolsAreRefused() throws {
        let folder = try TemporaryFolder()
        let address = BusAddress(folder: folder.path)
        let hub = try RunningForwarder(address)
        let listener = try Listener(address, [.prefix("a.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        // The greetings are well-formed, so they are refused only because of their old version: ZMTP 1.0 (an empty
        // name), and 2.0 (the same after a signature).
        let signature: [UInt8] = [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F]
        for greeting in [[1, 0], signature + [1, 2, 0, 0]] {
            for name in ["/pub", "/sub"] { #expect(try shout(greeting, at: folder.path + name, waits: true)) }
        }
        var random = SeededRandom(seed: 7)
        for turn in 0..<400 {
            let noise = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try shout([[], [1, 0], [3, 0, 0]][turn % 3] + noise, at: folder.path + (turn % 2 == 0 ? "/pub" : "/sub"))
        }
        #expect(listener.hears(sender))
        sender.close()
        listener.close()
        #expect(hub.stop())
        #expect(hub.failed == nil)
    }
}
