import HTTP
import Synchronization
import TestSupport
import Testing

/// Requests that no well-behaved client sends. Each is answered or cut off, and the server survives.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct HostileRequestTests {
    private func server(_ limits: HTTPServer.Limits = Self.small) throws -> HTTPServer {
        try HTTPServer(
            limits: limits, admission: { _ in .collect() },
            handler: { request in
                switch request.method {
                case "GET", "HEAD", "POST":
                    HTTPResponse(
                        status: 200, headers: ["X-Path": request.path, "X-Query": request.query["q"] ?? "-"],
                        body: Array("got \(request.body.count)".utf8))
                default: .methodNotAllowed(["GET", "HEAD", "POST"])
                }
            })
    }

    private static var small: HTTPServer.Limits {
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 1000
        limits.headerBytes = 4096
        return limits
    }

    private func livesOn(_ server: HTTPServer) throws -> Bool {
        try Line.exchange(server.port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").contains("got 0")
    }

    /// Request lines and headers up to the empty line, each with the expected status, or with "" if the connection is
    /// just closed.
    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: x", " 200 "), ("GET / HTTP/1.0", " 200 "), ("GET / HTTP/1.0\r\nHost: x", " 200 "),
        ("GET / HTTP/1.1", " 400 "), ("GET / HTTP/1.1\r\nHost: x\r\nHost: y", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 3", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 3", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18000000000000000000", " 413 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked", " 400 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked", " 501 "),
        ("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity", " 501 "),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked", " 400 "),
        ("GET /%zz HTTP/1.1\r\nHost: x", " 400 "), ("GET /a%2 HTTP/1.1\r\nHost: x", " 400 "),
        ("GET /a%00b HTTP/1.1\r\nHost: x", " 400 "), ("GET /%ff%fe HTTP/1.1\r\nHost: x", " 400 "),
        ("GET /%c0%af HTTP/1.1\r\nHost: x", " 400 "), ("GET /?q=%ed%a0%80 HTTP/1.1\r\nHost: x", " 400 "),
        ("GET /?q=100% HTTP/1.1\r\nHost: x", " 400 "), ("GET /?%=1 HTTP/1.1\r\nHost: x", " 400 "),
        ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0", " 405 "), ("OPTIONS * HTTP/1.1\r\nHost: x", " 405 "),
        ("NONSENSE / HTTP/1.1\r\nHost: x", " 405 "), ("get / HTTP/1.1\r\nHost: x", " 405 "),
        ("GET / HTTP/9.9\r\nHost: x", ""), ("GET /", ""), ("\u{0}\u{1}\u{2}", ""), ("GET / FTP/1.1\r\nHost: x", ""),
    ])
    func answered(_ head: String, _ status: String) throws {
        let server = try server()
        defer { server.stop(drainSeconds: 0) }
        let isNew = head.contains("HTTP/1.1")
        let answer = try Line.exchange(server.port, head + (isNew ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n"))
        #expect(answer.hasPrefix("HTTP/1.") || (status.isEmpty && answer.isEmpty), "\(answer.prefix(80))")
        #expect(answer.prefix(14).contains(status) || status.isEmpty, "\(answer.prefix(80))")
        if status == " 405 " { #expect(answer.contains("Allow: GET, HEAD, POST\r\n")) }
        #expect(try livesOn(server))
    }

    @Test func whatIsEncodedWellArrives() throws {
        let server = try server()
        defer { server.stop() }
        let answer = try Line.exchange(
            server.port, "GET /a%20b%2Fc/%C3%A4%25?q=1%262+3%2b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("X-Path: /a b/c/ä%\r\n"))
        #expect(answer.contains("X-Query: 1&2 3+\r\n"))
    }

    @Test func aHeadIsAnsweredWithoutABody() throws {
        let server = try server()
        defer { server.stop() }
        let answer = try Line.exchange(server.port, "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(answer.contains("200 OK") && answer.contains("Content-Length: 5"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test func tooLongAURL() throws {
        let server = try server()
        defer { server.stop() }
        for length in [5000, 100_000] {
            let answer = try Line.exchange(
                server.port, "GET /\(String(repeating: "a", count: length)) HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 414") || answer.hasPrefix("HTTP/1.1 431") || answer.isEmpty)
        }
        #expect(try livesOn(server))
    }

    /// A second request that is hidden in the body of the first isn't treated as a request.
    @Test func nothingIsSmuggled() throws {
        let server = try server()
        defer { server.stop() }
        let hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"
        for head in [
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: \(hidden.utf8.count)\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(hidden.utf8.count)\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ] {
            let answer = try Line.exchange(server.port, head + hidden)
            #expect(answer.hasPrefix("HTTP/1.1 400") && !answer.contains("/hidden"), "\(answer)")
        }
    }

    @Test(arguments: ["Content-Length: 1073741824", "Transfer-Encoding: chunked"])
    func aGigabyteIsNotTaken(_ length: String) throws {
        let server = try server()
        defer { server.stop(drainSeconds: 0) }
        let line = try Line(server.port)
        line.say("POST / HTTP/1.1\r\nHost: x\r\n\(length)\r\n\r\n")
        let chunk = [UInt8](repeating: 97, count: 1 << 16)
        let bytes = length.hasPrefix("C") ? chunk : Array("10000\r\n".utf8) + chunk + [13, 10]
        // The connection is cut off long before all of this is sent.
        #expect(line.flood(bytes, times: 16_384))
        #expect(try livesOn(server))
    }

    @Test func manyRequestsInOneGo() throws {
        let server = try server()
        defer { server.stop(drainSeconds: 0) }
        let count = 2000
        var all = ""
        for number in 0..<count {
            all += "POST /\(number) HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
            all += number == count - 1 ? "Connection: close\r\n\r\nabc" : "\r\nabc"
        }
        let answer = try Line.exchange(server.port, all)
        let paths = answer.split(separator: "\r\n").filter { $0.hasPrefix("X-Path: ") }
        #expect(paths == (0..<count).map { "X-Path: /\($0)" })
    }

    @Test(arguments: [
        "", "GET", "GET / HTTP/1.1\r\nHost: x\r\nA: ", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
    ])
    func manyThatNeverGoOn(_ beginning: String) throws {
        var limits = Self.small
        limits.headSeconds = 3600
        limits.idleSeconds = 3600
        limits.requestSeconds = 3600
        let gate: HTTPServer.Gate = { $0.path == "/good" ? nil : HTTPResponse(status: 401) }
        let server = try HTTPServer(limits: limits, gate: gate) { _ in HTTPResponse(status: 200) }
        defer { server.stop(drainSeconds: 0) }
        var lines: [Line] = []
        for number in 0..<500 {
            let line = try Line(server.port)
            line.say(beginning)
            lines.append(line)
            if number % 100 == 99 {
                let status = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
                    .send(HTTPRequest(path: "/good"), timeout: Patience.seconds).status
                #expect(status == 200)
            }
        }
    }

    /// When a client goes away, the memory used for what it sent is freed.
    @Test func whoGoesAwayInTheMiddleHoldsNothing() throws {
        var limits = Self.small
        limits.totalBodyBytes = 2000
        limits.requestSeconds = 3600
        let server = try server(limits)
        defer { server.stop(drainSeconds: 0) }
        for _ in 0..<50 {
            let line = try Line(server.port)
            line.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
        }
        #expect(
            try eventually {
                let body = String(repeating: "a", count: 1000)
                return try Line.exchange(
                    server.port,
                    "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n\(body)"
                ).contains("got 1000")
            })
    }

    @Test func whoAsksIsKnownByANumber() throws {
        let peers = Mutex<Set<UInt64>>([])
        let server = try HTTPServer { request in
            peers.withLock { _ = $0.insert(request.peer) }
            return HTTPResponse(status: 200)
        }
        defer { server.stop() }
        for _ in 0..<3 {
            _ = try HTTPClient(base: "http://127.0.0.1:\(server.port)").send(HTTPRequest(path: "/"), timeout: 60)
        }
        #expect(peers.withLock { $0.count == 1 && !$0.contains(0) })
    }
}
