import CZeroMQ
import Glibc
import Protocol

/// A ZeroMQ context: one per process.
///
/// `@unchecked Sendable`: "A ØMQ context is thread safe and may be shared among as many application threads as
/// necessary" (zmq_ctx_new(3)).
package final class ZeroMQContext: @unchecked Sendable {
    let handle: UnsafeMutableRawPointer

    package init() throws {
        guard let handle = zmq_ctx_new() else { throw BusError.last("make a context") }
        self.handle = handle
    }

    /// Waits until all its sockets are closed and their endpoints free.
    deinit { zmq_ctx_term(handle) }
}

/// One ZeroMQ socket. "ØMQ sockets are not thread safe" (zmq_socket(3)), so a socket stays on the thread that made it.
package final class ZeroMQSocket {
    package let handle: UnsafeMutableRawPointer
    let context: ZeroMQContext

    /// How many subscriptions may wait for one peer; they go in the opposite direction to messages. libzmq applies a
    /// high-water mark to them too, and sends them all at once to a peer that connects: if the mark for messages
    /// applied, a publisher that connected last would never learn of some subscriptions, and what it sent on those
    /// topics would be lost.
    package static let subscriptionsMark: Int32 = 10_000

    /// - Parameter highWaterMark: the maximum number of messages queued for one peer; any beyond that are dropped,
    ///   which the protocol allows for.
    package init(_ context: ZeroMQContext, type: Int32, highWaterMark: Int32 = 64, linger: Int32 = 200) throws {
        guard let handle = zmq_socket(context.handle, type) else { throw BusError.last("make a socket") }
        (self.handle, self.context) = (handle, context)
        do {
            try set(ZMQ_SNDHWM, highWaterMark)
            try set(ZMQ_RCVHWM, highWaterMark)
            try set(ZMQ_LINGER, linger)
            // A peer that announces a larger frame is disconnected before any of it is kept.
            var limit = Int64(Message.maximumFrame)
            guard zmq_setsockopt(handle, ZMQ_MAXMSGSIZE, &limit, MemoryLayout<Int64>.size) == 0 else {
                throw BusError.last("limit messages")
            }
            try set(ZMQ_RECONNECT_IVL, 20)
            try set(ZMQ_RECONNECT_IVL_MAX, 500)
            // A peer that connects and sends nothing is dropped; one that doesn't answer is tried again.
            try set(ZMQ_HANDSHAKE_IVL, 5000)
            try set(ZMQ_CONNECT_TIMEOUT, 5000)
        } catch {
            zmq_close(handle)
            throw error
        }
    }

    deinit { zmq_close(handle) }

    package var pollItem: zmq_pollitem_t {
        zmq_pollitem_t(socket: handle, fd: 0, events: Int16(ZMQ_POLLIN), revents: 0)
    }

    package func set(_ option: Int32, _ value: Int32) throws {
        var value = value
        guard zmq_setsockopt(handle, option, &value, MemoryLayout<Int32>.size) == 0 else {
            throw BusError.last("set option \(option)")
        }
    }

    package func set(_ option: Int32, _ text: String) throws {
        guard zmq_setsockopt(handle, option, text, text.utf8.count) == 0 else {
            throw BusError.last("set option \(option)")
        }
    }

    package func bind(_ endpoint: String) throws {
        if endpoint.contains("[") { try set(ZMQ_IPV6, 1) }
        if endpoint.hasPrefix("tcp://") {
            // A network that has been cut is simply silent. Here the kernel sends the probes, without waking any
            // process, and gives up after 15 s.
            for (option, value) in [
                (ZMQ_TCP_KEEPALIVE, 1), (ZMQ_TCP_KEEPALIVE_IDLE, 5), (ZMQ_TCP_KEEPALIVE_INTVL, 5),
                (ZMQ_TCP_KEEPALIVE_CNT, 2),
            ] as [(Int32, Int32)] { try set(option, value) }
        }
        guard zmq_bind(handle, endpoint) == 0 else { throw BusError.last("listen at", endpoint) }
    }

    package func connect(_ endpoint: String) throws {
        if endpoint.contains("[") { try set(ZMQ_IPV6, 1) }
        if endpoint.hasPrefix("tcp://") {
            // Here the hub itself is probed, so that a hanging hub is noticed too, likewise within 15 s.
            try set(ZMQ_HEARTBEAT_IVL, 5000)
            try set(ZMQ_HEARTBEAT_TIMEOUT, 10_000)
        }
        guard zmq_connect(handle, endpoint) == 0 else { throw BusError.last("connect to", endpoint) }
    }

    package func subscribe(_ prefix: String) throws {
        guard zmq_setsockopt(handle, ZMQ_SUBSCRIBE, prefix, prefix.utf8.count) == 0 else {
            throw BusError.last("subscribe", prefix)
        }
    }

    /// Repeats a call that a signal interrupts; returns false if the call would have to wait.
    private func attempt(_ operation: String, _ call: () -> Int32) throws -> Bool {
        while call() < 0 {
            switch zmq_errno() {
            case Errno.interrupted: continue
            case Errno.wouldBlock: return false
            default: throw BusError.last(operation)
            }
        }
        return true
    }

    /// Sends one message of several frames without waiting; returns false when there was no room for it, in which case
    /// nothing was sent.
    package func send(_ frames: [[UInt8]]) throws -> Bool {
        for (index, frame) in frames.enumerated() {
            let flags = ZMQ_DONTWAIT | (index < frames.count - 1 ? ZMQ_SNDMORE : 0)
            guard try attempt("send", { zmq_send(handle, frame, frame.count, flags) }) else { return false }
        }
        return true
    }

    /// The next message's frames; nil when there is none now.
    package func receive() throws -> [[UInt8]]? { try receiveWithUser()?.frames }

    /// The next message's frames, and the owner of the key that its connection presented (nil on a bus without keys).
    package func receiveWithUser() throws -> (frames: [[UInt8]], user: String?)? {
        var frames: [[UInt8]] = []
        var user: String?
        var message = zmq_msg_t()
        guard zmq_msg_init(&message) == 0 else { throw BusError.last("receive") }
        defer { zmq_msg_close(&message) }
        while true {
            guard try attempt("receive", { zmq_msg_recv(&message, handle, ZMQ_DONTWAIT) }) else { return nil }
            if let name = zmq_msg_gets(&message, "User-Id") { user = String(cString: name) }
            frames.append([UInt8](UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message))))
            if zmq_msg_more(&message) == 0 { return (frames, user) }
        }
    }

    /// Passes one waiting message on to `other`, frame by frame, without copying; returns false when none is waiting.
    package func forward(to other: ZeroMQSocket) throws -> Bool {
        var message = zmq_msg_t()
        guard zmq_msg_init(&message) == 0 else { throw BusError.last("forward") }
        defer { zmq_msg_close(&message) }
        var dropping = false
        while true {
            guard try attempt("forward", { zmq_msg_recv(&message, handle, ZMQ_DONTWAIT) }) else { return false }
            let flags = ZMQ_DONTWAIT | (zmq_msg_more(&message) != 0 ? ZMQ_SNDMORE : 0)
            if !dropping { dropping = try !attempt("forward") { zmq_msg_send(&message, other.handle, flags) } }
            if flags & ZMQ_SNDMORE == 0 { return true }
        }
    }
}

/// Error numbers from zmq_errno: those of the C library.
package enum Errno {
    package static let interrupted = EINTR
    package static let wouldBlock = EAGAIN
    package static let unreachable = EHOSTUNREACH
}
