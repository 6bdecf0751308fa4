import CZeroMQ
import Foundation
import Glibc
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

    private let wakeup: Wakeup
    private let stopping = Mutex(false)
    private let counts = Mutex(Counters())

    public init() throws { wakeup = try Wakeup() }

    public var counters: Counters { counts.withLock { $0 } }

    private static func removeSocket(_ endpoint: String) {
        let scheme = "ipc://"
        if endpoint.hasPrefix(scheme) { unlink(String(endpoint.dropFirst(scheme.count))) }
    }

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
        // libzmq 4.3.4 leaves the files of named Unix sockets behind.
        defer { for endpoint in [address.publish, address.subscribe] { Self.removeSocket(endpoint) } }
        ready()

        var items = [
            zmq_pollitem_t(socket: publishers.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0),
            zmq_pollitem_t(socket: subscribers.handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0),
            zmq_pollitem_t(socket: nil, fd: wakeup.readEnd, events: Int16(ZMQ_POLLIN), revents: 0),
        ]
        var nextBeat = MonotonicClock.now
        while !stopping.withLock({ $0 }) {
            let now = MonotonicClock.now
            if now >= nextBeat {
                if let beat = heartbeat() { _ = try subscribers.send(beat.frames) }
                nextBeat = now + Instant.second
            }
            let wait = max(0, nextBeat - MonotonicClock.now) / 1000 + 1
            if zmq_poll(&items, 3, Int(wait)) < 0, zmq_errno() != EINTR { throw BusError.last("poll") }
            wakeup.drain()
            var forwarded = 0
            // Subscriptions first: a new subscriber hears the next message, not the one after a burst.
            while try subscribers.forward(to: publishers) {
                // Whoever has just come learns at once that the hub is there.
                nextBeat = min(nextBeat, MonotonicClock.now + 10_000)
            }
            while forwarded < 256, try publishers.forward(to: subscribers) { forwarded += 1 }
            if forwarded > 0 { counts.withLock { $0.forwarded += forwarded } }
        }
    }
}
