import CZeroMQ
import Clocks
import Foundation
import HealthModel
import Protocol
import Synchronization

/// A process's connection to the bus: one PUB socket to the hub, one SUB socket (on a sealed bus, a DEALER) from the
/// hub, and the thread that owns both.
///
/// `send` never blocks: its queue is bounded. When it is full, it drops the oldest message and counts the drop.
/// Everything on the bus is a hint, or an answer that will be requested again, so a drop delays but never loses
/// anything. Long answers go through `sendWhenRoom`, so that they don't push out hints, heartbeats and the answers to
/// others.
package final class BusConnection: Sendable {
    /// What has passed through the connection, for `status` and metrics.
    package struct Counters: Sendable {
        package var sent = 0
        package var received = 0
        package var dropped = 0
        package var malformed = 0
        /// Dropped because the sender had no right to send it.
        package var foreign = 0

        package init() {}
    }

    private struct State {
        var counters = Counters()
        var stopping = false
        var stopped = false
        var beatNow = false
        /// Whether a process is asking all others to report.
        var isGreeted = false
    }

    /// The topic on which tools ask every process to report.
    package static let hello = "control.hello"
    /// The topic on which each process on a sealed bus repeatedly sends the hub the list of topics that it subscribes
    /// to.
    package static let subscribe = "subscribe"

    /// The maximum time that a sender of many messages waits for room, since the hub may be stopped.
    private static let roomPatience = Duration.seconds(1)
    /// The time between attempts while the hub accepts nothing: a socket can't be polled for free room.
    private static let fullRetry = Duration.milliseconds(2)...Duration.milliseconds(50)
    /// The time between heartbeats sent on request, so that a tool that keeps asking can't keep every process busy.
    private static let greetingInterval = Duration.milliseconds(20)
    /// The time between checks of the key files.
    private static let lookInterval = Duration.seconds(1)
    private let state = Mutex(State())
    private let queue = SendQueue()
    private let wakeup: Wakeup
    private let finished = DispatchSemaphore(value: 0)

    /// Connects and starts the thread. The hub need not be running yet: ZeroMQ connects when it appears.
    package init(address: BusAddress, subscriptions: [Subscription], handlers: Handlers) throws {
        wakeup = try Wakeup()
        let context = try ZeroMQContext()
        let loop: @Sendable () -> Void = { [self] in
            do {
                try run(context: context, address: address, subscriptions: subscriptions, handlers: handlers)
            } catch {
                handlers.failed(error)
            }
            state.withLock { $0.stopped = true }
            finished.signal()
        }
        let thread = Thread(block: loop)
        thread.name = "bus"
        thread.stackSize = 1 << 20
        thread.start()
    }

    package var counters: Counters {
        var counters = state.withLock { $0.counters }
        counters.dropped = queue.dropped
        return counters
    }

    package func send(_ message: Message) { send(message.frames) }

    /// Sends frames as they are, for tools and tests that send something other than messages.
    package func send(_ frames: [[UInt8]]) {
        // If another message is already waiting, this one goes out with it: the thread has already been woken, and
        // sends everything queued.
        if queue.add(frames) { wakeup.signal() }
    }

    /// Sends one of many messages: first waits for room, for a second at most.
    package func sendWhenRoom(_ message: Message) {
        queue.waitForRoom(Self.roomPatience)
        send(message)
    }

    /// Sends a heartbeat now instead of when the next is due.
    package func beat() {
        state.withLock { $0.beatNow = true }
        wakeup.signal()
    }

    /// Makes the thread call `pace` again, since the next heartbeat may now be due earlier.
    package func repace() { wakeup.signal() }

    /// Sends what is in the outbox, as far as the hub has room for it, closes the sockets and waits for the thread to
    /// end. A second call returns at once.
    package func close() {
        let already = state.withLock { state in
            defer { state.stopping = true }
            return state.stopping
        }
        guard !already else { return }
        wakeup.signal()
        finished.wait()
    }

    private func run(
        context: ZeroMQContext, address: BusAddress, subscriptions: [Subscription], handlers: Handlers
    ) throws {
        let topics = subscriptions.map(\.text) + (handlers.answersHello ? [Self.hello] : [])
        var trouble = LinkTrouble()
        var link = try BusLink(context, address, topics: topics, reconnectInterval: trouble.reconnectInterval)
        var items = pollItems(link)
        var lastBeat: MonotonicTime?
        // When the hub ran out of room; nil while it has some.
        var fullSince: MonotonicTime?
        // Keys change only on a sealed bus. A change of keys requires no wake-up: the old keys stay valid for a while,
        // or the hub ends the connection.
        var nextLook = address.seal == nil ? nil : MonotonicClock.now + Self.lookInterval
        while true {
            let now = MonotonicClock.now
            let isTimeToLook = nextLook.map { now >= $0 } ?? false
            if isTimeToLook { nextLook = Repetition.next(Self.lookInterval, after: now) }
            if trouble.retryAt.map({ now >= $0 }) ?? false || isTimeToLook && link.hasOldKeys() {
                trouble.retried()
                // Keys that can't be read now may be readable at the next check.
                do {
                    link = try BusLink(
                        context, address, topics: topics, reconnectInterval: trouble.reconnectInterval)
                } catch let error as BusError { throw error } catch {
                    if let word = trouble.failed(.keysUnreadable, at: now) { handlers.refused("\(word): \(error)") }
                }
                items = pollItems(link)
            }
            let greetingDue = (lastBeat ?? now - Self.greetingInterval) + Self.greetingInterval
            let (stopping, beatNow, isGreeted) = state.withLock { state in
                defer {
                    state.beatNow = false
                    if now >= greetingDue { state.isGreeted = false }
                }
                return (state.stopping, state.beatNow, state.isGreeted)
            }
            let nextWord = try link.subscribe(at: now)
            let isFull = try !sendQueued(through: link)
            fullSince = isFull ? fullSince ?? now : nil
            if beatNow || isGreeted && now >= greetingDue
                || lastBeat.map({ now >= handlers.pace().next(after: $0) }) ?? true
            {
                if let beat = handlers.heartbeat() { _ = try link.publisher.send(beat.frames) }
                lastBeat = now
            }
            // Checked only now, so that a heartbeat requested just before the end is still sent and says that it is the
            // last one.
            if stopping { return }
            let nextBeat = handlers.pace().next(after: lastBeat ?? now)
            let nextGreeting = isGreeted && now < greetingDue ? greetingDue : nil
            let nextTry = fullSince.map { since in
                now + min(max(Self.fullRetry.lowerBound, (now - since) / 8), Self.fullRetry.upperBound)
            }
            let next = [nextBeat, nextWord, trouble.retryAt, nextGreeting, nextTry].compactMap { $0 }.min() ?? nextBeat
            let wait = max(.zero, next - MonotonicClock.now).microseconds / 1000 + 1
            // EINTR only wakes us early.
            if zmq_poll(&items, Int32(items.count), Int(wait)) < 0, zmq_errno() != EINTR { throw BusError.last("poll") }
            wakeup.drain()
            try note(link.handshakes(), &trouble, handlers)
            // Bounded, so that a flood of messages doesn't delay heartbeats and the outbox.
            for _ in 0..<64 {
                guard let frames = try link.subscriber.receive() else { break }
                deliver(frames, subscriptions, address.trust, handlers)
            }
        }
    }

    /// Sends queued messages in order while the hub has room; returns whether it had room for all of them.
    private func sendQueued(through link: BusLink) throws -> Bool {
        let messages = queue.takeAll()
        for (index, frames) in messages.enumerated() {
            guard try link.publisher.send(frames) else {
                queue.putBack(messages[index...])
                return false
            }
            state.withLock { $0.counters.sent += 1 }
        }
        return true
    }

    private func pollItems(_ link: BusLink) -> [zmq_pollitem_t] {
        link.pollItems + [zmq_pollitem_t(socket: nil, fd: wakeup.readEnd, events: Int16(ZMQ_POLLIN), revents: 0)]
    }

    private func note(_ events: [HandshakeMonitor.Event], _ trouble: inout LinkTrouble, _ handlers: Handlers) {
        for event in events {
            let failure: LinkTrouble.Failure
            switch event {
            case .succeeded:
                trouble.succeeded()
                continue
            case .keyRefused: failure = .keyRefused
            case .notUnderstood: failure = .notUnderstood
            case .brokenOff: failure = .brokenOff
            }
            if let word = trouble.failed(failure, at: MonotonicClock.now) { handlers.refused(word) }
        }
    }

    private func deliver(
        _ frames: [[UInt8]], _ subscriptions: [Subscription], _ trust: BusTrust?, _ handlers: Handlers
    ) {
        do throws(MessageError) {
            let message = try Message(frames: frames)
            if handlers.answersHello, message.topic == Self.hello { state.withLock { $0.isGreeted = true } }
            // ZeroMQ subscribes by prefix: a subscription to page.steps would also receive page.steps2.
            guard subscriptions.contains(where: { $0.matches(message.topic) }) else { return }
            guard trust?(message) != false else {
                state.withLock { $0.counters.foreign += 1 }
                handlers.foreign(message)
                return
            }
            state.withLock { $0.counters.received += 1 }
            handlers.message(message)
        } catch {
            state.withLock { $0.counters.malformed += 1 }
            handlers.malformed(error)
        }
    }
}
