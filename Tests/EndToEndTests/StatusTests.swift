import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// What `healthbus status` says about metrics and what stays here, running and stopped.
    @Suite struct StatusTests {
        /// An export of steps alone: two samples of the last days of a year, three of the first ones of the next.
        private static func steps(_ stack: TestStack) throws -> String {
            let records = ["2024-12-30", "2024-12-31", "2025-01-01", "2025-01-02", "2025-01-03"].map { day in
                "<Record type=\"HKQuantityTypeIdentifierStepCount\" sourceName=\"phone\" unit=\"count\""
                    + " creationDate=\"\(day) 12:10:00 +0100\" startDate=\"\(day) 12:00:00 +0100\""
                    + " endDate=\"\(day) 12:05:00 +0100\" value=\"100\"/>"
            }
            let path = stack.path("steps.zip")
            try Archive.write(
                [
                    "apple_health_export/export.xml":
                        (["<HealthData locale=\"en_DE\">", "<ExportDate value=\"2025-01-04 09:00:00 +0100\"/>"]
                        + records + ["</HealthData>"]).joined(separator: "\n")
                ], to: path)
            return path
        }

        @Test func samplesFromBeforeDeliverSinceStayAndAreCounted() async throws {
            try await withStack { stack in
                let export = try Self.steps(stack)
                let config = try stack.write(
                    "config.json",
                    #"{"instances": {"uploader": {"configuration": {"deliverSince": "2025-01-01"}}}}"#)
                let up = try await stack.upAndReady("--config", config, "--import", export)
                let steps = "HKQuantityTypeIdentifierStepCount"
                try await until("three samples") { try stack.get("stats")["types"][steps]["alive"] == 3 }
                try await until("the count") {
                    try await stack.onState("status", "--json").json()["keptLocal"] == 2
                }
                let status = try await stack.onState("status").output
                #expect(status.contains("2 samples from before 'deliverSince' stay here.\n"), "\(status)")
                let held = try await stack.onState("samples", "--last", "10000d", "--json").json().array
                #expect(held?.count == 5)
                try await stack.interrupt(up)
            }
        }

        /// The summaries come first: they are read on their own, and the samples only when somebody asks for them.
        @Test func daysAreReadWithoutTheirSamples() async throws {
            try await withStack { stack in
                let idle = try await stack.up("--import", try Self.steps(stack), "--until-idle").ended()
                #expect(idle.exit == .code(0), "\(idle.error.suffix(2000))")
                let before = try await stack.onState("days", "--json", "--all").json()
                #expect(before.array?.compactMap { $0["steps"].int } == [100, 100, 100, 100, 100])
                for owner in ["observer", "steps"] {
                    try FileManager.default.removeItem(atPath: "\(stack.state)/\(owner)")
                }
                #expect(try await stack.onState("days", "--json", "--all").json() == before)
                #expect(try await stack.onState("samples", "--last", "10000d").exit != .code(0))
            }
        }

        /// Only steps have had samples. A handler that is running has looked for others; one that isn't, not yet.
        @Test func neverAndNotYetAreDistinguished() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady("--import", try Self.steps(stack))
                func metric(_ name: String) async throws -> Value {
                    let metrics = try await stack.onState("status", "--json").json()["metrics"].array ?? []
                    return try #require(metrics.first { $0["metric"].string == name })
                }
                func row(_ name: String) async throws -> String {
                    let lines = try await stack.onState("status").output.split(separator: "\n")
                    // The metrics come after the processes, which have the same names.
                    let metrics = try #require(lines.firstIndex { $0.hasPrefix("Metric") })
                    return String(try #require(lines[metrics...].first { $0.hasPrefix(name) }))
                }
                try await until("steps are synced") { try await !metric("steps")["lastSynced"].isNull }
                try await until("sleep has looked") { try await !metric("sleep")["lastChecked"].isNull }
                #expect(try await metric("sleep")["lastSynced"].isNull)
                let sleep = try await row("sleep")
                #expect(sleep.contains("never") && !sleep.contains("not yet"), "\(sleep)")
                #expect(try await stack.onState("stop", "sleep").exit == .code(0))
                let stopped = try await row("sleep")
                #expect(stopped.contains("never") && stopped.contains("not yet"), "\(stopped)")
                #expect(try await metric("sleep")["lastChecked"].isNull)
                let steps = try await row("steps")
                #expect(!steps.contains("not yet"), "\(steps)")
                // A person sees how long ago that was.
                let screen = try await stack.start(
                    program: "/usr/bin/env",
                    [
                        "python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", Programs.healthbus, "status",
                        "--state", stack.state,
                    ], environment: ["TERM": "xterm", "COLUMNS": "160"]
                ).ended(within: 40).output
                let seen = try #require(screen.split(whereSeparator: \.isNewline).last { $0.hasPrefix("steps") })
                #expect(seen.contains(#/(\d+ (sec|min|hr) ago|now) .*(\d+ (sec|min|hr) ago|now)/#), "\(screen)")
                #expect(!seen.contains(#/\d{2}:\d{2}:\d{2}/#), "\(screen)")
                try await stack.interrupt(up)
            }
        }
    }
}
