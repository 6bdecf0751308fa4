import Foundation
import Glibc
import Synchronization

/// Many connections whose requests never finish: each sends the beginning of a request, and then a byte now and again.
///
/// `@unchecked Sendable`: once the thread runs, only it uses the sockets.
final class SlowCrowd: @unchecked Sendable {
    private let port: Int
    private let beginnings: [String]
    private let tail: String
    private let isOver = Atomic(false)
    private let sockets = Mutex((open: 0, cutOff: 0, answered: 0))
    private let ended = DispatchSemaphore(value: 0)

    /// How many connections are open now, how many were closed by the other side, and how many were answered.
    var counts: (open: Int, cutOff: Int, answered: Int) { sockets.withLock { $0 } }

    /// Opens all connections at once, one for each beginning.
    /// - Parameter tail: the text that each connection sends repeatedly, one byte at a time.
    init(port: Int, beginnings: [String], tail: String = "a") {
        self.port = port
        self.beginnings = beginnings
        self.tail = tail
        let thread = Thread { self.run() }
        thread.name = "slow crowd"
        thread.start()
    }

    /// Closes the remaining connections.
    func leave() {
        isOver.store(true, ordering: .relaxed)
        ended.wait()
    }

    private func run() {
        Self.allowManyFiles()
        var open: [Int32] = []
        for beginning in beginnings where !isOver.load(ordering: .relaxed) {
            guard let socket = RawConnection.connected(to: port) else { continue }
            _ = RawConnection.say(Array(beginning.utf8), on: socket)
            open.append(socket)
            sockets.withLock { $0.open += 1 }
        }
        var round = 0
        while !isOver.load(ordering: .relaxed) {
            let byte = [Array(tail.utf8)[round % tail.utf8.count]]
            open.removeAll { socket in
                var buffer = [UInt8](repeating: 0, count: 1024)
                let heard = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if heard > 0 { sockets.withLock { $0.answered += 1 } }
                let isCut = heard == 0 || (heard < 0 && errno != EAGAIN) || !RawConnection.say(byte, on: socket)
                if isCut {
                    close(socket)
                    sockets.withLock { ($0.open, $0.cutOff) = ($0.open - 1, $0.cutOff + 1) }
                }
                return isCut
            }
            round += 1
            usleep(20_000)
        }
        for socket in open { close(socket) }
        ended.signal()
    }

    /// A shell's usual limit of about a thousand isn't enough, because other tests have files open too.
    private static func allowManyFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < 4096 else { return }
        limit.rlim_cur = min(4096, limit.rlim_max)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}

/// Connections to a port of this machine, as plain sockets.
enum RawConnection {
    static func connected(to port: Int) -> Int32? {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return nil }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        if !isConnected { close(socket) }
        return isConnected ? socket : nil
    }

    /// False if the other side closed before it had read everything.
    static func say(_ bytes: [UInt8], on socket: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    /// Sends a head, then a body in chunks of 64 KiB, until this many bytes have been sent, an answer arrives or the
    /// other side closes.
    /// - Returns: how much of the body was sent, and what was received.
    static func flood(port: Int, head: String, bytes limit: Int) -> (sent: Int, answer: String) {
        guard let socket = connected(to: port) else { return (0, "") }
        defer { close(socket) }
        let chunk = Array("10000\r\n".utf8) + [UInt8](repeating: 0x20, count: 1 << 16) + [13, 10]
        var (sent, answer) = (0, [UInt8]())
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard say(Array(head.utf8), on: socket) else { return (0, "") }
        while sent < limit, answer.isEmpty, say(chunk, on: socket) {
            sent += 1 << 16
            let heard = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if heard > 0 { answer += buffer[..<heard] }
            if heard == 0 { break }
        }
        let heard = answer.isEmpty ? recv(socket, &buffer, buffer.count, 0) : 0
        if heard > 0 { answer += buffer[..<heard] }
        return (sent, String(decoding: answer, as: UTF8.self))
    }
}
