import CZeroMQ
import MessageBus

/// One message as held by libzmq: passing it to several peers copies no frame.
final class HeldMessage {
    private static let capacity = 3
    private let frames = UnsafeMutablePointer<zmq_msg_t>.allocate(capacity: capacity)
    private(set) var count = 0
    /// The owner of the key that the sender's connection used.
    private(set) var user: String?

    deinit {
        clear()
        frames.deallocate()
    }

    private func clear() {
        for index in 0..<count { zmq_msg_close(frames + index) }
        count = 0
        user = nil
    }

    /// The bytes of a frame, until the next `receive`.
    subscript(index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: zmq_msg_data(frames + index), count: zmq_msg_size(frames + index))
    }

    enum Outcome { case none, whole, malformed }

    /// Receives the next message from a socket. A message that doesn't have three frames is read and discarded.
    func receive(from socket: ZeroMQSocket) throws -> Outcome {
        clear()
        var surplus = zmq_msg_t()
        zmq_msg_init(&surplus)
        defer { zmq_msg_close(&surplus) }
        var seen = 0
        while true {
            let isSurplus = seen >= Self.capacity
            if !isSurplus { zmq_msg_init(frames + count) }
            let received =
                isSurplus
                ? zmq_msg_recv(&surplus, socket.handle, ZMQ_DONTWAIT)
                : zmq_msg_recv(frames + count, socket.handle, ZMQ_DONTWAIT)
            guard received >= 0 else {
                let error = zmq_errno()
                if !isSurplus { zmq_msg_close(frames + count) }
                switch error {
                case Errno.interrupted: continue
                case Errno.wouldBlock: return .none
                default: throw BusError(operation: "forward", endpoint: "", code: error)
                }
            }
            seen += 1
            let more: Bool
            if isSurplus {
                more = zmq_msg_more(&surplus) != 0
            } else {
                count += 1
                more = zmq_msg_more(frames + count - 1) != 0
            }
            guard !more else { continue }
            if count > 0, let name = zmq_msg_gets(frames, "User-Id") { user = String(cString: name) }
            return seen == Self.capacity ? .whole : .malformed
        }
    }

    enum Delivery { case sent, full, gone }

    /// Passes the message to one peer of a ROUTER.
    func send(to peer: [UInt8], through socket: ZeroMQSocket) throws -> Delivery {
        while zmq_send(socket.handle, peer, peer.count, ZMQ_DONTWAIT | ZMQ_SNDMORE) < 0 {
            switch zmq_errno() {
            case Errno.interrupted: continue
            case Errno.wouldBlock: return .full
            case Errno.unreachable: return .gone
            default: throw BusError.last("send")
            }
        }
        for index in 0..<count {
            var copy = zmq_msg_t()
            zmq_msg_init(&copy)
            zmq_msg_copy(&copy, frames + index)
            let flags = ZMQ_DONTWAIT | (index < count - 1 ? ZMQ_SNDMORE : 0)
            while zmq_msg_send(&copy, socket.handle, flags) < 0 {
                let error = zmq_errno()
                if error == Errno.interrupted { continue }
                zmq_msg_close(&copy)
                throw BusError(operation: "send", endpoint: "", code: error)
            }
        }
        return .sent
    }
}
