import Dispatch
import Glibc
import HTTP
import Synchronization
import TestSupport
import Testing

/// What a receiver receives, and when.
@Suite(.inTurn) struct BodyReceiverTests {
    /// Records the calls that it receives.
    private final class RecordingReceiver: BodyReceiver, Sendable {
        struct Heard {
            var bytes = 0
            var largest = 0
            var ends: [String] = []
        }

        let heard = Mutex(Heard())
        /// Refuses bodies beyond the limit.
        let room: Int
        let refusesEnd: Bool
        /// The receiver waits for this before accepting each piece.
        let gate: DispatchSemaphore?

        init(room: Int = .max, refusesEnd: Bool = false, gate: DispatchSemaphore? = nil) {
            self.room = room
            self.refusesEnd = refusesEnd
            self.gate = gate
        }

        func write(_ piece: UnsafeRawBufferPointer) throws(HTTPRefusal) {
            gate?.wait()
            let bytes = heard.withLock { heard in
                heard.bytes += piece.count
                heard.largest = max(heard.largest, piece.count)
                return heard.bytes
            }
            if bytes > room { throw HTTPRefusal(507, "no room", hint: "later") }
        }

        func finish() throws(HTTPRefusal) {
            if refusesEnd { throw HTTPRefusal(500, "not kept", hint: "later") }
            heard.withLock { $0.ends.append("finish") }
        }

        func abandon() { heard.withLock { $0.ends.append("abandon") } }
    }

    private func server(_ receiver: RecordingReceiver) throws -> HTTPServer {
        try HTTPServer(
            admission: { _ in .stream(.init(to: receiver, limit: 64 << 20) { _ in HTTPResponse(status: 204) }) },
            handler: { _ in HTTPResponse(status: 500) })
    }

    private func send(_ port: Int, _ count: Int) throws -> Int {
        try HTTPClient(base: "http://127.0.0.1:\(port)").send(
            HTTPRequest(method: "PUT", path: "/", body: [UInt8](repeating: 7, count: count)), timeout: Patience.seconds
        ).status
    }

    @Test func neverMoreThanABuffer() throws {
        let receiver = RecordingReceiver()
        let server = try server(receiver)
        defer { server.stop() }
        #expect(try send(server.port, 20 << 20) == 204)
        receiver.heard.withLock {
            #expect($0.bytes == 20 << 20)
            #expect($0.largest <= HTTPServer.Limits().headerBytes)
            #expect($0.ends == ["finish"])
        }
    }

    @Test func whoIsSlowIsWaitedFor() throws {
        let gate = DispatchSemaphore(value: 0)
        let receiver = RecordingReceiver(gate: gate)
        let server = try server(receiver)
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say("PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 50000000\r\n\r\n")
        // This is more than all the buffers in between can hold, so not all of it can be sent while the receiver waits.
        var limit = timeval(tv_sec: 0, tv_usec: 300_000)
        setsockopt(line.socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        #expect(!line.say([UInt8](repeating: 1, count: 50_000_000)))
        #expect(receiver.heard.withLock { $0.bytes } == 0)
        for _ in 0..<100_000 { gate.signal() }
    }

    @Test func whatItRefusesIsAnswered() throws {
        let full = RecordingReceiver(room: 100_000)
        let server = try server(full)
        defer { server.stop() }
        #expect(try send(server.port, 3_000_000) == 507)
        full.heard.withLock {
            // Nothing more was offered to the receiver.
            #expect($0.bytes <= 100_000 + HTTPServer.Limits().headerBytes)
            #expect($0.ends == ["abandon"])
        }
        let broken = RecordingReceiver(refusesEnd: true)
        let other = try self.server(broken)
        defer { other.stop() }
        #expect(try send(other.port, 10) == 500)
        #expect(broken.heard.withLock { $0.ends } == ["abandon"])
    }
}
