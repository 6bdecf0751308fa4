import CZeroMQ
import HealthModel
import Wire

/// The sockets of a process's place on the bus: to the hub a PUB, from it a SUB or, on a sealed bus, a DEALER that says each second what it wants
/// to hear.
final class BusLink {
    let publisher: ZeroMQSocket
    let subscriber: ZeroMQSocket
    private let monitors: [HandshakeMonitor]
    private let topics: [String]
    private let seal: BusSeal?
    private let credentials: BusCredentials?
    /// When it says next what it wants to hear.
    private var nextWord: Instant = 0

    init(_ context: ZeroMQContext, _ address: BusAddress, topics: [String]) throws {
        self.topics = topics
        seal = address.seal
        publisher = try ZeroMQSocket(context, type: ZMQ_PUB)
        if let seal {
            let credentials = try seal.credentials()
            self.credentials = credentials
            subscriber = try ZeroMQSocket(context, type: ZMQ_DEALER)
            for socket in [publisher, subscriber] {
                try socket.set(ZMQ_CURVE_SERVERKEY, credentials.hub)
                try socket.set(ZMQ_CURVE_PUBLICKEY, credentials.own.publicKey)
                try socket.set(ZMQ_CURVE_SECRETKEY, credentials.own.secret)
            }
            // Nothing waits for a hub that isn't there: what is wanted is said when it is.
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
        }
        try publisher.connect(address.publish)
        try subscriber.connect(address.subscribe)
        if seal == nil { for topic in topics { try subscriber.subscribe(topic) } }
    }

    var pollItems: [zmq_pollitem_t] { [subscriber.pollItem] + monitors.map(\.pollItem) }

    /// Says what it wants to hear, when that is due: each second, for the hub may be another one by now, and once a connection is there.
    /// - Returns: when it is due again.
    func subscribe(at now: Instant) throws -> Instant? {
        guard let seal else { return nil }
        guard now >= nextWord else { return nextWord }
        let word = Message(
            topic: Audience.subscribeTopic, header: .init(from: seal.identity, at: WallClock.now),
            body: ["topics": .array(topics.map { .string($0) })])
        _ = try subscriber.send(word.frames)
        nextWord = now + Instant.second
        return nextWord
    }

    /// How the handshakes since the last call ended, in order.
    func handshakes() throws -> [HandshakeMonitor.Event] {
        var events: [HandshakeMonitor.Event] = []
        for monitor in monitors {
            while let (event, _) = try monitor.next() {
                events.append(event)
                if event == .succeeded { nextWord = 0 }
            }
        }
        return events
    }

    /// Whether the keys have changed since it connected. Keys that can't be read just now haven't.
    func hasOldKeys() -> Bool {
        guard let seal, let new = try? seal.credentials() else { return false }
        return new != credentials
    }
}

/// What a process makes of handshakes that fail: when it connects anew, and what it says. libzmq itself gives up for good where a key was refused.
/// Pure.
package struct LinkTrouble {
    /// Between attempts, and between lines in the log.
    package static let retryAfter = Instant.second
    package static let sayEvery = 30 * Instant.second
    /// A hub that is just ending breaks handshakes off too.
    private static let patience = 4

    private var brokenOff = 0
    private var saidAt: Instant?
    /// When to connect anew; nil while there is no need.
    package private(set) var retryAt: Instant?

    package init() {}

    package enum Failure: Sendable { case keyRefused, notUnderstood, brokenOff, keysUnreadable }

    package mutating func succeeded() {
        brokenOff = 0
        saidAt = nil
    }

    /// - Returns: what to say, if it is time to say something.
    package mutating func failed(_ failure: Failure, at now: Instant) -> String? {
        if failure == .brokenOff {
            brokenOff += 1
            guard brokenOff >= Self.patience else { return nil }
        }
        retryAt = min(retryAt ?? .max, now + Self.retryAfter)
        if let saidAt, now - saidAt < Self.sayEvery { return nil }
        saidAt = now
        return switch failure {
        case .keyRefused:
            "the hub refuses this key; 'healthbus keys list' shows whether its list has it, 'healthbus keys add' enters it"
        case .notUnderstood:
            "what answers at the hub's address isn't a sealed hub; check 'bus' in the configuration, there and here"
        case .keysUnreadable: "this process's keys can't be read"
        case .brokenOff:
            "the hub breaks the handshake off; if it was given a new key, copy its public key to this process's keys"
        }
    }

    package mutating func retried() { retryAt = nil }
}
