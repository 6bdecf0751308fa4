import Foundation
import Glibc
import HTTP
import Testing

/// Requests that no well-behaved client sends.
struct RawHTTPTests {
    /// Sends bytes unchanged, and reads until the server closes the connection.
    private func exchange(_ port: Int, _ bytes: [UInt8]) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // The server may close before it has read everything; only its answer matters.
            if count <= 0 { break }
            sent += count
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count <= 0 { break }
            answer += buffer[..<count]
        }
        return String(decoding: answer, as: UTF8.self)
    }

    private func chunked(_ sizes: [Int]) -> [UInt8] {
        var bytes = Array("POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
        for size in sizes {
            bytes += Array("\(String(size, radix: 16))\r\n".utf8) + [UInt8](repeating: 65, count: size) + [13, 10]
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }

    private func server() throws -> HTTPServer {
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 1000
        limits.headerBytes = 4096
        return try HTTPServer(limits: limits) { HTTPResponse(status: 200, body: Array("got \($0.body.count)".utf8)) }
    }

    @Test(arguments: [([10, 20, 30], "got 60"), ([1000], "got 1000"), ([600, 600], " 413 "), ([100], "got 100")])
    func chunkedBodies(_ sizes: [Int], _ expected: String) throws {
        let server = try server()
        defer { server.stop() }
        #expect(try exchange(server.port, chunked(sizes)).contains(expected))
    }

    @Test func aChunkedBodyWithoutEndIsCutOff() throws {
        let server = try server()
        defer { server.stop() }
        #expect(try exchange(server.port, chunked([Int](repeating: 1000, count: 500))).contains("200 OK") == false)
        // The server survives, and the memory used by that request has been freed.
        #expect(try exchange(server.port, chunked([500])).contains("got 500"))
    }

    /// This is more than the two sockets can hold, so an answer sent before the end would be lost with the connection.
    /// A client that sends `Expect` may have stopped waiting for the 100 (Continue).
    @Test(arguments: ["", "Expect: 100-continue\r\n"])
    func whoSendsTooMuchGetsAnAnswer(_ more: String) throws {
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 16 << 20
        let server = try HTTPServer(limits: limits) { _ in HTTPResponse(status: 200) }
        defer { server.stop() }
        let head = "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \(30 << 20)\r\n\(more)\r\n"
        let answer = try exchange(server.port, Array(head.utf8) + [UInt8](repeating: 65, count: 30 << 20))
        #expect(answer.contains("HTTP/1.1 413 "), "\(answer.prefix(60))")
    }

    @Test(arguments: [
        "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: -5\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2001\r\n\r\n",
        "GET /" + String(repeating: "a", count: 9000) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA: " + String(repeating: "a", count: 9000) + "\r\n\r\n",
    ])
    func malformed(_ head: String) throws {
        let server = try server()
        defer { server.stop() }
        let answer = try exchange(server.port, Array(head.utf8))
        #expect(answer.hasPrefix("HTTP/1.1 4") || answer.isEmpty, "\(answer.prefix(60))")
        #expect(try exchange(server.port, chunked([7])).contains("got 7"))
    }
}
