import BackendStage
import HTTP
import TestSupport
import Testing

/// The backend behind a real server.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct BackendServerTests {
    @Test func aBackendBehindTheServer() throws {
        let fixture = try BackendFixture()
        let backend = fixture.backend
        let server = try HTTPServer { backend.handle($0) }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://localhost:\(server.port)/")
        let body = BackendFixture.body(samples: [BackendFixture.sample(BackendFixture.id(1))])
        let answer = try client.send(BackendFixture.request("POST", "/api/v1/sync/steps", body: body))
        #expect(answer.status == 200)
        #expect(answer.text.contains(#""created":1"#))
    }

    @Test func aBackendReportsAWrongTokenWhateverTheBody() throws {
        let fixture = try BackendFixture()
        let backend = fixture.backend
        let server = try HTTPServer(gate: { backend.refusal(of: $0) }) { backend.handle($0) }
        defer { server.stop(drainSeconds: 0) }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        let answer = try client.send(
            HTTPRequest(
                method: "POST", path: "/api/v1/sync/steps", headers: ["Authorization": "Bearer wrong"],
                body: [UInt8](repeating: 32, count: 6 << 20)), timeout: 60)
        #expect(answer.status == 401 && answer.text.contains("bearer token"))
    }
}
