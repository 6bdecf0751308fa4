import Foundation
import Glibc
import HealthModel
import Processes
import Protocol
import SQLite
import Testing

extension EndToEnd {
    /// The whole way from an export to figures, to a backend that has them, and out again.
    @Suite struct MainPathTests {
        @Test func exportBecomesDays() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "30", "--seed", "1")
                let ended = try await stack.up("--import", export, "--until-idle", "--json").ended()
                #expect(ended.exit == .code(0), "\(ended.error)")
                let report = try ended.json()
                #expect(report["idle"] == true)
                #expect((report["files"].array?.first?["read"].int ?? 0) > 30_000)

                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                #expect(days.count >= 30)
                #expect(days.allSatisfy { $0["final"] == true && $0["revision"] == 1 && $0["missing"] == [] })
                try Self.compare(try Archive.entry("/export.xml", of: export), days, stack)

                let status = try await stack.onState("status", "--json").json()
                #expect(status["running"] == false)
                #expect(status["pending"] == 0 && status["deadLetters"] == 0)
                let metrics = status["metrics"].array?.compactMap { $0["metric"].string } ?? []
                #expect(try metrics.count == Set(metrics).count && Set(metrics) == Programs.handlers())
                // Its figures can't be distinguished from those of 'generic' when they are delivered.
                let undelivered = status["metrics"].array?.filter { $0["lastDelivered"].isNull }.map { $0["metric"] }
                #expect(undelivered == ["hydration"])

                try await Self.again(stack, days)
            }
        }

        /// Steps by hour, counted by hand, for an ordinary day and for the one with 23 hours.
        private static func compare(_ export: [UInt8], _ days: [Value], _ stack: TestStack) throws {
            let byHand = try StepsByHand(export: export)
            #expect(byHand.count > 500)
            for (date, hours) in [("2025-03-12", 24), ("2025-03-30", 23)] {
                let expected = try byHand.hours(of: date, zone: "Europe/Berlin")
                #expect(expected.count == hours)
                let day = try #require(days.first { $0["date"].string == date })
                let steps = try #require(day["steps"].double)
                #expect(abs(steps - expected.reduce(0, +)) < 1e-6 * steps, "\(date): \(steps)")
                let figures = try stack.read("steps") { database in
                    try database.prepare("SELECT body FROM changes WHERE key = 'figures/me/\(date)'")
                        .firstRow { try CBORDecoder.decode($0.bytes(0)) } ?? .null
                }
                let hourly = figures["hourly"]["steps"].array ?? []
                #expect(hourly.count == hours)
                for (hour, (given, counted)) in zip(hourly, expected).enumerated() {
                    #expect(abs((given.double ?? 0) - counted) < 1e-6 * max(1, counted), "\(date), hour \(hour)")
                }
            }
        }

        /// After a restart the backend has the same figures as the stack; a single Ctrl-C then leaves nothing behind.
        private static func again(_ stack: TestStack, _ days: [Value]) async throws {
            let up = try await stack.upAndReady()
            let running = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array
            #expect(running == days)
            let stats = try stack.get("stats")
            let alive = try stack.number(
                "observer",
                """
                SELECT sum(alive) FROM heads JOIN types ON types.id = type WHERE name <> 'HKWorkoutTypeIdentifier'
                """)
            #expect(stats["samples"]["alive"].int == Int64(alive))
            #expect(stats["samples"]["deleted"] == 0)
            #expect(stats["counters"]["refused"] == 0)
            #expect(stats["acceptedTwice"] == 0)
            let workouts = days.reduce(0) { $0 + ($1["workouts"].array?.count ?? 0) }
            #expect(workouts > 0)
            #expect(stats["workouts"]["alive"].int == Int64(workouts))
            #expect(stats["days"]["alive"].int == Int64(days.count))
            let delivered = try stack.get("days", ["user": "me"])["days"].array ?? []
            #expect(delivered.count == days.count)
            for (theirs, ours) in zip(delivered, days) {
                // Fields that are null in the table of days aren't in the document.
                for (name, value) in ours.object ?? [:] where !value.isNull && value != [:] && value != [] {
                    #expect(theirs[name] == value, "\(ours["date"]): \(name)")
                }
            }

            up.child.signal(SIGINT)
            let ended = try await up.ended(within: 10)
            #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
            #expect(stack.processes.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: stack.state + "/run") == [])
        }

        /// Importing the same content again changes nothing. Importing it in other units adds nothing, and doing that
        /// once more doesn't change anything either.
        @Test func sameExportAgain() async throws {
            try await withStack { stack in
                let metric = try await stack.generate("metric.zip", "--days", "20", "--seed", "3")
                let imperial = try await stack.generate(
                    "imperial.zip", "--days", "20", "--seed", "3", "--units", "imperial")
                let first = try await Self.imported([metric], stack)
                #expect((first.files[0]["added"].int ?? 0) > 15_000)

                let again = try await Self.imported([metric], stack)
                #expect(again.isQuiet && again.files[0]["read"] == first.files[0]["read"], "\(again.files)")
                #expect(again.newest == first.newest)
                #expect(again.days == first.days)
                #expect(again.content.differences(from: first.content) == [])

                // Numbers that were rounded when they were printed in other units may replace the earlier ones once,
                // but then they stay.
                let others = try await Self.imported([imperial], stack)
                #expect(others.isQuiet && others.files[0]["read"] == first.files[0]["read"], "\(others.files)")
                #expect(others.content.samples.count == first.content.samples.count)
                #expect(others.days.count == first.days.count)
                for (now, before) in zip(others.days, first.days) {
                    for name in ["steps", "flightsClimbed", "exerciseMinutes", "standHours", "sleep"] {
                        #expect(now[name] == before[name], "\(now["date"]): \(name)")
                    }
                    for name in ["distanceMeters", "activeEnergyKilocalories", "bodyMassKilograms"] {
                        guard let old = before[name].double else { continue }
                        #expect(abs((now[name].double ?? 0) - old) <= 2e-5 * old, "\(now["date"]): \(name)")
                    }
                }
                let settled = try await Self.imported([metric, imperial], stack)
                #expect(settled.isQuiet && settled.files.count == 2, "\(settled.files)")
                #expect(settled.newest == others.newest)
                #expect(settled.days == others.days)
                #expect(settled.content.differences(from: others.content) == [])
            }
        }

        /// What was printed and left behind by a run that imported some files.
        private struct Imported {
            var files: [Value]
            /// The newest sequence numbers of samples and of summaries.
            var newest: [Int]
            var days: [Value]
            var content: StackContent

            /// Whether everything was already known.
            var isQuiet: Bool {
                files.allSatisfy { $0["added"] == 0 && $0["known"] == $0["read"] && $0["quarantined"] == 0 }
            }
        }

        private static func imported(_ files: [String], _ stack: TestStack) async throws -> Imported {
            let words = files.flatMap { ["--import", $0] } + ["--until-idle", "--json", "--state", stack.state]
            let ended = try await stack.start(["up", "--zone", "Europe/Berlin"] + words).ended()
            #expect(ended.exit == .code(0), "\(ended.error)")
            return Imported(
                files: try ended.json()["files"].array ?? [],
                newest: [
                    try stack.number("observer", "SELECT max(seq) FROM heads"),
                    try stack.number("consolidator", "SELECT max(seq) FROM changes"),
                ], days: try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? [],
                content: try await StackContent(of: stack))
        }
    }
}
