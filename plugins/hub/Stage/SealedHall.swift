import CZeroMQ
import Clocks
import HealthModel
import MessageBus
import Protocol

/// Admits peers whose key is on its list (CURVE), and passes each message that a peer may send to the peers that may
/// receive it.
final class SealedHall: Hall {
    private let seal: HubSeal
    private let keys: BusKeyPair
    private var guests: GuestList
    /// Keys that peers have connected with.
    private var admitted: Set<String> = []
    private let publishers: ZeroMQSocket
    private let audience: Audience
    private let door: Doorkeeper
    private let monitors: [HandshakeMonitor]
    private let message = HeldMessage()
    private let notice: (BusNotice) -> Void
    private let count: (BusNotice.Kind) -> Void
    /// The maximum length of a topic and of a header, in bytes. The hub reads both in each message: no peer should be
    /// able to keep it busy.
    private static let topicLimit = 255
    private static let headerLimit = 16 << 10

    /// - Parameters:
    ///   - notice: called when a peer isn't let in or does something that isn't allowed.
    ///   - count: called each time that happens.
    init(_ seal: HubSeal, notice: @escaping (BusNotice) -> Void, count: @escaping (BusNotice.Kind) -> Void) throws {
        guard zmq_has("curve") == 1 else { throw BusKeyError.unsupported }
        (self.seal, self.notice, self.count) = (seal, notice, count)
        keys = try seal.keys()
        guests = try seal.guests()
        let context = try ZeroMQContext()
        door = try Doorkeeper(context)
        publishers = try ZeroMQSocket(context, type: ZMQ_XSUB, linger: 0)
        let hearers = try ZeroMQSocket(context, type: ZMQ_ROUTER, linger: 0)
        for socket in [publishers, hearers] {
            try socket.set(ZMQ_ZAP_DOMAIN, Doorkeeper.domain)
            try socket.set(ZMQ_CURVE_SERVER, 1)
            try socket.set(ZMQ_CURVE_SECRETKEY, keys.secret)
        }
        audience = try Audience(hearers)
        monitors = [
            try HandshakeMonitor(publishers, name: "publishers"), try HandshakeMonitor(hearers, name: "hearers"),
        ]
    }

    func open(_ address: BusAddress) throws {
        try publishers.bind(address.publish)
        try audience.socket.bind(address.subscribe)
        // Everything arrives here; which peer receives what is decided here.
        _ = try publishers.send([[1]])
    }

    var pollItems: [zmq_pollitem_t] {
        [publishers, audience.socket, door.socket].map(\.pollItem) + monitors.map(\.socket.pollItem)
    }

    func listen() throws -> Bool {
        try letIn()
        var isNew = false
        let now = MonotonicClock.now
        // The number is limited, because a peer that keeps sending subscriptions mustn't delay the others.
        for _ in 0..<64 {
            switch try audience.listen(guests, at: now) {
            case .none: return isNew
            case .subscribed(let new): isNew = isNew || new
            case .denied(let why): report(why)
            }
        }
        return isNew
    }

    private func letIn() throws {
        while let verdict = try door.answer(guests) {
            switch verdict {
            case .admitted(_, let key): admitted.insert(key)
            case .unknownKey(let address):
                report(BusNotice(.refused, who: address, why: "its key isn't on the hub's list"))
            case .malformed: report(BusNotice(.refused, who: "unknown", why: "libzmq asked in an unknown form"))
            }
        }
        for monitor in monitors {
            while let (event, endpoint) = try monitor.next() {
                switch event {
                // A peer refused because of its key has already been reported.
                case .succeeded, .keyRefused: break
                case .notUnderstood(let differs):
                    let why =
                        differs
                        ? "it doesn't use CURVE: the bus is sealed"
                        : "it sent something other than a handshake for this hub's key"
                    report(BusNotice(.refused, who: endpoint, why: why))
                case .brokenOff:
                    report(BusNotice(.refused, who: endpoint, why: "the connection ended during the handshake"))
                }
            }
        }
    }

    private func report(_ new: BusNotice) {
        count(new.kind)
        notice(new)
    }

    func forward() throws -> Bool? {
        switch try message.receive(from: publishers) {
        case .none: return nil
        case .malformed: return deny("sent something that isn't a message")
        case .whole: break
        }
        guard let user = message.user, let grant = guests.grants[user] else {
            return deny("is no longer on the hub's list")
        }
        guard message[0].count <= Self.topicLimit, message[1].count <= Self.headerLimit else {
            return deny("sent a topic or header that is too long")
        }
        guard grant.mayPublish(message[0]) else {
            // A topic may contain anything; its first part is enough here.
            let family = String(decoding: message[0].prefix { $0 != UInt8(ascii: ".") }.prefix(32), as: UTF8.self)
            return deny("may not publish this topic: \(family).…")
        }
        guard let from = Message.sender(header: message[1]) else {
            return deny("sent a header that can't be read")
        }
        guard grant.mayBe(from) else { return deny("uses a name that isn't its own") }
        try audience.hear(message, guests)
        return true
    }

    private func deny(_ why: String) -> Bool {
        report(BusNotice(.denied, who: message.user ?? "nobody", why: why))
        return false
    }

    func say(_ frames: [[UInt8]]) throws { try audience.hear(frames, guests) }

    let lookInterval: Duration? = .seconds(1)

    func lookUp(at now: MonotonicTime) throws -> Bool {
        audience.forgetSilent(at: now)
        let new: (keys: BusKeyPair, guests: GuestList)
        do { new = (try seal.keys(), try seal.guests()) } catch {
            notice(BusNotice(.unreadable, who: "the hub's keys", why: "\(error)"))
            return true
        }
        guests = new.guests
        if new.keys != keys {
            notice(BusNotice(.reopened, who: "the hub", why: "it has a new key"))
            return false
        }
        if let gone = admitted.first(where: { guests.identities[$0] == nil }) {
            notice(BusNotice(.reopened, who: "all", why: "the key \(gone.prefix(8))… is no longer valid"))
            return false
        }
        return true
    }
}
