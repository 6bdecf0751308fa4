import Foundation
import Glibc
import HTTP
import Synchronization
import TestSupport
import Testing

/// Answers that stay open while events are added to them.
@Suite(.inTurn) struct EventStreamTests {
    /// Gives each reader its own stream, in order.
    private final class Desk: Sendable {
        let streams = Mutex<[EventStream]>([])
        var last: EventStream? { streams.withLock { $0.last } }

        func server(_ limits: HTTPServer.Limits = .init(), capacity: Int = 256 << 10) throws -> HTTPServer {
            try HTTPServer(limits: limits) { [self] request in
                guard request.path == "/events" else { return HTTPResponse(status: 200, body: Array("plain".utf8)) }
                let stream = EventStream(capacity: capacity)
                streams.withLock { $0.append(stream) }
                return HTTPResponse(events: stream)
            }
        }
    }

    private static let request = Array("GET /events HTTP/1.1\r\nHost: x\r\n\r\n".utf8)

    /// Reads until this text has arrived.
    private func read(_ line: Line, until text: String) -> String {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while !String(decoding: bytes, as: UTF8.self).contains(text) {
            let count = recv(line.socket, &room, room.count, 0)
            if count <= 0 { break }
            bytes += room.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func opened(_ desk: Desk, _ server: HTTPServer, _ count: Int = 1) throws -> Line {
        let line = try Line(server.port)
        line.say(Self.request)
        #expect(eventually { desk.streams.withLock { $0.count } == count })
        return line
    }

    @Test func eventsComeWhenTheyAreSent() throws {
        let desk = Desk()
        let server = try desk.server()
        defer { server.stop() }
        let line = try opened(desk, server)
        let stream = try #require(desk.last)
        #expect(stream.send("first", data: Array("{\"a\":1}".utf8)))
        let text = read(line, until: "event: first\ndata: {\"a\":1}\n\n")
        #expect(
            text.contains("200 OK") && text.contains("Content-Type: text/event-stream") && text.contains("{\"a\":1}"))
        // The stream is idle between events, and then continues.
        for number in 0..<50 {
            stream.send("next", data: Array("\(number)".utf8))
            #expect(read(line, until: "data: \(number)\n").contains("event: next"))
        }
    }

    /// However many streams are idle, other requests are answered, because a stream needs no thread.
    @Test func manyStreamsHoldUpNobody() throws {
        let desk = Desk()
        var limits = HTTPServer.Limits()
        limits.threads = 2
        limits.eventStreams = 20
        let server = try desk.server(limits)
        defer { server.stop() }
        var lines: [Line] = []
        for count in 1...20 { lines.append(try opened(desk, server, count)) }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        for _ in 0..<20 { #expect(try client.send(HTTPRequest(path: "/"), timeout: Patience.seconds).text == "plain") }
        // One more stream is too many.
        #expect(try client.send(HTTPRequest(path: "/events"), timeout: Patience.seconds).status == 503)
        for stream in desk.streams.withLock({ $0.prefix(20) }) { #expect(stream.send("x", data: Array("1".utf8))) }
        for line in lines { #expect(read(line, until: "data: 1").contains("event: x")) }
    }

    @Test func aReaderWhoGoesIsNoticed() throws {
        let desk = Desk()
        let server = try desk.server()
        defer { server.stop() }
        let isClosed = Mutex(false)
        do {
            let line = try opened(desk, server)
            desk.last?.whenClosed { isClosed.withLock { $0 = true } }
            desk.last?.beat()
            _ = read(line, until: "event: beat\ndata: \n\n")
        }
        let stream = try #require(desk.last)
        #expect(
            eventually {
                stream.beat()
                return isClosed.withLock { $0 }
            })
        #expect(!stream.isOpen && !stream.send("x", data: []))
    }

    /// A client that connects while the last requests are being finished is refused at once instead of being left
    /// waiting.
    @Test func whoComesDuringAStopIsClosed() throws {
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // One of the server's two threads is kept busy; the other answers, or refuses, each new client.
        let server = try HTTPServer { request in
            if request.path == "/long" {
                entered.signal()
                leave.wait()
            }
            return HTTPResponse(status: 204)
        }
        let first = try Line(server.port)
        first.say("GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        entered.wait()
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            server.stop(drainSeconds: Patience.seconds)
            stopped.signal()
        }
        // Clients that connect before the stop has begun are still answered.
        #expect(
            try eventually {
                try Line.exchange(server.port, Array("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
                    .isEmpty
            })
        leave.signal()
        #expect(first.rest().hasPrefix("HTTP/1.1 204"))
        stopped.wait()
    }

    /// Data that a slow reader doesn't read isn't kept forever.
    @Test func aSlowReaderLosesEvents() throws {
        let desk = Desk()
        let server = try desk.server(capacity: 64 << 10)
        defer { server.stop() }
        let line = try opened(desk, server)
        let stream = try #require(desk.last)
        let large = [UInt8](repeating: UInt8(ascii: "x"), count: 32 << 10)
        #expect(eventually { !stream.send("large", data: large) })
        // Once the client has read some of it, an event that fits is accepted again.
        _ = read(line, until: "event: large")
        withExtendedLifetime(line) {}
    }

    /// An answer far larger than a piece arrives whole and in order, even while more is added.
    @Test func aLargeAnswerComesWhole() throws {
        let desk = Desk()
        let server = try desk.server(capacity: 4 << 20)
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let body = Mutex<[UInt8]>([])
        let isOver = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let answer = try? client.send(HTTPRequest(path: "/events"), timeout: Patience.seconds)
            body.withLock { $0 = answer?.body ?? [] }
            isOver.signal()
        }
        #expect(eventually { desk.last != nil })
        let stream = try #require(desk.last)
        let parts = (0..<20).map { part in Array((0..<5000).map { "\(part) \($0)\n" }.joined().utf8) }
        for part in parts { #expect(stream.send(whole: part)) }
        stream.end()
        isOver.wait()
        #expect(body.withLock { $0 } == Array(parts.joined()))
    }

    /// A stopping server ends its streams first, so that none holds it up.
    @Test func stoppingEndsThem() throws {
        let desk = Desk()
        let server = try desk.server()
        let line = try opened(desk, server)
        _ = desk.last?.send("last", data: Array("words".utf8))
        let began = Date()
        server.stop(drainSeconds: Patience.seconds)
        #expect(read(line, until: "never said").contains("data: words"))
        #expect(Date().timeIntervalSince(began) < Patience.seconds && desk.last?.isOpen == false)
    }
}
