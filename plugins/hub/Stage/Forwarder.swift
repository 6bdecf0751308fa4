import CZeroMQ
import Clocks
import Foundation
import HealthModel
import MessageBus
import Protocol
import Synchronization

/// The core of the hub: passes every message on to its subscribers. It keeps no state; slow peers lose messages at the
/// high-water mark and ask again.
///
/// The loop is our own: zmq_proxy_steerable in libzmq 4.3.4 loses commands and can't report its state.
package final class Forwarder: Sendable {
    package struct Counters: Sendable {
        package var forwarded = 0
        /// The number of handshakes on a sealed bus that led to no connection.
        package var refused = 0
        /// The number of messages and subscriptions that the sender's key doesn't permit.
        package var denied = 0

        package init() {}
    }

    private let wakeup: Wakeup
    private let stopping = Mutex(false)
    private let counts = Mutex(Counters())
    private let notices = Mutex(NoticeLimit())
    private let notice: @Sendable (BusNotice) -> Void

    /// - Parameter notice: called, at a limited rate, when a peer isn't let in or does something that isn't allowed.
    package init(notice: @escaping @Sendable (BusNotice) -> Void = { _ in }) throws {
        self.notice = notice
        wakeup = try Wakeup()
    }

    package var counters: Counters { counts.withLock { $0 } }

    /// Ends `run`; any thread may call it.
    package func stop() {
        stopping.withLock { $0 = true }
        wakeup.signal()
    }

    var isStopping: Bool { stopping.withLock { $0 } }

    /// Binds both endpoints and forwards until `stop`. The caller's thread owns the sockets in the meantime.
    /// - Parameters:
    ///   - seal: the keys and the list of those who may connect; nil for a bus without keys.
    ///   - ready: called once both endpoints are listening.
    ///   - heartbeat: called when a heartbeat is due; what it returns goes to all subscribers.
    package func run(address: BusAddress, seal: HubSeal? = nil, ready: () -> Void, heartbeat: () -> Message?) throws {
        var isFirst = true
        // libzmq leaves the files of its Unix sockets behind.
        defer { address.removeSocketFiles() }
        while !isStopping {
            // Reopened, with a new context, when a key is no longer valid: that ends all connections, and only peers
            // that are still allowed come back.
            let hall: any Hall =
                if let seal {
                    try SealedHall(seal, notice: { [self] in note($0) }, count: { [self] in tally($0) })
                } else { try OpenHall() }
            try hall.open(address)
            if isFirst { ready() }
            isFirst = false
            try serve(hall, heartbeat: heartbeat)
        }
    }

    private func serve(_ hall: any Hall, heartbeat: () -> Message?) throws {
        var items =
            hall.pollItems + [zmq_pollitem_t(socket: nil, fd: wakeup.readEnd, events: Int16(ZMQ_POLLIN), revents: 0)]
        var beats = BeatClock(at: MonotonicClock.now)
        var nextLook = MonotonicTime.distantFuture
        if let interval = hall.lookInterval { nextLook = Repetition.next(interval, after: MonotonicClock.now) }
        while !isStopping {
            let now = MonotonicClock.now
            if beats.isDue(at: now), let beat = heartbeat() {
                try hall.say(beat.frames)
                // A new process, or one that was connected to an earlier hub, learns the state of all processes at
                // once.
                if beats.takeNewcomer() {
                    let hello = Message(
                        topic: BusConnection.hello, header: .init(from: beat.header.from, at: WallClock.now),
                        body: .null)
                    try hall.say(hello.frames)
                }
            }
            if now >= nextLook, let interval = hall.lookInterval {
                guard try hall.lookUp(at: now) else { return }
                nextLook = Repetition.next(interval, after: now)
            }
            let wait = max(.zero, min(beats.next, nextLook) - MonotonicClock.now).microseconds / 1000 + 1
            if zmq_poll(&items, Int32(items.count), Int(wait)) < 0, zmq_errno() != EINTR { throw BusError.last("poll") }
            wakeup.drain()
            // Subscriptions are handled first, so that a new subscriber receives the next message, not the one after a
            // burst. A newcomer learns at once, not seconds later, that the hub is running: a starting stack waits for
            // that.
            if try hall.listen() { beats.greet(at: MonotonicClock.now) }
            var forwarded = 0
            for _ in 0..<256 {
                guard let passed = try hall.forward() else { break }
                if passed { forwarded += 1 }
            }
            if forwarded > 0 { counts.withLock { $0.forwarded += forwarded } }
        }
    }

    private func note(_ new: BusNotice) {
        guard let passed = notices.withLock({ $0.pass(new, at: MonotonicClock.now) }) else { return }
        notice(passed)
    }

    private func tally(_ kind: BusNotice.Kind) {
        counts.withLock { counts in
            switch kind {
            case .refused: counts.refused += 1
            case .denied: counts.denied += 1
            case .unreadable, .reopened: break
            }
        }
    }
}

/// When the hub reports that it is running: regularly, and soon after a peer has connected.
private struct BeatClock {
    /// The shortest time between heartbeats caused by new subscriptions.
    private static let impatience = Duration.milliseconds(30)
    private(set) var next: MonotonicTime
    private var last = MonotonicTime.distantPast
    private var repetition: Repetition
    private var hasNewcomer = false

    init(at now: MonotonicTime) {
        next = now
        repetition = Repetition(at: now)
    }

    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard now >= next else { return false }
        last = now
        next = repetition.next(after: now, at: now)
        return true
    }

    mutating func greet(at now: MonotonicTime) {
        hasNewcomer = true
        repetition.moved(at: now)
        next = min(next, last + Self.impatience)
    }

    /// Whether a peer has connected since the last call.
    mutating func takeNewcomer() -> Bool {
        defer { hasNewcomer = false }
        return hasNewcomer
    }
}
