import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// The endpoint for monitoring programs, whether it is served by `up` or by a process of its own, and the health
    /// check.
    @Suite struct MonitoringTests {
        private func get(_ port: Int, _ path: String) throws -> HTTPResponse {
            try HTTPClient(base: "http://127.0.0.1:\(port)").send(HTTPRequest(path: path))
        }

        @Test func theEndpointFollowsTheStack() async throws {
            try await withStack { stack in
                let port = try freePort()
                let other = try freePort()
                let export = try await stack.generate("export.zip", "--days", "3")
                let monitor = try await stack.start(["monitor", "--listen", "\(other)", "--state", stack.state])
                try await until("the monitor answers") { (try? get(other, "/live").status) == 200 }
                // No process is running yet, so the stack is alive but not ready.
                #expect(try get(other, "/ready").status == 503)
                #expect(try await stack.onState("ready").exit == .code(1))

                let up = try await stack.upAndReady("--metrics", "\(port)", "--import", export)
                try await until("ready") { try get(port, "/ready").status == 200 }
                try await until("the other too") { try get(other, "/ready").status == 200 }
                #expect(try await stack.onState("ready", "--within", "10").exit == .code(0))
                #expect(try await stack.onState("ready", "steps", "--json").json()["ready"] == true)
                let wrong = try await stack.onState("ready", "stepz")
                #expect(wrong.exit == .code(2) && wrong.error.contains("steps"))
                for path in ["/", "/metric"] { #expect(try get(port, path).status == 404) }

                try await until("delivered") {
                    try get(port, "/metrics").text.contains(
                        #"delivered_elements_total{instance="uploader",metric="steps"}"#)
                }
                let page = try get(port, "/metrics")
                #expect(page.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
                #expect(page.text.contains(#"healthbus_instance_restarts_total{instance="steps"} 0"#))
                #expect(try !get(other, "/metrics").text.isEmpty)
                // The labels don't include users.
                #expect(!page.text.contains("\"me\""))

                // A process that is down is reported as down.
                let steps = try #require(try stack.pid(of: "steps"))
                kill(steps, SIGSTOP)
                try await until("steps is missed") { try get(port, "/ready").text.contains("steps: not heard") }
                #expect(
                    try get(port, "/metrics").text.contains(
                        #"healthbus_instance_ready{instance="steps",plugin="steps"} 0"#))
                let check = try await stack.onState("ready", "steps", "--within", "0.2")
                #expect(check.exit == .code(1) && check.error.contains("steps"))
                kill(steps, SIGCONT)
                try await until("all are ready again") { try get(port, "/ready").status == 200 }

                // A second monitor reports that the port is taken.
                let taken = try await stack.onState("monitor", "--listen", "\(port)")
                #expect(taken.exit == .code(1) && taken.error.contains("the port is in use"))
                monitor.child.signal(SIGTERM)
                #expect(try await monitor.ended(within: 10).exit == .code(0))
                try await stack.interrupt(up)
            }
        }
    }
}
