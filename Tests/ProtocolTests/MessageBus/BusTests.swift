import Clocks
import Configuration
import Foundation
import HealthModel
import HubStage
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

/// Connections and the forwarder, over Unix sockets like those of a stack.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct BusTests {
    let folder: TemporaryFolder
    let address: BusAddress

    init() throws {
        folder = try TemporaryFolder()
        address = BusAddress(folder: folder.path)
    }

    @Test func deliversWhatWasSentInItsOrder() throws {
        let hub = try RunningForwarder(address)
        let listener = try Listener(address, [.prefix("figures.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        for number in 0..<50 { sender.send(message("figures.steps", .integer(Int64(number)))) }
        #expect(eventually { listener.messages.count == 50 })
        #expect(listener.messages.map(\.body) == (0..<50).map { .integer($0) })
        #expect(listener.messages.allSatisfy { $0.header.from == "sender" && $0.header.version == .current })
        #expect(hub.forwarder.counters.forwarded >= 50)
        sender.close()
        listener.close()
        #expect(hub.stop())
        #expect(hub.failed == nil)
    }

    /// A stack has about seventy topics with subscribers; one with more plugins and tools has many more. A process that
    /// connects after all of these hears of every topic: messages on a missed one would never arrive.
    @Test func aPublisherThatComesLastKnowsAllTopics() throws {
        let hub = try RunningForwarder(address)
        let topics = (0..<400).map { "topic.\($0)." }
        let listener = try Listener(address, topics.map { .prefix($0) })
        let first = try sender(address)
        try #require(listener.hears(first))
        let last = try sender(address)
        try #require(listener.hears(last))
        for (number, topic) in topics.enumerated() {
            last.send(message(topic))
            guard eventually({ listener.topics.count > number }) else {
                Issue.record("\(topic) doesn't arrive")
                break
            }
        }
        for connection in [first, last] { connection.close() }
        listener.close()
        #expect(hub.stop())
    }

    @Test func anExactTopicIsNotAPrefix() throws {
        let hub = try RunningForwarder(address)
        let exact = try Listener(address, [.exact("page.steps")])
        let prefix = try Listener(address, [.prefix("page.steps")])
        let sender = try sender(address)
        try #require(exact.hears(sender) && prefix.hears(sender))
        for topic in ["page.steps2", "page.step", "page.steps", "page.stepsx", "page.", "page.steps"] {
            sender.send(message(topic))
        }
        #expect(eventually { prefix.topics.count == 4 && exact.topics.count == 2 })
        // Messages arrive in order, so by now all of them have passed.
        #expect(exact.hears(sender))
        #expect(exact.topics == ["page.steps", "page.steps"])
        #expect(prefix.topics == ["page.steps2", "page.steps", "page.stepsx", "page.steps"])
        sender.close()
        exact.close()
        prefix.close()
        #expect(hub.stop())
    }

    @Test func whoeverClosesSendsWhatIsInTheOutboxFirst() throws {
        let hub = try RunningForwarder(address)
        let listener = try Listener(address, [.prefix("last.")])
        for round in 0..<20 {
            let sender = try sender(address)
            try #require(listener.hears(sender))
            for number in 0..<10 { sender.send(message("last.\(round)", .integer(Int64(number)))) }
            sender.close()
            #expect(
                eventually { listener.messages.filter { $0.topic == "last.\(round)" }.count == 10 }, "round \(round)")
        }
        listener.close()
        #expect(hub.stop())
    }

    @Test func closingTwiceAndWithoutHubEnds() throws {
        let ended = Mutex(false)
        let sender = try sender(address)
        sender.send(message("nobody.hears"))
        Thread {
            sender.close()
            sender.close()
            ended.withLock { $0 = true }
        }.start()
        #expect(eventually { ended.withLock(\.self) })
    }

    @Test func clientsComeBackAfterTheHub() throws {
        let first = try RunningForwarder(address)
        let listener = try Listener(address, [.prefix("a.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        #expect(first.stop())
        sender.send(message("a.lost"))
        let second = try RunningForwarder(address)
        #expect(listener.hears(sender))
        sender.send(message("a.again"))
        #expect(eventually { listener.topics.contains("a.again") })
        sender.close()
        listener.close()
        #expect(second.stop())
    }

    @Test func aFullOutboxDropsTheOldestAndCounts() throws {
        // The bus's thread is held up, so nothing leaves the outbox.
        let gate = DispatchSemaphore(value: 0)
        let held = Mutex(false)
        let sender = try BusConnection(
            address: address, subscriptions: [],
            handlers: .init(
                message: { _ in },
                heartbeat: {
                    held.withLock { $0 = true }
                    gate.wait()
                    return nil
                }))
        try #require(eventually { held.withLock(\.self) })
        for number in 0..<1500 { sender.send(message("a", .integer(Int64(number)))) }
        #expect(sender.counters.dropped == 1500 - 1024)
        for _ in 0..<10 { gate.signal() }
        sender.close()
        #expect(sender.counters.sent == 1024)
    }

    @Test func heartbeatsComeQuicklyUntilTheyAreHeardThenAtTheirPace() throws {
        let times = Mutex<[MonotonicTime]>([])
        let heard = Mutex<MonotonicTime?>(nil)
        let bus = try BusConnection(
            address: address, subscriptions: [.exact("heartbeat.me")],
            handlers: .init(
                message: { _ in heard.withLock { $0 = $0 ?? MonotonicClock.now } },
                heartbeat: {
                    times.withLock { $0.append(MonotonicClock.now) }
                    return message("heartbeat.me")
                },
                pace: { heard.withLock { $0 != nil } ? .lively : .unheard }))
        // Without a hub, heartbeats come about every 30 ms, never more often. A busy machine delays many of them, but
        // not all.
        func impatient() -> [Duration] { times.withLock { zip($0.dropFirst(), $0).map { $0 - $1 } } }
        try #require(eventually { times.withLock(\.count) >= 12 })
        #expect(eventually { impatient().contains { $0 < .milliseconds(150) } })
        #expect(impatient().allSatisfy { $0 >= .milliseconds(29) })
        // Once there is a hub, the process receives its own messages.
        let hub = try RunningForwarder(address)
        try #require(eventually { heard.withLock { $0 != nil } })
        let from = heard.withLock(\.self) ?? .distantPast
        func calm() -> [MonotonicTime] { times.withLock { $0.filter { $0 > from + .milliseconds(100) } } }
        // Heartbeats come at the same moments across the whole machine: at whole seconds, though sometimes late if the
        // machine is busy.
        #expect(eventually { calm().contains { $0.microseconds % Instant.microsecondsPerSecond < 100_000 } })
        // They come once a second: no matter how late some are, this many take at least this long.
        try #require(eventually { calm().count >= 4 })
        let moments = calm()
        #expect((moments.last ?? from) - (moments.first ?? from) >= .seconds(moments.count - 2), "\(moments)")
        bus.close()
        #expect(hub.stop())
    }

    @Test func aBeatThatIsAskedForComesAtOnce() throws {
        let count = Mutex(0)
        let bus = try BusConnection(
            address: address, subscriptions: [],
            handlers: .init(
                message: { _ in },
                heartbeat: {
                    count.withLock { $0 += 1 }
                    return nil
                }))
        try #require(eventually { count.withLock(\.self) == 1 })
        // Each heartbeat is requested right after the one before it, since it would otherwise come a second later; even
        // so, a busy machine delays some.
        var quick = 0
        let areQuick = try eventually {
            let before = count.withLock(\.self)
            let begin = MonotonicClock.now
            bus.beat()
            try #require(eventually { count.withLock(\.self) > before })
            if MonotonicClock.now - begin < .milliseconds(500) { quick += 1 }
            return quick == 10
        }
        #expect(areQuick)
        bus.close()
    }

    /// A process that keeps asking all others to report gets its answer now and then, and doesn't keep them busy.
    @Test func whoeverAsksWithoutEndIsAnsweredNowAndThen() throws {
        let hub = try RunningForwarder(address)
        let beats = Mutex(0)
        let bus = try BusConnection(
            address: address, subscriptions: [],
            handlers: .init(
                message: { _ in },
                heartbeat: {
                    beats.withLock { $0 += 1 }
                    return nil
                }, answersHello: true))
        let asker = try sender(address)
        let hello = message(BusConnection.hello)
        try #require(
            eventually {
                asker.send(hello)
                return beats.withLock(\.self) >= 3
            })
        let (began, before) = (MonotonicClock.now, beats.withLock(\.self))
        while MonotonicClock.now - began < .seconds(1) {
            for _ in 0..<20 { asker.send(hello) }
            usleep(1000)
        }
        let (answered, time) = (beats.withLock(\.self) - before, MonotonicClock.now - began)
        #expect(answered > 1 && answered <= Int(time / .milliseconds(20)) + 2)
        // A process that asks once is answered too.
        let last = beats.withLock(\.self)
        #expect(
            eventually {
                usleep(30_000)
                asker.send(hello)
                return beats.withLock(\.self) > last + 1
            })
        bus.close()
        asker.close()
        #expect(hub.stop())
    }

    /// A message whose sender isn't trusted is dropped and counted; taps, which show everything, still receive it.
    @Test func onlyWhoIsBelievedIsHeard() throws {
        let hub = try RunningForwarder(address)
        var trusting = address
        trusting.trust = BusTrust { $0.header.from == "sender" && $0.topic != "b.forbidden" }
        let foreign = Mutex<[String]>([])
        let heard = Mutex<[String]>([])
        let bus = try BusConnection(
            address: trusting, subscriptions: [.prefix("b.")],
            handlers: .init(
                message: { said in heard.withLock { $0.append("\(said.header.from) \(said.topic)") } },
                foreign: { said in foreign.withLock { $0.append("\(said.header.from) \(said.topic)") } }))
        let listener = try Listener(address, [.prefix("b.")])
        let sender = try sender(address)
        try #require(listener.hears(sender))
        try #require(
            eventually {
                sender.send(message("b.ping"))
                return heard.withLock { $0.contains("sender b.ping") }
            })
        sender.send(message("b.forbidden"))
        sender.send(Message(topic: "b.allowed", header: .init(from: "other", at: 1)))
        sender.send(message("b.allowed"))
        #expect(eventually { heard.withLock { $0.contains("sender b.allowed") } })
        #expect(heard.withLock { $0.allSatisfy { ["sender b.ping", "sender b.allowed"].contains($0) } })
        #expect(foreign.withLock(\.self) == ["sender b.forbidden", "other b.allowed"])
        #expect(bus.counters.foreign == 2)
        #expect(eventually { listener.topics.contains("b.forbidden") })
        bus.close()
        sender.close()
        listener.close()
        #expect(hub.stop())
    }

    /// An instance's last message says that it has stopped, so that no process has to infer this from silence.
    @Test func aBeatAskedForBeforeTheEndIsSent() throws {
        let hub = try RunningForwarder(address)
        let listener = try Listener(address, [.prefix("heartbeat.")])
        for round in 0..<20 {
            let last = Mutex(false)
            let bus = try BusConnection(
                address: address, subscriptions: [],
                handlers: .init(
                    message: { _ in },
                    heartbeat: { last.withLock(\.self) ? message("heartbeat.\(round)", "stopped") : nil }))
            try #require(listener.hears(bus))
            last.withLock { $0 = true }
            bus.beat()
            bus.close()
            #expect(eventually { listener.topics.contains("heartbeat.\(round)") }, "round \(round)")
        }
        listener.close()
        #expect(hub.stop())
    }

    /// ZeroMQ takes over an endpoint's file from a process that is listening there, so two hubs in one folder would
    /// share its clients. The lock prevents this.
    @Test func theLockKeepsASecondHubOut() throws {
        let lock = try #require(try InstanceLock.take(folder: folder.path))
        #expect(try InstanceLock.take(folder: folder.path) == nil)
        #expect(try InstanceLock.take(folder: folder.path, waiting: 0.05) == nil)
        #expect(InstanceLock.holder(folder: folder.path) == Int(ProcessInfo.processInfo.processIdentifier))
        withExtendedLifetime(lock) {}
    }

    @Test func theLockIsFreeAgainWhenItsHolderEnds() throws {
        var lock = try InstanceLock.take(folder: folder.path)
        #expect(lock != nil)
        #expect(try InstanceLock.take(folder: folder.path) == nil)
        lock = nil
        #expect(try InstanceLock.take(folder: folder.path) != nil)
    }

    @Test func anEndpointThatCannotBeIsNamed() throws {
        let nowhere = BusAddress(folder: folder.path + "/missing")
        let hub = try RunningForwarder(nowhere)
        #expect(hub.failed?.contains(folder.path + "/missing/pub") == true)
        let long = try RunningForwarder(BusAddress(folder: folder.path + "/" + String(repeating: "x", count: 120)))
        #expect(long.failed?.contains("107 bytes") == true)
    }
}
