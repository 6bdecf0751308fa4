import Clocks
import Foundation
import Glibc
import HealthModel
import HubStage
import MessageBus
import Protocol
import Synchronization
import TestSupport
import Testing

/// `TestSupport.eventually`, for all files of this target.
func eventually(_ condition: () throws -> Bool) rethrows -> Bool { try TestSupport.eventually(condition) }

/// A forwarder on its own thread, as the hub runs it.
final class RunningForwarder: Sendable {
    let forwarder: Forwarder
    private let failure = Mutex<String?>(nil)
    private let listening = Mutex(false)
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ address: BusAddress, seal: HubSeal? = nil, notice: @escaping @Sendable (BusNotice) -> Void = { _ in },
        heartbeat: @escaping @Sendable () -> Message? = { nil }
    ) throws {
        forwarder = try Forwarder(notice: notice)
        let thread = Thread { [self] in
            do {
                try forwarder.run(
                    address: address, seal: seal, ready: { listening.withLock { $0 = true } }, heartbeat: heartbeat)
            } catch { failure.withLock { $0 = "\(error)" } }
            ended.signal()
        }
        thread.start()
        try #require(eventually { listening.withLock(\.self) || failure.withLock { $0 != nil } })
    }

    var failed: String? { failure.withLock(\.self) }

    /// Stops the forwarder; returns false if it doesn't end.
    func stop() -> Bool {
        forwarder.stop()
        return ended.wait(timeout: Patience.timeout) == .success
    }
}

/// A connection that keeps the messages it receives.
final class Listener: Sendable {
    private let heard = Mutex<[Message]>([])
    private let errors = Mutex<[MessageError]>([])
    private let connection = Mutex<BusConnection?>(nil)

    init(_ address: BusAddress, _ subscriptions: [Subscription]) throws {
        let new = try BusConnection(
            address: address, subscriptions: subscriptions + [.exact(Self.ping)],
            handlers: .init(
                message: { [self] message in heard.withLock { $0.append(message) } },
                malformed: { [self] error in errors.withLock { $0.append(error) } }))
        connection.withLock { $0 = new }
    }

    static let ping = "test.ping"

    var bus: BusConnection? { connection.withLock(\.self) }
    var messages: [Message] { heard.withLock { $0.filter { $0.topic != Self.ping } } }
    var topics: [String] { messages.map(\.topic) }
    var malformed: [MessageError] { errors.withLock(\.self) }
    func close() { bus?.close() }

    /// Waits for both connections, and returns whether messages from `sender` arrive; pings don't appear in `messages`.
    func hears(_ sender: BusConnection?, from name: String = "sender") -> Bool {
        let mark = Int64.random(in: 1 ... .max)
        var next = MonotonicTime.distantPast
        return eventually {
            if MonotonicClock.now >= next {
                sender?.send(message(Self.ping, .integer(mark)))
                next = MonotonicClock.now + .milliseconds(20)
            }
            return heard.withLock { $0.contains { $0.topic == Self.ping && $0.body == .integer(mark) } }
        }
    }
}

func message(_ topic: String, _ body: Value = .null) -> Message {
    Message(topic: topic, header: .init(from: "sender", at: WallClock.now), body: body)
}

/// A connection that only sends.
func sender(_ address: BusAddress) throws -> BusConnection {
    try BusConnection(address: address, subscriptions: [], handlers: .init(message: { _ in }))
}

/// Sends some bytes to whatever is listening on a Unix socket.
/// - Parameter waits: whether to wait until the other side hangs up.
/// - Returns: whether the other side hung up.
@discardableResult
func shout(_ bytes: [UInt8], at path: String, waits: Bool = false) throws -> Bool {
    let socket = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    try #require(socket >= 0)
    defer { close(socket) }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &name) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
    try #require(connected == 0)
    // The hub may hang up before it has read everything.
    _ = send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var buffer = [UInt8](repeating: 0, count: 4096)
    var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, waits ? Patience.milliseconds : 0) > 0 {
        if recv(socket, &buffer, buffer.count, 0) <= 0 { return true }
    }
    return false
}
