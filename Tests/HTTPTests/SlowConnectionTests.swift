import Foundation
import Glibc
import HTTP
import TestSupport
import Testing

/// Clients that never finish are cut off in time, and none of them prevents a good client from being served.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct SlowConnectionTests {
    /// A connection that a test holds open.
    private final class Line {
        let socket: Int32

        init(_ port: Int, receiveBuffer: Int32 = 0) throws {
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(socket >= 0)
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if receiveBuffer > 0 {
                var size = receiveBuffer
                setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
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

        /// Returns false once the other side has closed.
        @discardableResult
        func say(_ text: String) -> Bool {
            let bytes = Array(text.utf8)
            return send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }

        /// Keeps sending a little until the other side closes; false if it never does.
        func trickle(_ text: String) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 4096)
            for _ in 0..<6000 {
                guard say(text) else { return true }
                let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
                if count == 0 || (count < 0 && errno != EAGAIN) { return true }
                usleep(10_000)
            }
            return false
        }

        /// Everything sent until the other side closes; nil if it never does.
        func rest() -> String? {
            var text: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(socket, &buffer, buffer.count, 0)
                if count == 0 || (count < 0 && errno == ECONNRESET) { return String(decoding: text, as: UTF8.self) }
                if count < 0 { return nil }
                text += buffer[..<count]
            }
        }
    }

    /// The time limits are so long that a good client gets in only when a place becomes free.
    private static var patient: HTTPServer.Limits {
        var limits = HTTPServer.Limits()
        limits.connections = 16
        limits.connectionsPerAddress = 12
        limits.headSeconds = 3600
        limits.idleSeconds = 3600
        limits.requestSeconds = 3600
        return limits
    }

    private static let gate: HTTPServer.Gate = { $0.bearerToken == "secret" ? nil : HTTPResponse(status: 401) }

    private func get(_ port: Int, token: String = "secret") throws -> Int {
        try HTTPClient(base: "http://127.0.0.1:\(port)").send(
            HTTPRequest(path: "/", headers: ["Authorization": "Bearer \(token)"]), timeout: 60
        ).status
    }

    @Test(arguments: [
        "", "GET / HTTP/1.1\r\nHost: x\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ])
    func strangersKeepNobodyOut(_ beginning: String) throws {
        let server = try HTTPServer(limits: Self.patient, gate: Self.gate) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        let good = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let request = HTTPRequest(path: "/", headers: ["Authorization": "Bearer secret"])
        #expect(try good.send(request, timeout: 60).status == 200)
        var lines: [Line] = []
        for number in 0..<200 {
            let line = try Line(server.port)
            line.say(beginning)
            lines.append(line)
            // New clients get through at any time.
            if number % 50 == 49 { #expect(try get(server.port) == 200) }
        }
        // A client that has shown its token keeps its connection.
        #expect(try good.send(request, timeout: 60).status == 200)
        // The oldest connections were closed.
        #expect(lines[0].rest() != nil)
    }

    /// This is the case for `/metrics`, where no client shows a token.
    @Test func withoutAGateTheNewestIsServed() throws {
        let server = try HTTPServer(limits: Self.patient) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        var lines: [Line] = []
        for number in 0..<100 {
            let line = try Line(server.port)
            line.say("GET / HTTP/1.1\r\nHost: x\r\n")
            lines.append(line)
            if number % 25 == 24 { #expect(try get(server.port) == 200) }
        }
        #expect(lines[0].rest() != nil)
    }

    @Test func aHeadThatTricklesIsCutOff() throws {
        var limits = HTTPServer.Limits()
        limits.headSeconds = 1
        let server = try HTTPServer(limits: limits) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say("GET / HTTP/1.1\r\nHost: x\r\nA: ")
        #expect(line.trickle("a"))
        #expect(try get(server.port) == 200)
    }

    @Test func aSecondHeadThatTricklesIsCutOff() throws {
        var limits = HTTPServer.Limits()
        limits.idleSeconds = 1
        let server = try HTTPServer(limits: limits) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nA: ")
        #expect(line.trickle("a"))
    }

    @Test func aBodyThatTricklesIsCutOff() throws {
        var limits = HTTPServer.Limits()
        limits.requestSeconds = 1
        let server = try HTTPServer(limits: limits) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
        #expect(line.trickle("a"))
    }

    @Test func anAnswerThatNobodyTakesIsCutOff() throws {
        var limits = HTTPServer.Limits()
        limits.answerSeconds = 1
        let server = try HTTPServer(limits: limits) { request in
            HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: request.path == "/large" ? 32 << 20 : 1))
        }
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port, receiveBuffer: 4096)
        line.say("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        // The client keeps sending requests without reading any answers.
        var isClosed = false
        for _ in 0..<6000 where !isClosed {
            var waiting = pollfd(fd: line.socket, events: 0, revents: 0)
            poll(&waiting, 1, 10)
            isClosed = waiting.revents & Int16(POLLHUP | POLLERR) != 0 || !line.say("GET / HTTP/1.1\r\n")
        }
        #expect(isClosed)
        #expect(try get(server.port) == 200)
    }

    @Test func aStrangersBodyTakesNoRoom() throws {
        var limits = HTTPServer.Limits()
        limits.totalBodyBytes = 1000
        let server = try HTTPServer(limits: limits, gate: Self.gate) { request in
            HTTPResponse(status: request.body.count == 900 ? 200 : 500)
        }
        defer { server.stop(drainSeconds: 0) }
        let stranger = try Line(server.port)
        stranger.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "a", count: 999))
        let good = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let request = HTTPRequest(
            method: "POST", path: "/", headers: ["Authorization": "Bearer secret"],
            body: [UInt8](repeating: 1, count: 900))
        #expect(try good.send(request, timeout: 60).status == 200)
        // The answer is sent at the end of the body, so that the client sees it.
        stranger.say("a")
        var buffer = [UInt8](repeating: 0, count: 12)
        #expect(recv(stranger.socket, &buffer, buffer.count, Int32(MSG_WAITALL)) == 12)
        #expect(String(decoding: buffer, as: UTF8.self) == "HTTP/1.1 401")
    }
}
