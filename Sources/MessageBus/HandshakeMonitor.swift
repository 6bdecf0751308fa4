import CZeroMQ

/// How a socket's handshakes end, as reported by libzmq (zmq_socket_monitor(3)).
package final class HandshakeMonitor {
    package enum Event: Equatable {
        case succeeded
        /// The hub doesn't know the key (ZAP status 400).
        case keyRefused
        /// The data received isn't the expected handshake: there is a different mechanism, a different hub key, or just
        /// noise.
        case notUnderstood(mechanismDiffers: Bool)
        /// The connection ended during the handshake, with no reason given.
        case brokenOff
    }

    package let socket: ZeroMQSocket
    private let watched: ZeroMQSocket

    /// - Parameter name: unique among the monitors of this context.
    package init(_ watched: ZeroMQSocket, name: String) throws {
        self.watched = watched
        let events =
            ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
            | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
        // Unbounded: libzmq must never have to wait for us.
        socket = try ZeroMQSocket(watched.context, type: ZMQ_PAIR, highWaterMark: 0, linger: 0)
        guard zmq_socket_monitor(watched.handle, "inproc://\(name)", Int32(events)) == 0 else {
            throw BusError.last("watch the handshakes")
        }
        try socket.connect("inproc://\(name)")
    }

    /// Stops the events before the socket that receives them is closed; otherwise libzmq's thread would wait forever to
    /// deliver an event that nothing receives.
    deinit { zmq_socket_monitor(watched.handle, nil, 0) }

    /// The next event and its endpoint; nil when there is none now.
    package func next() throws -> (event: Event, endpoint: String)? {
        while let frames = try socket.receive() {
            guard let first = frames.first, first.count == 6 else { continue }
            // 16 bits of event, 32 bits of value, in the machine's byte order.
            let kind = Int32(first[0]) | Int32(first[1]) << 8
            let value = first[2...].enumerated().reduce(UInt32(0)) { $0 | UInt32($1.element) << (8 * $1.offset) }
            let event: Event
            switch kind {
            case ZMQ_EVENT_HANDSHAKE_SUCCEEDED: event = .succeeded
            case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: event = .keyRefused
            case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
                event = .notUnderstood(
                    mechanismDiffers: value == UInt32(ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH))
            case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: event = .brokenOff
            default: continue
            }
            return (event, frames.count > 1 ? String(decoding: frames[1], as: UTF8.self) : "")
        }
        return nil
    }
}
