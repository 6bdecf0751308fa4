import Foundation
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// `healthbus backend test` against a server that meets the contract, and against one of a few lines that doesn't.
    @Suite struct BackendTestCommandTests {
        private static let example = Programs.checkout + "/examples/backend-python/server.py"

        private func python(_ stack: TestStack, _ words: String..., token: String = "a-token-of-this-test") async throws
            -> Command
        {
            let server = try await stack.start(
                program: "/usr/bin/env", ["python3", "-B"] + words,
                environment: [
                    "HEALTHBUS_BACKEND_TOKEN": token, "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin",
                ])
            try await until("it listens: \(server.error)") { server.output.contains("listening") }
            return server
        }

        @Test func theExamplePassesAllCases() async throws {
            try await withStack { stack in
                let port = try freePort()
                let server = try await python(stack, Self.example, "\(port)", stack.path("health.db"))
                let tokenFile = try stack.write("token", "a-token-of-this-test\n")
                let ended = try await stack.run(
                    "backend", "test", "http://127.0.0.1:\(port)", "--token-file", tokenFile, "--json")
                let report = try ended.json()
                #expect(ended.exit == .code(0) && report["failed"] == 0 && report["missing"] == 0, "\(ended.output)")
                #expect(report["passed"] == 30 && report["left"] == 0)
                let user = try #require(report["user"].string)
                #expect(ended.error.contains(user) && user.hasPrefix("healthbus-test-"))
                server.child.signal(SIGINT)
                #expect(try await server.ended().exit == .code(0))
            }
        }

        @Test func theReferenceBackendPassesAllCases() async throws {
            try await withStack { stack in
                let token = try stack.write("token", "a-token-of-this-test\n")
                let file = try stack.write(
                    "stack.json",
                    "{ \"instances\": { \"backend\": { \"configuration\": { \"tokenFile\": \"\(token)\" } } } }")
                let backend = try await stack.start(["run", "backend", "--config", file, "--state", stack.state])
                let url = "http://127.0.0.1:\(stack.port)"
                try await until("it answers", every: 50) {
                    try await stack.run("backend", "test", url, "--token-file", token, "--only", "no-token").exit
                        == .code(0)
                }
                let ended = try await stack.run(
                    "backend", "test", url, environment: ["HEALTHBUS_BACKEND_TOKEN": "a-token-of-this-test"])
                #expect(ended.exit == .code(0), "\(ended.output)\n\(ended.error)")
                #expect(ended.output.contains("30 of 30 cases passed"), "\(ended.output)")
                backend.child.signal(SIGTERM)
                #expect(try await backend.ended().exit == .code(0))
            }
        }

        @Test func aServerThatOnlySaysYesLearnsWhatItLacks() async throws {
            try await withStack { stack in
                let script = try stack.write(
                    "yes.py",
                    """
                    import sys
                    from http.server import *
                    class Yes(BaseHTTPRequestHandler):
                        def do_POST(self):
                            self.rfile.read(int(self.headers["Content-Length"]))
                            self.send_response(200)
                            self.end_headers()
                            self.wfile.write(b"ok")
                    server = HTTPServer(("127.0.0.1", int(sys.argv[1])), Yes)
                    print("listening", flush=True)
                    server.serve_forever()
                    """)
                let port = try freePort()
                let server = try await python(stack, script, "\(port)")
                let ended = try await stack.run(
                    "backend", "test", "http://127.0.0.1:\(port)", environment: ["HEALTHBUS_BACKEND_TOKEN": "x"])
                #expect(ended.exit == .code(1))
                #expect(
                    ended.error.contains("breaks the contract: no-token, wrong-token, sample"), "\(ended.error)")
                #expect(ended.output.contains("answer with a JSON object"), "\(ended.output)")
                server.child.kill()
                _ = try await server.ended()
                let nobody = try await stack.run(
                    "backend", "test", "http://127.0.0.1:\(port)", environment: ["HEALTHBUS_BACKEND_TOKEN": "x"])
                #expect(nobody.exit == .code(1) && nobody.error.contains("no connection"), "\(nobody.error)")
            }
        }
    }
}
