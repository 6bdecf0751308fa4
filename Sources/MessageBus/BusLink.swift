import CZeroMQ
import Clocks
import HealthModel
import Protocol

/// A process's sockets on the bus: a PUB that sends to the hub, and a SUB that receives from it. On a sealed bus, the
/// second is a DEALER that repeatedly says to the hub what the process wants to hear.
final class BusLink {
    let publisher: ZeroMQSocket
    let subscriber: ZeroMQSocket
    private let monitors: [HandshakeMonitor]
    private let topics: [String]
    private let seal: BusSeal?
    private let credentials: BusCredentials?
    /// When the process last said to the hub what it wants to hear; nil if that is due now.
    private var lastWord: MonotonicTime?
    private var repetition = Repetition(at: MonotonicClock.now)

    /// - Parameter reconnectInterval: in milliseconds, for a sealed bus; nil for libzmq's own pace.
    init(_ context: ZeroMQContext, _ address: BusAddress, topics: [String], reconnectInterval: Int32? = nil) throws {
        self.topics = topics
        seal = address.seal
        publisher = try ZeroMQSocket(context, type: ZMQ_PUB)
        try publisher.set(ZMQ_RCVHWM, ZeroMQSocket.subscriptionsMark)
        // A message that the hub has no room for stays in this process's own queue, and isn't dropped.
        try publisher.set(ZMQ_XPUB_NODROP, 1)
        if let seal {
            let credentials = try seal.credentials()
            self.credentials = credentials
            subscriber = try ZeroMQSocket(context, type: ZMQ_DEALER)
            for socket in [publisher, subscriber] {
                try socket.set(ZMQ_CURVE_SERVERKEY, credentials.hub)
                try socket.set(ZMQ_CURVE_PUBLICKEY, credentials.own.publicKey)
                try socket.set(ZMQ_CURVE_SECRETKEY, credentials.own.secret)
                if let reconnectInterval {
                    try socket.set(ZMQ_RECONNECT_IVL, reconnectInterval)
                    try socket.set(ZMQ_RECONNECT_IVL_MAX, max(500, reconnectInterval))
                }
            }
            // Nothing is queued for an absent hub: subscriptions are sent once it is there.
            try subscriber.set(ZMQ_IMMEDIATE, 1)
            let place = UInt64.random(in: .min ... .max)
            monitors = [
                try HandshakeMonitor(publisher, name: "publisher-\(place)"),
                try HandshakeMonitor(subscriber, name: "subscriber-\(place)"),
            ]
        } else {
            credentials = nil
            monitors = []
            subscriber = try ZeroMQSocket(context, type: ZMQ_SUB)
            try subscriber.set(ZMQ_SNDHWM, ZeroMQSocket.subscriptionsMark)
        }
        try publisher.connect(address.publish)
        try subscriber.connect(address.subscribe)
        if seal == nil { for topic in topics { try subscriber.subscribe(topic) } }
    }

    var pollItems: [zmq_pollitem_t] { [subscriber.pollItem] + monitors.map(\.socket.pollItem) }

    /// Says to the hub what this process wants to hear, if that is due: once there is a connection, and then from time
    /// to time, since the message may be lost.
    /// - Returns: when that is next due.
    func subscribe(at now: MonotonicTime) throws -> MonotonicTime? {
        guard let seal else { return nil }
        if let lastWord, now < repetition.next(after: lastWord, at: now) {
            return repetition.next(after: lastWord, at: now)
        }
        let word = Message(
            topic: BusConnection.subscribe, header: .init(from: seal.identity, at: WallClock.now),
            body: Value(WantedTopics(topics: Array(topics))))
        _ = try subscriber.send(word.frames)
        lastWord = now
        return repetition.next(after: now, at: now)
    }

    /// How the handshakes since the last call ended, in order.
    func handshakes() throws -> [HandshakeMonitor.Event] {
        var events: [HandshakeMonitor.Event] = []
        for monitor in monitors {
            while let (event, _) = try monitor.next() {
                events.append(event)
                guard event == .succeeded else { continue }
                lastWord = nil
                repetition.moved(at: MonotonicClock.now)
            }
        }
        return events
    }

    /// Whether the keys have changed since the process connected. Keys that can't be read just now count as unchanged.
    func hasOldKeys() -> Bool {
        guard let seal, let new = try? seal.credentials() else { return false }
        return new != credentials
    }
}

/// How a process reacts to failed handshakes: when it reconnects, and what it reports. libzmq itself gives up for good
/// if a key is refused. Pure.
package struct LinkTrouble {
    /// The times between attempts, between log lines, and before a problem is logged at all: while keys change, a
    /// handshake or two may fail.
    package static let retryAfter = Duration.seconds(1)
    package static let sayEvery = Duration.seconds(30)
    package static let patience = Duration.seconds(2)

    private var since: MonotonicTime?
    private var saidAt: MonotonicTime?
    private var isGivenUp = false
    /// When to reconnect; nil while there is no need.
    package private(set) var retryAt: MonotonicTime?

    package init() {}

    package enum Failure: Sendable { case keyRefused, notUnderstood, brokenOff, keysUnreadable }

    /// How many milliseconds pass until libzmq itself tries again: few if the hub is absent, more if it refuses.
    package var reconnectInterval: Int32 { since == nil ? 50 : 1000 }

    /// Notes that one of the two sockets is connected. If the other socket was refused just before its key was added to
    /// the list, libzmq has given up on it, so the process still has to reconnect.
    package mutating func succeeded() {
        since = nil
        saidAt = nil
        if !isGivenUp { retryAt = nil }
    }

    /// - Returns: what to report, if a report is due.
    package mutating func failed(_ failure: Failure, at now: MonotonicTime) -> String? {
        retryAt = retryAt ?? now + Self.retryAfter
        if failure != .brokenOff { isGivenUp = true }
        let since = since ?? now
        self.since = since
        guard now - since >= Self.patience, saidAt.map({ now - $0 >= Self.sayEvery }) ?? true else { return nil }
        saidAt = now
        return switch failure {
        case .keyRefused:
            "the hub refuses this key; 'healthbus keys list' shows whether it is listed, 'healthbus keys init' adds the missing ones"
        case .notUnderstood:
            "whatever answers at the hub's address isn't a sealed hub; check 'bus' in the configuration on both sides"
        case .keysUnreadable: "this process's keys can't be read"
        case .brokenOff:
            "the hub breaks off the handshake; if it was given a new key, copy its public key to this process's keys"
        }
    }

    package mutating func retried() {
        retryAt = nil
        isGivenUp = false
    }
}
