import Foundation
import HTTP
import Synchronization
import TestSupport
import Testing

/// Tests server and client over real sockets on loopback.
@Suite(.inTurn) struct HTTPTests {
    private static func echo(limits: HTTPServer.Limits = .init()) throws -> (HTTPServer, HTTPClient) {
        let server = try HTTPServer(limits: limits) { request in
            var headers: HTTPHeaders = ["X-Method": request.method, "X-Path": request.path]
            headers["X-Query"] = request.query["q"]
            headers["X-Echo"] = request.headers["x-echo"]
            headers["Retry-After"] = "7"
            return HTTPResponse(status: request.path == "/teapot" ? 418 : 200, headers: headers, body: request.body)
        }
        return (server, try HTTPClient(base: "http://127.0.0.1:\(server.port)"))
    }

    @Test(arguments: [0, 1, 100_000, 3_000_000]) func roundTrip(_ size: Int) throws {
        let (server, client) = try Self.echo()
        defer { server.stop() }
        let body = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for _ in 0..<3 {
            let answer = try client.send(
                HTTPRequest(method: "POST", path: "/a/b", query: ["q": "ä &=?"], headers: ["X-Echo": "e"], body: body))
            #expect(answer.status == 200)
            #expect(answer.body == body)
            #expect(answer.headers["x-method"] == "POST")
            #expect(answer.headers["X-Path"] == "/a/b")
            #expect(answer.headers["X-Query"] == "ä &=?")
            #expect(answer.headers["X-Echo"] == "e")
        }
        let get = try client.send(HTTPRequest(path: "/teapot"))
        #expect(get.status == 418)
        #expect(get.headers["X-Method"] == "GET")
        #expect(get.headers["Retry-After"] == "7")
    }

