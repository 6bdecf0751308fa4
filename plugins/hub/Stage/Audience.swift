import CZeroMQ
import HealthModel
import MessageBus
import Protocol

/// The subscribers of a sealed hub: their identities, their subscriptions, and what each may receive.
///
/// It uses a ROUTER, not the XPUB of an open hub: with an XPUB the hub could decide on each subscription only in manual
/// mode, in which libzmq 4.3.4 keeps peers that have already gone. Here the hub decides on each message.
final class Audience {
    private struct Peer {
        var identity: String
        var topics: [TopicGrant.Pattern]
        var heard: MonotonicTime
    }

    enum Word: Equatable {
        case none
        /// A subscriber's list was recorded; a new subscriber must learn at once that the hub is running.
        case subscribed(isNew: Bool)
        case denied(BusNotice)
    }

    private static let topicsLimit = 256
    private static let topicLength = 255
    private static let peersLimit = 64
    /// For all connections of one identity together: each message is compared with every topic.
    private static let topicsLimitOfAll = 1024
    /// A peer that hasn't sent its subscriptions for this long is gone, or will send them again later.
    private static let patience = Repetition.silence

    let socket: ZeroMQSocket
    private var peers: [[UInt8]: Peer] = [:]

    init(_ socket: ZeroMQSocket) throws {
        self.socket = socket
        // Makes the socket report peers that are gone or whose queue is full, instead of staying silent.
        try socket.set(ZMQ_ROUTER_MANDATORY, 1)
    }

    var count: Int { peers.count }

    /// Receives one message from a peer.
    func listen(_ guests: GuestList, at now: MonotonicTime) throws -> Word {
        guard let (frames, user) = try socket.receiveWithUser(), let peer = frames.first else { return .none }
        guard let user, let grant = guests.grants[user] else {
            return .denied(BusNotice(.denied, who: user ?? "nobody", why: "is no longer on the hub's list"))
        }
        func denied(_ why: String) -> Word { .denied(BusNotice(.denied, who: user, why: why)) }
        guard let message = try? Message(frames: Array(frames.dropFirst())), message.topic == BusConnection.subscribe,
            let topics = message.body.read(WantedTopics.self)?.topics, topics.count <= Self.topicsLimit,
            topics.allSatisfy({ $0.utf8.count <= Self.topicLength })
        else { return denied("sent something other than a subscription, on a socket meant only for those") }
        guard grant.mayBe(message.header.from) else { return denied("uses a name that isn't its own") }
        let isNew = peers[peer] == nil
        let others = peers.filter { $0.key != peer && $0.value.identity == user }.values
        guard others.count < Self.peersLimit else { return denied("already has \(Self.peersLimit) connections") }
        // Whatever it subscribes to, it never receives anything it has no right to: that is decided for each message.
        let wanted = Set(topics.map { TopicGrant.Pattern(.prefix($0)) }).filter(grant.mayHearAny)
        guard others.reduce(wanted.count, { $0 + $1.topics.count }) <= Self.topicsLimitOfAll else {
            return denied("subscribes to more than \(Self.topicsLimitOfAll) topics")
        }
        peers[peer] = Peer(identity: user, topics: Array(wanted), heard: now)
        return .subscribed(isNew: isNew)
    }

    /// Passes a message on to every peer that subscribes to it and may receive it; a peer whose queue is full misses
    /// it.
    func hear(_ message: HeldMessage, _ guests: GuestList) throws {
        let topic = message[0]
        for (name, peer) in peers where peer.topics.contains(where: { $0.matches(topic) }) {
            guard guests.grants[peer.identity]?.mayHear(topic) == true else { continue }
            if try message.send(to: name, through: socket) == .gone { peers[name] = nil }
        }
    }

    /// The same for the hub's own messages.
    func hear(_ frames: [[UInt8]], _ guests: GuestList) throws {
        let wanting = frames[0].withUnsafeBytes { topic in
            peers.filter { _, peer in
                peer.topics.contains { $0.matches(topic) } && guests.grants[peer.identity]?.mayHear(topic) == true
            }
        }
        for name in wanting.keys where try !socket.offer([name] + frames) { peers[name] = nil }
    }

    func forgetSilent(at now: MonotonicTime) {
        peers = peers.filter { now - $0.value.heard < Self.patience }
    }
}

extension ZeroMQSocket {
    /// Sends to the ROUTER's peer named by the first frame; returns false when it is gone. A peer whose queue is full
    /// misses the message.
    fileprivate func offer(_ frames: [[UInt8]]) throws -> Bool {
        for (index, frame) in frames.enumerated() {
            let more = index < frames.count - 1
            while zmq_send(handle, frame, frame.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) < 0 {
                switch zmq_errno() {
                case Errno.interrupted: continue
                case Errno.wouldBlock: return true
                case Errno.unreachable: return false
                default: throw BusError.last("send")
                }
            }
        }
        return true
    }
}
