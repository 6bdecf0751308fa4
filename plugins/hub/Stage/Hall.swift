import CZeroMQ
import HealthModel
import MessageBus

/// A hub's sockets, between publishers and subscribers.
protocol Hall: AnyObject {
    func open(_ address: BusAddress) throws
    var pollItems: [zmq_pollitem_t] { get }
    /// Processes what subscribers have sent, and new connections; returns true when there is a new subscription.
    func listen() throws -> Bool
    /// Passes one message on; false when it was dropped, nil when none is waiting.
    func forward() throws -> Bool?
    /// Sends one of the hub's own messages to all who subscribe to it.
    func say(_ frames: [[UInt8]]) throws
    /// How often `lookUp` is called; nil if there is nothing to look up.
    var lookInterval: Duration? { get }
    /// Checks whether the keys are still valid; returns false when every peer must reconnect.
    func lookUp(at now: MonotonicTime) throws -> Bool
}

/// Without keys: only the account's own processes can open the Unix sockets. An XSUB/XPUB forwarder.
final class OpenHall: Hall {
    private let publishers: ZeroMQSocket
    private let subscribers: ZeroMQSocket
    private let door: Doorkeeper

    init() throws {
        let context = try ZeroMQContext()
        door = try Doorkeeper(context)
        publishers = try ZeroMQSocket(context, type: ZMQ_XSUB)
        subscribers = try ZeroMQSocket(context, type: ZMQ_XPUB)
        for socket in [publishers, subscribers] { try socket.set(ZMQ_ZAP_DOMAIN, Doorkeeper.domain) }
        try publishers.set(ZMQ_SNDHWM, ZeroMQSocket.subscriptionsMark)
        try subscribers.set(ZMQ_RCVHWM, ZeroMQSocket.subscriptionsMark)
    }

    func open(_ address: BusAddress) throws {
        try publishers.bind(address.publish)
        try subscribers.bind(address.subscribe)
    }

    var pollItems: [zmq_pollitem_t] { [publishers, subscribers, door.socket].map(\.pollItem) }

    func listen() throws -> Bool {
        while try door.answer(nil) != nil {}
        var isNew = false
        while let frames = try subscribers.receive() {
            _ = try publishers.send(frames)
            // An XPUB puts a 1 before the topic of a new subscription, and a 0 before that of one that ends
            // (zmq_socket(3)).
            if frames.first?.first == 1 { isNew = true }
        }
        return isNew
    }

    func forward() throws -> Bool? { try publishers.forward(to: subscribers) ? true : nil }

    func say(_ frames: [[UInt8]]) throws { _ = try subscribers.send(frames) }

    let lookInterval: Duration? = nil
    func lookUp(at now: MonotonicTime) throws -> Bool { true }
}
