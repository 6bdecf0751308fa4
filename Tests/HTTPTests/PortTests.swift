import HTTP
import TestSupport
import Testing

/// Tests that a server takes the next port when its own is in use.
@Suite(.inTurn) struct PortTests {
    private func server(_ port: Int, tries: Int) throws -> HTTPServer {
        try HTTPServer(port: port, portTries: tries) { _ in HTTPResponse(status: 200) }
    }

    @Test func theNextFreeOneIsTakenAndReported() throws {
        let base = try freePort()
        let first = try server(base, tries: 50)
        defer { first.stop() }
        #expect(first.port == base)
        let second = try server(base, tries: 50)
        defer { second.stop() }
        #expect((base + 1..<base + 50).contains(second.port))
        #expect(
            try HTTPClient(base: "http://127.0.0.1:\(second.port)").send(HTTPRequest(path: "/"), timeout: 60).status
                == 200)
        // With a single try, no port but the given one is tried.
        let error = #expect(throws: HTTPError.self) { try server(base, tries: 1) }
        #expect(error?.kind == .addressInUse)
    }

    @Test func whenAllAreTakenTheyAreNamed() throws {
        let base = try freePort()
        let servers = try (0..<2).map { _ in try server(base, tries: 100) }
        defer { for server in servers { server.stop() } }
        let last = servers[1].port
        let error = #expect(throws: HTTPError.self) { try server(base, tries: last - base + 1) }
        #expect(error?.kind == .addressInUse)
        #expect(error?.description.contains("up to \(last)") == true)
    }

    @Test func whatIsNoPortIsNotTriedOn() throws {
        #expect(throws: HTTPError.self) { try server(70_000, tries: 10) }
        #expect(throws: HTTPError.self) { try server(-1, tries: 10) }
        #expect(throws: HTTPError.self) {
            try HTTPServer(host: "198.51.100.1", port: 8080, portTries: 3) { _ in HTTPResponse(status: 200) }
        }
        // Any free port.
        let any = try server(0, tries: 5)
        defer { any.stop() }
        #expect(any.port > 0)
    }
}
