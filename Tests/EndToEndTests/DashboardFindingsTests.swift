import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// What `validate` and `doctor` report about where a dashboard listens.
    @Suite struct DashboardFindingsTests {
        @Test func validateLooksAtItsPortAndCharts() async throws {
            try await withStack { stack in
                // If another program already has this port, that does as well.
                let taken = try? HTTPServer(port: 8789) { _ in HTTPResponse(status: 200) }
                defer { taken?.stop(drainSeconds: 0) }
                let usual = ["HEALTHBUS_DASHBOARD_PORT": ""]
                let moved = try await stack.onState("validate", environment: usual)
                #expect(
                    moved.exit == .code(0) && moved.output.contains("8789")
                        && moved.output.contains("to choose one, set HEALTHBUS_DASHBOARD_PORT"), "\(moved)")
                let config = try stack.write(
                    "config.json", #"{"instances": {"dashboard": {"configuration": {"chartFile": "/nowhere.js"}}}}"#)
                let bare = try await stack.onState("validate", "--config", config)
                #expect(
                    bare.exit == .code(0) && bare.output.contains("/nowhere.js isn't there, or can't be read"),
                    "\(bare)")
            }
        }

        @Test func theDoctorSaysWhoReachesIt() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "config.json",
                    #"{"instances": {"dashboard": {"configuration": {"host": "0.0.0.0", "plainHTTP": true}}}}"#)
                let up = try await stack.upAndReady("--config", config)
                func found() async throws -> Value? {
                    let doctor = try await stack.onState("doctor", "--json")
                    return try doctor.json().array?.first { $0["subject"] == "dashboard" }
                }
                try await until("nothing except that it listens to everything", every: 100) {
                    let found = try await found()
                    return found?["severity"] == "note" && found?["what"].string?.contains("without TLS") == true
                }
                let pid = try #require(try stack.pid(of: "dashboard"))
                kill(pid, SIGSTOP)
                try await until("it is missed", every: 100) { try await found()?["severity"] == "error" }
                kill(pid, SIGCONT)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
