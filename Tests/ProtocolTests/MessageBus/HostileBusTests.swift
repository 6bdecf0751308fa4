import CZeroMQ
import Foundation
import Glibc
import HealthModel
import MessageBus
import Processes
import Protocol
import Synchronization
import TestSupport
import Testing

/// Peers that break the rules or can't keep up.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct HostileBusTests {
    let folder: TemporaryFolder
    let address: BusAddress
    let hub: RunningForwarder

    init() throws {
        folder = try TemporaryFolder()
        address = BusAddress(folder: folder.path)
        hub = try RunningForwarder(address)
    }

    @Test func whatIsNoMessageIsCountedAndChangesNothing() throws {
        let listener = try Listener(address, [.prefix("")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        let garbage: [[[UInt8]]] = [
            [Array("a".utf8)], [Array("a".utf8), [1]], [Array("a".utf8), [1], [], []], [[0xFF], [1], []],
            [Array("a".utf8), Array(repeating: 0x81, count: 500), []], [Array("a".utf8), [0xA0], []],
            [Array("a".utf8), message("a").frames[1], [0x9B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]],
        ]
        for frames in garbage { sender.send(frames) }
        sender.send(message("a.good"))
        #expect(eventually { listener.topics == ["a.good"] })
        #expect(listener.malformed.count == garbage.count)
        #expect(listener.bus?.counters.malformed == garbage.count)
        sender.close()
        listener.close()
        #expect(hub.stop())
    }

    /// The hub cuts off a peer that announces a frame beyond the limit. The sender connects again, and no part of the
    /// message reaches any process.
    @Test func aFrameBeyondTheLimitReachesNobody() throws {
        let listener = try Listener(address, [.prefix("")])
        let rude = try sender(address)
        let polite = try sender(address)
        try #require(listener.hears(rude) && listener.hears(polite))
        let frames = message("a.large").frames
        for _ in 0..<20 {
            rude.send([frames[0], frames[1], [UInt8](repeating: 0x40, count: 2 << 20)])
            polite.send(message("a.small"))
        }
        #expect(eventually { listener.topics.count == 20 })
        // A peer that was cut off is heard again as soon as it sends only what is allowed.
        #expect(listener.hears(rude))
        #expect(listener.hears(polite))
        #expect(listener.topics == Array(repeating: "a.small", count: 20))
        #expect(listener.malformed.isEmpty)
        for bus in [rude, polite] { bus.close() }
        listener.close()
        #expect(hub.stop())
        #expect(hub.failed == nil)
    }

    /// A message of the largest allowed size is passed on whole.
    @Test func aFrameOfTheLimitPasses() throws {
        let listener = try Listener(address, [.prefix("a.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        // The byte string's own head is 5 bytes.
        sender.send(message("a.most", .bytes([UInt8](repeating: 7, count: Message.maximumFrame - 5))))
        #expect(eventually { listener.topics == ["a.most"] })
        sender.close()
        listener.close()
        #expect(hub.stop())
    }

    /// A peer that connects to the hub's sockets without speaking ZeroMQ is dropped; the bus continues.
    @Test func noiseOnTheSocketsDoesNotHarmTheHub() throws {
        let listener = try Listener(address, [.prefix("a.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        var random = SeededRandom(seed: 5)
        // This follows the greeting of ZMTP 3.1; for noise without one, see OpenNoiseTests.
        let greeting: [UInt8] =
            [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 1] + Array("NULL".utf8) + Array(repeating: 0, count: 48)
        for turn in 0..<60 {
            let name = turn % 2 == 0 ? "/pub" : "/sub"
            let noise = (0..<Int.random(in: 1...3000, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try shout(greeting + noise, at: folder.path + name)
        }
        sender.send(message("a.fine"))
        #expect(eventually { listener.topics == ["a.fine"] })
        sender.close()
        listener.close()
        #expect(hub.stop())
        #expect(hub.failed == nil)
    }
}

/// The hub is a separate process, so that only its memory is measured.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct StalledSubscriberTests {
    /// Two taps that are suspended while 200 MB of pages pass by cost the hub no more than their queues; listeners miss
    /// nothing.
    @Test func aStalledSubscriberCostsBoundedMemory() throws {
        let folder = try TemporaryFolder()
        let address = BusAddress(folder: folder.path + "/run")
        let hub = try RunningProgram("healthbus-hub", ["--state", folder.path])
        let received = Mutex(0)
        let listener = try BusConnection(
            address: address, subscriptions: [.exact("page.x")],
            handlers: .init(message: { _ in received.withLock { $0 += 1 } }))
        let sender = try sender(address)
        let context = try ZeroMQContext()
        let stalled = try (0..<2).map { _ in
            let socket = try ZeroMQSocket(context, type: ZMQ_SUB)
            try socket.connect(address.subscribe)
            try socket.subscribe("")
            return socket
        }
        // Once each has received a message, all are connected.
        for socket in stalled {
            try #require(
                try eventually {
                    sender.send(message("a.b"))
                    return try socket.receive()?.first == Array("a.b".utf8)
                })
        }
        try #require(
            eventually {
                sender.send(message("page.x"))
                return received.withLock(\.self) > 0
            })
        let page = message("page.x", .bytes([UInt8](repeating: 1, count: 64 << 10))).frames
        let before = try hub.peakMemory
        let begin = received.withLock(\.self)
        for number in 1...3200 {
            sender.send(page)
            // The pages are sent in step with the listener, like a pull's answers, so only a few are in flight.
            if number % 8 == 0 { try #require(eventually { received.withLock(\.self) >= begin + number }) }
        }
        let grown = try hub.peakMemory - before
        print("two stalled subscribers cost the hub \(grown >> 20) MB for 200 MB of pages")
        // Each tap costs 64 messages of 64 KiB in its queue, and the kernel's buffers.
        #expect(grown < 40 << 20)
        withExtendedLifetime(stalled) {}
        sender.close()
        listener.close()
        #expect(hub.stop() == .code(0))
    }
}
