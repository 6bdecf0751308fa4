import Foundation
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A person is notified about a workout that has just arrived, but not about one from the history.
    @Suite struct NewsTests {
        private static func text(_ date: Date) -> String {
            InstantText.iso8601(Instant(seconds: Int64(date.timeIntervalSince1970)))
                .replacingOccurrences(of: "T", with: " ").replacingOccurrences(of: "Z", with: " +0000")
        }

        private func write(_ stack: TestStack, _ name: String, now: Date, endsMinutesAgo: [Double]) throws -> String {
            let workouts = endsMinutesAgo.map { minutes -> String in
                let (start, end) = (now.addingTimeInterval(-minutes * 60 - 600), now.addingTimeInterval(-minutes * 60))
                return
                    "<Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" duration=\"10\" durationUnit=\"min\" "
                    + "sourceName=\"Watch\" startDate=\"\(Self.text(start))\" endDate=\"\(Self.text(end))\"/>"
            }
            let export = """
                <?xml version="1.0"?><HealthData locale="en_DE"><ExportDate value="\(Self.text(now))"/>
                \(workouts.joined(separator: "\n"))
                </HealthData>
                """
            let path = stack.path(name)
            try Archive.write(["apple_health_export/export.xml": export], to: path)
            return path
        }

        private func alerts(_ stack: TestStack) async throws -> Int {
            try await stack.onState("alerts", "--json").json().array?.count { $0["kind"] == "workout-recorded" } ?? -1
        }

        @Test func theFirstImportIsNoNews() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                // Both have the same time, because a second later it would be a different workout.
                let now = Date()
                let first = try write(stack, "first.zip", now: now, endsMinutesAgo: [90])
                #expect(try await stack.onState("import", first).exit == .code(0))
                #expect(try await stack.onState("sync").exit == .code(0))
                #expect(try stack.number("workouts", "SELECT count(*) FROM changes WHERE topic LIKE 'events.%'") == 1)
                #expect(try await alerts(stack) == 0)
                let second = try write(stack, "second.zip", now: now, endsMinutesAgo: [90, 30])
                #expect(try await stack.onState("import", second).exit == .code(0))
                #expect(try await stack.onState("sync").exit == .code(0))
                try await until("the alert") { try await alerts(stack) == 1 }
                // News isn't a finding: neither for the doctor nor on the page.
                try await until("all is well", every: 100) {
                    let doctor = try await stack.onState("doctor")
                    return doctor.exit == .code(0) && doctor.output.hasPrefix("all is well")
                }
                let address = try await stack.onState("status", "--json").json()["dashboard"]["address"].string ?? ""
                let page = try HTTPClient(base: address)
                let token = try await stack.token("--scope", "read")
                let waits = try page.send(
                    HTTPRequest(path: "/api/waits", headers: ["Authorization": "Bearer \(token)"]),
                    timeout: Patience.seconds)
                #expect(try Value(json: waits.body)["waits"].array?.contains { $0["kind"] == "alert" } == false)
                #expect(try await stack.onState("sync", "--json").json()["alerts"] == 0)
                try await stack.interrupt(up)
            }
        }

        /// A denied type looks as if it had no samples; only the owner's alert names it.
        @Test func syncSaysNothingOfADenial() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let export = try await stack.generate("export.zip", "--days", "2", "--seed", "6")
                #expect(try await stack.onState("import", export).exit == .code(0))
                #expect(try await stack.onState("types", "deny", "StepCount").exit == .code(0))
                // A denial is asked for and looks like any other type, as an app sees it.
                try await until("a denied type that looks like any other") {
                    let steps = try await stack.onState("types", "--json").json().array?.first {
                        $0["type"] == "HKQuantityTypeIdentifierStepCount"
                    }
                    return steps?["authorization"] == "requested" && steps?["state"] == "on"
                }
                #expect(try await stack.onState("types", "off", "BodyMass").exit == .code(0))
                let sync = try await stack.onState("sync")
                #expect(!sync.output.contains("StepCount"), "\(sync.output)")
                #expect(
                    sync.output.contains("Switched off, so left out: HKQuantityTypeIdentifierBodyMass"),
                    "\(sync.output)")
                let words = "'healthbus alerts --state \(stack.state)'"
                #expect(sync.output.contains("1 alert is raised: \(words)"), "\(sync.output)")
                #expect(try await stack.onState("alerts").output.contains("StepCount"))
                #expect(try await stack.onState("sync", "--json").json()["off"] == ["HKQuantityTypeIdentifierBodyMass"])
                try await stack.interrupt(up)
            }
        }
    }
}
