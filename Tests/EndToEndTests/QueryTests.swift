import Foundation
import Glibc
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// The questions that people ask first, answered by one command each, on a made-up year, with the stack running and
    /// stopped.
    @Suite struct QueryTests {
        @Test func theNewcomersList() async throws {
            try await withStack { stack in
                let export = try await stack.generate(
                    "export.zip", "--days", "120", "--end", "2025-04-30", "--records", "40000")
                let up = try await stack.upAndReady("--import", export)
                try await until("all days are final at the backend") {
                    let days = try stack.get("days", ["limit": "2000"])["days"].array ?? []
                    return days.count >= 120 && days.allSatisfy { $0["final"] == true }
                }
                let running = try await answers(stack)
                try await queries(stack)
                try await stack.interrupt(up)
                // The same from a stopped stack.
                #expect(try await answers(stack) == running)
                try await queries(stack)
            }
        }

        private func rows(_ ended: Command.Ended) throws -> [[Substring]] {
            #expect(ended.exit == .code(0), "\(ended.error)")
            #expect(!ended.output.contains("\u{202F}"))
            return ended.output.split(separator: "\n").map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
        }

        private func answers(_ stack: TestStack) async throws -> [String] {
            // The hourly steps of a week in which the clocks go forward: 7 days minus an hour.
            let week = ["--from", "2025-03-24", "--to", "2025-03-30"]
            let steps = try await stack.onState(
                "days", week[0], week[1], week[2], week[3], "--hourly", "--columns", "steps", "--csv")
            let hours = try rows(steps)
            #expect(hours.first == ["date", "hour", "start_date", "steps"] && hours.count == 1 + 7 * 24 - 1)
            let sunday = hours.filter { $0[0] == "2025-03-30" }
            #expect(sunday.count == 23 && sunday[2][1] == "3" && sunday[2][2] == "2025-03-30T01:00:00Z")
            // The hours add up to the days.
            let daily = try rows(try await stack.onState("days", "--last", "2025-03-30", "--columns", "steps", "--csv"))
            let sum = sunday.compactMap { Double($0[3]) }.reduce(0, +)
            #expect(daily.count == 2 && abs((Double(daily[1][1]) ?? -1) - sum) < 0.001)

            // All heart rates of a year, in order, and as many as the store has.
            let rates = try await stack.onState("samples", "--type", "HeartRate", "--last", "2025", "--csv")
            let samples = try rows(rates)
            #expect(
                samples.first?.starts(with: ["id", "user_id", "type", "start_date", "end_date", "value", "unit"])
                    == true)
            let types = try await stack.onState("types", "--json").json().array ?? []
            let held = types.first { $0["type"] == "HKQuantityTypeIdentifierHeartRate" }?["samples"].int
            #expect(Int64(samples.count - 1) == held)
            let starts = samples.dropFirst().map { $0[3] }
            #expect(starts == starts.sorted())

            func bodies(_ more: [String]) async throws -> Int {
                let words = ["samples", "--type", "BodyMass", "--type", "Height", "--csv"] + more
                return try rows(try await stack.start(words + ["--state", stack.state]).ended()).count - 1
            }
            let (typed, measured) = (try await bodies(["--by-hand", "yes"]), try await bodies(["--by-hand", "no"]))
            #expect(try await bodies([]) == typed + measured && typed > 0 && measured > 0)

            let nights = try rows(try await stack.onState("nights", "--last", "2025-04", "--csv"))
            #expect(nights.count > 25 && nights.dropFirst().allSatisfy { $0[2].hasPrefix("2025-04-") })

            let workouts = try await stack.onState("workouts", "--json").json().array ?? []
            let way = try #require(workouts.first { ($0["route_points"].int ?? 0) > 2 }?["id"].string)
            let track = try await stack.onState("workouts", "--gpx", String(way.prefix(13)))
            #expect(track.exit == .code(0) && track.output.contains("<trkpt lat="), "\(track.error)")
            // Where a person was is for that person alone.
            let file = stack.state + ".gpx"
            defer { unlink(file) }
            let written = try await stack.onState("workouts", "--gpx", way, "--output", file)
            #expect(written.exit == .code(0), "\(written.error)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == track.output)
            let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(rights == 0o600)
            return [steps.output, rates.output, track.output]
        }

        private func queries(_ stack: TestStack) async throws {
            func number(_ sql: String) async throws -> Int64? {
                let ended = try await stack.onState("query", sql, "--json")
                #expect(ended.exit == .code(0), "\(ended.error)")
                return try ended.json().array?.first?["n"].int
            }
            // The views contain what the commands print.
            let samples = try await stack.onState("samples", "--ndjson").output.split(separator: "\n").count
            #expect(try await number("SELECT count(*) AS n FROM samples") == Int64(samples))
            #expect(try await number("SELECT sum(samples) AS n FROM sources") == Int64(samples))
            let figures = "steps,heart_rate_average,sleep_asleep_minutes"
            let days = try await stack.onState("days", "--all", "--csv", "--columns", figures).output
            let select = "SELECT date, \(figures) FROM days ORDER BY date"
            #expect(try await stack.onState("query", select, "--csv").output == days)
            let header = try await stack.onState("days", "--csv").output.split(separator: "\n").first
            let all = try await stack.onState("query", "SELECT * FROM days LIMIT 1", "--csv").output
            #expect(all.split(separator: "\n").first == header)
            let hour = "SELECT count(*) AS n FROM hours WHERE date = '2025-03-30'"
            #expect(try await number(hour) == 23)
            #expect(try await number("SELECT count(*) AS n FROM nights") ?? 0 > 100)
            #expect(try await number("SELECT count(*) AS n FROM workouts WHERE duration_seconds > 0") ?? 0 > 5)

            let listed = try await stack.onState("query", "--tables", "--json").json().array ?? []
            let columns = listed.filter { $0["table"] == "days" }.compactMap { $0["column"].string }
            #expect(header.map { $0.split(separator: ",").map(String.init) } == columns)

            let view = try await stack.onState("query", "DELETE FROM days")
            #expect(view.exit == .code(2) && view.error.contains("only read") && view.error.contains("SELECT"))
            let write = try await stack.onState("query", "DELETE FROM sample_rows")
            #expect(write.exit == .code(2) && write.error.contains("only read"), "\(write.error)")
            let wrong = try await stack.onState("query", "SELECT x FROM nichts")
            #expect(wrong.exit == .code(2) && wrong.error.contains("samples, days, hours"), "\(wrong.error)")
        }

        @Test func mistakesAreReported() async throws {
            try await withStack { stack in
                func check(_ words: [String], _ said: String) async throws {
                    let ended = try await stack.start(words + ["--state", stack.state]).ended()
                    #expect(ended.exit != .code(0) && ended.error.contains(said), "\(words): \(ended.error)")
                }
                try await check(["samples", "--type", "HartRate"], "did you mean HeartRate?")
                try await check(["samples", "--type", "Workout"], "healthbus workouts")
                try await check(["query", "SELECT 1"], "there is no file")
                try await check(["query"], "there is no statement")
                try await check(["query", "SELECT 1", "--tables"], "can't be combined")
                try await check(["workouts", "--gpx", "0"], "no workout")
                try await check(["days", "--last", "week"], "no state folder")
                // These arguments are checked only if there is a stack.
                #expect(try await stack.up("--until-idle").ended().exit == .code(0))
                try await check(["days", "--last", "soon"], "isn't a date")
                try await check(["days", "--csv", "--columns", "step"], "did you mean steps?")
                try await check(["days", "--csv", "--json"], "can't be combined")
                try await check(["days", "--all", "--last", "week"], "--all can't be combined with other dates")
                let none = try stack.write("none.json", #"{ "instances": { "backend": null, "uploader": null } }"#)
                let query = try await stack.onState("query", "SELECT 1", "--config", none)
                #expect(
                    query.error.contains("need a reference backend") && query.error.contains("\"plugin\": \"backend\""),
                    "\(query.error)")
            }
        }
    }
}