    @Test func tooLargeABody() throws {
        var limits = HTTPServer.Limits()
        limits.bodyBytes = 1000
        let (server, client) = try Self.echo(limits: limits)
        defer { server.stop() }
        #expect(
            try client.send(HTTPRequest(method: "POST", path: "/", body: [UInt8](repeating: 1, count: 1001))).status
                == 413)
        #expect(
            try client.send(HTTPRequest(method: "POST", path: "/", body: [UInt8](repeating: 1, count: 1000))).status
                == 200)
    }

    @Test func bodiesOfAllRequestsAreBounded() throws {
        var limits = HTTPServer.Limits()
        limits.totalBodyBytes = 500
        let (server, client) = try Self.echo(limits: limits)
        defer { server.stop() }
        let answer = try client.send(HTTPRequest(method: "POST", path: "/", body: [UInt8](repeating: 1, count: 501)))
        #expect(answer.status == 503)
        #expect(answer.headers["Retry-After"] == "1")
        // The memory used by a refused request has been freed.
        for _ in 0..<5 {
            #expect(
                try client.send(HTTPRequest(method: "POST", path: "/", body: [UInt8](repeating: 1, count: 400))).status
                    == 200)
        }
    }

    @Test func portInUse() throws {
        let (server, _) = try Self.echo()
        defer { server.stop() }
        let error = #expect(throws: HTTPError.self) {
            try HTTPServer(port: server.port) { _ in HTTPResponse(status: 200) }
        }
        #expect(error?.kind == .addressInUse)
        #expect(error?.description.contains("127.0.0.1:\(server.port)") == true)
    }

    @Test func portIsFreeAfterStop() throws {
        let (server, client) = try Self.echo()
        _ = try client.send(HTTPRequest(path: "/"))
        server.stop()
        let again = try HTTPServer(port: server.port) { _ in HTTPResponse(status: 204) }
        #expect(try client.send(HTTPRequest(path: "/")).status == 204)
        again.stop()
        let error = #expect(throws: HTTPError.self) { try client.send(HTTPRequest(path: "/")) }
        #expect(error?.kind == .connectionRefused)
        #expect(error?.isTransient == true)
        // It may be a FHIR server, for example.
        #expect(error?.description.contains("backend") == false)
    }

    @Test func stopLetsARequestFinish() throws {
        let entered = DispatchSemaphore(value: 0)
        let stopping = DispatchSemaphore(value: 0)
        let server = try HTTPServer { _ in
            entered.signal()
            stopping.wait()
            return HTTPResponse(status: 200, body: Array("whole".utf8))
        }
        let answer = Mutex<String?>(nil)
        let done = DispatchSemaphore(value: 0)
        let base = "http://127.0.0.1:\(server.port)"
        Thread.detachNewThread {
            let text = try? HTTPClient(base: base).send(HTTPRequest(path: "/")).text
            answer.withLock { $0 = text }
            done.signal()
        }
        entered.wait()
        Thread.detachNewThread { stopping.signal() }
        server.stop(drainSeconds: 10)
        done.wait()
        #expect(answer.withLock { $0 } == "whole")
    }

    @Test func timeOut() throws {
        let release = DispatchSemaphore(value: 0)
        let server = try HTTPServer { _ in
            release.wait()
            return HTTPResponse(status: 200)
        }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let error = #expect(throws: HTTPError.self) { try client.send(HTTPRequest(path: "/"), timeout: 0.05) }
        #expect(error?.kind == .timedOut)
        release.signal()
        server.stop()
    }

    @Test func tooLargeAnAnswer() throws {
        let server = try HTTPServer { _ in HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 2000)) }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)", answerLimit: 1000)
        let error = #expect(throws: HTTPError.self) { try client.send(HTTPRequest(path: "/")) }
        #expect(error?.kind == .answerTooLarge)
    }

    @Test func redirectsAreNotFollowed() throws {
        let server = try HTTPServer { _ in HTTPResponse(status: 302, headers: ["Location": "http://127.0.0.1:1/"]) }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        #expect(try client.send(HTTPRequest(path: "/")).status == 302)
    }

    @Test(arguments: ["", "ftp://a", "http://", "http://u:p@a", "http://a?b", "http://a#b", "a:80"])
    func wrongBase(_ base: String) {
        #expect(throws: HTTPError.self) { try HTTPClient(base: base) }
    }

    @Test(arguments: [
        ("http://127.0.0.1:80", true), ("https://127.1.2.3/a", true), ("http://[::1]", true),
        ("http://localhost", true), ("http://127.example.org/fhir", false), ("http://128.0.0.1", false),
    ])
    func loopback(_ base: String, _ isLoopback: Bool) throws {
        #expect(try HTTPClient.isLoopback(base) == isLoopback)
    }

    /// A pipe's size can't be known.
    @Test func aFileThatCannotBeSentIsClosed() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        // While this end is open, opening the pipe doesn't block.
        let end = open(path, O_RDWR | O_CLOEXEC)
        try #require(end >= 0)
        defer { close(end) }
        let client = try HTTPClient(base: "http://127.0.0.1:1")
        func files() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == path
            }
        }
        #expect(throws: HTTPError.self) {
            try client.send(HTTPRequest(method: "PUT", path: "/"), file: path, timeout: 1)
        }
        #expect(try files() == 1)
    }

    @Test func headersCannotSmuggle() throws {
        let (server, client) = try Self.echo()
        defer { server.stop() }
        let error = #expect(throws: HTTPError.self) {
            try client.send(HTTPRequest(path: "/", headers: ["Authorization": "Bearer a\r\nX-Other: b"]))
        }
        #expect(error?.kind == .invalidRequest)
        #expect(error?.description.contains("X-Other") == false)
    }

    @Test(arguments: [("secret", true), ("Secret", false), ("", false), ("secretsecret", false), ("secre", false)])
    func tokens(_ candidate: String, _ expected: Bool) throws {
        let token = try #require(SecretToken(" secret\n"))
        #expect(token.matches(candidate) == expected)
        #expect(SecretToken(" \n") == nil)
    }
}
