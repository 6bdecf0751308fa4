import HTTP
import Synchronization
import TestSupport
import Testing

@Suite(.inTurn) struct RedirectTests {
    private static let asked = "https://example.org/health/api/v1/sync/steps"

    @Test(
        arguments: [
            ("/api/v2/sync", .sameOrigin("/api/v2/sync")), ("daily", .sameOrigin("/health/api/v1/sync/daily")),
            ("https://example.org/x?y=1", .sameOrigin("/x?y=1")), ("https://EXAMPLE.org:443/x", .sameOrigin("/x")),
            ("https://example.org", .sameOrigin("/")), ("//example.org/x", .sameOrigin("/x")),
            ("http://example.org/x", .elsewhere("http://example.org")),
            ("https://example.org:8443/x", .elsewhere("https://example.org:8443")),
            ("https://example.org.evil.net/x", .elsewhere("https://example.org.evil.net")),
            ("//evil.net/x", .elsewhere("https://evil.net")), ("https://example.org@evil.net/", .unreadable),
            ("ftp://example.org/x", .unreadable), ("javascript:alert(1)", .unreadable),
        ] as [(String, HTTPRedirect)])
    func whereItLeads(_ location: String, _ expected: HTTPRedirect) {
        #expect(HTTPRedirect(location: location, from: Self.asked) == expected)
    }

    @Test(arguments: [307, 308]) func aPostIsSentAgainWithAllThatItHas(_ status: Int) throws {
        let seen = Box()
        let server = try HTTPServer { request in
            seen.note(request)
            guard request.path == "/old/x" else { return HTTPResponse(status: 200) }
            return HTTPResponse(status: status, headers: ["Location": "/new/x"])
        }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)/old")
        let request = HTTPRequest(
            method: "POST", path: "/x", headers: ["Authorization": "Bearer t"], body: Array("body".utf8))
        #expect(try client.send(request).status == status)
        #expect(try client.send(request, redirects: 3).status == 200)
        #expect(seen.lines == ["POST /old/x t body", "POST /old/x t body", "POST /new/x t body"])
    }

    @Test(arguments: [301, 302, 303]) func noPostBecomesAGet(_ status: Int) throws {
        let seen = Box()
        let server = try HTTPServer { request in
            seen.note(request)
            return request.path == "/x"
                ? HTTPResponse(status: status, headers: ["Location": "/y"]) : HTTPResponse(status: 200)
        }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        #expect(try client.send(HTTPRequest(method: "POST", path: "/x", body: [1]), redirects: 3).status == status)
        #expect(try client.send(HTTPRequest(path: "/x"), redirects: 3).status == 200)
        #expect(seen.lines.count == 3)
    }

    @Test func noOtherServerGetsTheToken() throws {
        let seen = Box()
        let other = try HTTPServer { request in
            seen.note(request)
            return HTTPResponse(status: 200)
        }
        defer { other.stop() }
        let port = other.port
        let server = try HTTPServer { _ in
            HTTPResponse(status: 308, headers: ["Location": "http://127.0.0.1:\(port)/x"])
        }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let request = HTTPRequest(method: "POST", path: "/x", headers: ["Authorization": "Bearer t"], body: [1])
        #expect(try client.send(request, redirects: 3).status == 308)
        #expect(seen.lines.isEmpty)
    }

    @Test func aCircleEnds() throws {
        let seen = Box()
        let server = try HTTPServer { request in
            seen.note(request)
            return HTTPResponse(status: 307, headers: ["Location": "/x"])
        }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        #expect(try client.send(HTTPRequest(method: "POST", path: "/x", body: [1]), redirects: 3).status == 307)
        #expect(seen.lines.count == 4)
    }

    /// The requests that a server received.
    private final class Box: Sendable {
        private let inner = Mutex<[String]>([])

        func note(_ request: HTTPRequest) {
            let line =
                "\(request.method) \(request.path) \(request.bearerToken ?? "-") \(String(decoding: request.body, as: UTF8.self))"
            inner.withLock { $0.append(line) }
        }

        var lines: [String] { inner.withLock { $0 } }
    }
}
