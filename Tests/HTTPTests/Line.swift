import Foundation
import Glibc
import Testing

/// A connection to a server on loopback, over which a test can send anything, byte by byte.
final class Line {
    let socket: Int32

    init(_ port: Int) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
    }

    deinit { close(socket) }

    /// False if the other side closed before it had read everything.
    @discardableResult
    func say(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count <= 0 { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    func say(_ text: String) -> Bool { say(Array(text.utf8)) }

    /// Sends the same bytes repeatedly until the other side closes; false if all of them were read.
    func flood(_ bytes: [UInt8], times: Int) -> Bool {
        for _ in 0..<times where !say(bytes) { return true }
        return false
    }

    /// Reads exactly this many bytes, or fewer if the other side closes first.
    func hear(_ count: Int) -> String {
        var buffer = [UInt8](repeating: 0, count: count)
        let got = recv(socket, &buffer, count, Int32(MSG_WAITALL))
        return String(decoding: buffer.prefix(max(got, 0)), as: UTF8.self)
    }

    /// Reads everything until the other side closes; after a minute, returns whatever has arrived.
    func rest() -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count <= 0 { return String(decoding: text, as: UTF8.self) }
            text += buffer[..<count]
        }
    }

    /// Sends bytes, and reads what arrives until the other side closes.
    static func exchange(_ port: Int, _ bytes: [UInt8]) throws -> String {
        let line = try Line(port)
        line.say(bytes)
        return line.rest()
    }

    static func exchange(_ port: Int, _ text: String) throws -> String { try exchange(port, Array(text.utf8)) }

    /// A body in chunks of at most this many bytes.
    static func chunked(_ body: [UInt8], by size: Int = 1000) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(size)
            bytes += Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10]
            rest = rest.dropFirst(size)
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }
}
