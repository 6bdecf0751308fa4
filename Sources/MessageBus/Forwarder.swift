import CZeroMQ
import Foundation
import HealthModel
import Synchronization
import Wire

/// The hub's heart: an XSUB/XPUB forwarder. It keeps no state; whoever is slow is dropped at the high-water mark and asks again.
///
/// The loop is our own: zmq_proxy_steerable of libzmq 4.3.4 loses commands and can't say how it is.
public final class Forwarder: Sendable {
    public struct Counters: Sendable {
        public var forwarded = 0
    }

    /// Between heartbeats that new subscriptions bring about, microseconds.
    private static let impatience: Instant = 30_000
    private let wakeup: Wakeup
    private let stopping = Mutex(false)
    private let counts = Mutex(Counters())

    public init() throws { wakeup = try Wakeup() }

    public var counters: Counters { counts.withLock { $0 } }

    /// Ends `run`; any thread may call it.
    public func stop() {
        stopping.withLock { $0 = true }
        wakeup.signal()
    }

    /// Binds both endpoints and forwards until `stop`. The caller's thread owns the sockets meanwhile.
    /// - Parameters:
    ///   - ready: called once both endpoints listen.
    ///   - heartbeat: called every second; what it returns goes to all subscribers.
    public func run(address: BusAddress, ready: () -> Void, heartbeat: () -> Message?) throws {
        let context = try ZeroMQContext()
        let publishers = try ZeroMQSocket(context, type: ZMQ_XSUB)
        let subscribers = try ZeroMQSocket(context, type: ZMQ_XPUB)
        try publishers.bind(address.publish)
        try subscribers.bind(address.subscribe)
        // libzmq leaves the files of its Unix sockets behind.
        defer { for file in [address.publish, address.subscribe].compactMap(Self.socketFile) { unlink(file) } }
        ready()

        var items = [
            zmq_pollitem_t(socket: publishers.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0),
            zmq_pollitem_t(socket: subscribers.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0),
            zmq_pollitem_t(socket: nil, fd: wakeup.readEnd, events: Int16(ZMQ_POLLIN), revents: 0),
        ]
        var nextBeat = MonotonicClock.now
        var lastBeat: Instant = 0
        while !stopping.withLock({ $0 }) {
            let now = MonotonicClock.now
            if now >= nextBeat {
                if let beat = heartbeat() { _ = try subscribers.send(beat.frames) }
                lastBeat = now
                nextBeat = now + Instant.second
            }
            let wait = max(0, nextBeat - MonotonicClock.now) / 1000 + 1
            if zmq_poll(&items, 3, Int(wait)) < 0, zmq_errno() != EINTR { throw BusError.last("poll") }
            wakeup.drain()
            var forwarded = 0
            // Subscriptions first: a new subscriber hears the next message, not the one after a burst.
            // Who is new learns at once that the hub is there, not up to a second later: a stack's start waits for that.
            while try subscribers.forward(to: publishers) { nextBeat = min(nextBeat, lastBeat + Self.impatience) }
            while forwarded < 256, try publishers.forward(to: subscribers) { forwarded += 1 }
            if forwarded > 0 { counts.withLock { $0.forwarded += forwarded } }
        }
    }

    /// The file of a Unix socket; nil for an endpoint of another kind.
    private static func socketFile(_ endpoint: String) -> String? {
        let scheme = "ipc://"
        return endpoint.hasPrefix(scheme) ? String(endpoint.dropFirst(scheme.count)) : nil
    }
}
