import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `explain`, `check` and what `status` reports about completeness, tested with real processes and a made-up
    /// export.
    @Suite struct ExplainTests {
        private static let totals = [
            "steps": "steps", "distance": "distanceMeters", "flights": "flightsClimbed",
            "active-energy": "activeEnergyKilocalories", "basal-energy": "basalEnergyKilocalories",
            "exercise": "exerciseMinutes",
        ]

        /// Totals equal the cumulative figures, to the last bit: for all days on a stopped stack, and for some on a
        /// running one.
        @Test func totalsEqualTheFigures() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "30", "--seed", "5")
                let ended = try await stack.up("--import", export, "--until-idle").ended()
                #expect(ended.exit == .code(0), "\(ended.error)")
                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                #expect(days.count >= 30)
                // The rings in the file were added up independently as the records were written.
                let rings = try await stack.onState("check", "--json").json()["rings"]
                #expect(rings["compared"] == 30 && rings["differing"] == 0, "\(rings["differences"].json())")
                var overlaps = 0
                for day in days {
                    for (metric, member) in Self.totals {
                        overlaps += try await Self.explain(metric, day, day[member], stack)
                    }
                    for (type, figure) in day["other"].object ?? [:] where figure["sum"].double != nil {
                        overlaps += try await Self.explain(type, day, figure["sum"], stack)
                    }
                }
                #expect(overlaps > 100, "the sources of this export hardly overlap")
                try await Self.others(of: days[days.count / 2], stack)

                let up = try await stack.upAndReady()
                for day in days.suffix(2) { _ = try await Self.explain("steps", day, day["steps"], stack) }
                try await Self.others(of: days[days.count / 2], stack)
                try await stack.interrupt(up)
            }
        }

        /// - Returns: how many intervals had a source that was covered by another.
        private static func explain(_ metric: String, _ day: Value, _ figure: Value, _ stack: TestStack) async throws
            -> Int
        {
            let date = try #require(day["date"].string)
            let ended = try await stack.onState("explain", metric, date, "--json")
            #expect(ended.exit == .code(0), "\(metric) \(date): \(ended.error)")
            let reported = try ended.json()
            #expect(reported["value"].double == figure.double, "\(metric) \(date)")
            #expect(reported["agrees"] == true && reported["figure"].double == figure.double, "\(metric) \(date)")
            let intervals = reported["intervals"].array ?? []
            let sum = intervals.reduce(0) { $0 + ($1["amount"].double ?? 0) }
            #expect(abs(sum - (figure.double ?? 0)) <= 1e-9 * max(1, sum), "\(metric) \(date)")
            for part in ["sources", "hours"] {
                let sum = (reported[part].array ?? []).reduce(0) { $0 + ($1["amount"].double ?? 0) }
                #expect(abs(sum - (figure.double ?? 0)) <= 1e-9 * max(1, sum), "\(metric) \(date) by \(part)")
            }
            return intervals.count { $0["covered"].array?.isEmpty == false }
        }

        /// The explanations of sleep, averages and hours are based on the same rows too.
        private static func others(of day: Value, _ stack: TestStack) async throws {
            let date = try #require(day["date"].string)
            let figures = [
                "sleep": day["sleep"]["asleepMinutes"], "heart-rate": day["heartRate"]["average"],
                "resting-heart-rate": day["heartRate"]["resting"], "hrv": day["hrvSDNNMilliseconds"],
                "stand": day["standHours"], "body-mass": day["bodyMassKilograms"],
            ]
            for (metric, figure) in figures {
                let reported = try await stack.onState("explain", metric, date, "--json").json()
                #expect(reported["value"].double == figure.double && reported["agrees"] == true, "\(metric) \(date)")
            }
            let night = try await stack.onState("explain", "sleep", date, "--json").json()["sessions"].array ?? []
            #expect(night.count { $0["main"] == true } == 1)
            let text = try await stack.onState("explain", "steps", date)
            #expect(text.exit == .code(0) && text.output.contains("That is the day's figure"), "\(text.output)")
            #expect(!text.output.contains("more rows"), "a pipe gets all")
        }

        @Test func nonsenseIsRefused() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "2")
                #expect(try await stack.up("--import", export, "--until-idle").ended().exit == .code(0))
                for (words, said) in [
                    (["stpes", "2025-04-05"], "did you mean steps?"), (["steps", "2025-02-30"], "isn't a date"),
                    (["steps", "2025-04-05", "--user", "bob"], "the only user is 'me'"),
                    (["sleep", "2025-04-05", "--hour"], "leave out --hour"), (["steps"], "<date> is missing"),
                ] {
                    let ended = try await stack.start(["explain"] + words + ["--state", stack.state]).ended()
                    #expect(ended.exit == .code(2) && ended.error.contains(said), "\(words): \(ended.error)")
                }
                for (words, said) in [
                    (["--tolerance", "much"], "give a number"), (["--from", "soon"], "isn't a date"),
                    (["--from", "2025-04-05", "--to", "2025-04-01"], "swap"),
                ] {
                    let ended = try await stack.start(["check"] + words + ["--state", stack.state]).ended()
                    #expect(ended.exit == .code(2) && ended.error.contains(said), "\(words): \(ended.error)")
                }
                let none = try await stack.onState("explain", "steps", "2001-01-01")
                #expect(none.exit == .code(0) && none.output.contains("No sample"), "\(none.output)\(none.error)")
            }
        }

        /// Apple's summaries equal our figures, except for one that was changed on purpose: only that one is found.
        /// Days that were left out count as gaps.
        @Test func plantedDifferencesAndGapsAreFound() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "20", "--seed", "4")
                let xml = String(decoding: try Archive.entry("/export.xml", of: export), as: UTF8.self)
                // Two days without steps, and one more later on; the summaries are added afterwards.
                let berlin = try ZoneTimeline(zone: "Europe/Berlin")
                let lines = xml.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
                    guard line.contains("StepCount\"") else { return !line.contains("<ActivitySummary ") }
                    return Self.dates(of: line, berlin).isDisjoint(with: ["2025-03-24", "2025-03-25", "2025-03-29"])
                }
                let cut = try stack.write("cut.xml", lines.joined(separator: "\n"))
                #expect(try await stack.up("--import", cut, "--until-idle").ended().exit == .code(0))

                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                let planted = try #require(days[days.count / 2]["date"].string)
                let summaries = try stack.write("rings.xml", Self.summaries(of: days, plantedOn: planted))
                #expect(try await stack.up("--import", summaries, "--until-idle").ended().exit == .code(0))

                let check = try await stack.onState("check", "--json").json()
                let rings = ["activeEnergyKilocalories", "exerciseMinutes", "standHours"]
                let compared = days.count { day in rings.contains { !day[$0].isNull } }
                #expect(compared >= 20 && check["rings"]["compared"].int == Int64(compared))
                #expect(check["rings"]["differing"] == 1 && check["rings"]["onlyOurs"] == 0)
                let found = try #require(check["rings"]["differences"].array?.first)
                #expect(check["rings"]["differences"].array?.count == 1)
                #expect(found["date"].string == planted && found["figure"] == "exerciseMinutes")
                #expect(abs((found["difference"].double ?? 0) + 5) < 0.01)

                let types = check["completeness"].array ?? []
                let steps = try #require(types.first { $0["type"] == "HKQuantityTypeIdentifierStepCount" })
                #expect(steps["usuallyDaily"] == true && steps["gapDays"] == 3 && steps["gaps"] == 2)
                #expect(steps["longestGap"] == ["from": "2025-03-24", "to": "2025-03-25", "days": 2])
                let rate = try #require(types.first { $0["type"] == "HKQuantityTypeIdentifierHeartRate" })
                #expect(rate["gapDays"] == 0)
                #expect(check["changedAfterFinal"] == [] && check["quarantined"] == [])

                try await Self.late(stack)
                try await Self.ranges(stack)
            }
        }

        /// The start and end dates of a record; the printed offset is the one of the export, not of the day.
        private static func dates(of line: Substring, _ zones: ZoneTimeline) -> Set<String> {
            let words = line.split(separator: "\"")
            let times = zip(words, words.dropFirst()).filter { $0.0 == " startDate=" || $0.0 == " endDate=" }
            return Set(times.compactMap { InstantText.parse($0.1).map { zones.day(of: $0).description } })
        }

        /// Summaries with our figures of each day, except that one day has five more minutes of exercise.
        private static func summaries(of days: [Value], plantedOn planted: String) -> String {
            let rows = days.compactMap { day -> String? in
                guard let date = day["date"].string else { return nil }
                func text(_ name: String, _ more: Double = 0) -> String { "\((day[name].double ?? 0) + more)" }
                let exercise = text("exerciseMinutes", date == planted ? 5 : 0)
                return
                    "<ActivitySummary dateComponents=\"\(date)\" activeEnergyBurned=\"\(text("activeEnergyKilocalories"))\" "
                    + "activeEnergyBurnedGoal=\"500\" activeEnergyBurnedUnit=\"kcal\" appleMoveTime=\"0\" appleMoveTimeGoal=\"0\" "
                    + "appleExerciseTime=\"\(exercise)\" appleExerciseTimeGoal=\"30\" "
                    + "appleStandHours=\"\(text("standHours"))\" appleStandHoursGoal=\"12\"/>"
            }
            return document(rows)
        }

        private static func document(_ rows: [String]) -> String {
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_US\">\n"
                + "<ExportDate value=\"2025-04-06 08:00:00 +0200\"/>\n\(rows.joined(separator: "\n"))\n</HealthData>\n"
        }

        /// A sample that HealthKit stored two days after it ended fills a gap late, and changes a final day.
        private static func late(_ stack: TestStack) async throws {
            let record =
                "<Record type=\"HKQuantityTypeIdentifierStepCount\" sourceName=\"Pedometer\" unit=\"count\" "
                + "creationDate=\"2025-03-27 12:10:00 +0200\" startDate=\"2025-03-25 12:00:00 +0200\" "
                + "endDate=\"2025-03-25 12:10:00 +0200\" value=\"700\"/>"
            let file = try stack.write("late.xml", document([record]))
            #expect(try await stack.up("--import", file, "--until-idle").ended().exit == .code(0))
            let check = try await stack.onState("check", "--json").json()
            let steps = (check["completeness"].array ?? []).first { $0["type"] == "HKQuantityTypeIdentifierStepCount" }
            #expect(steps?["late"] == ["count": 1, "longestSeconds": 172_800])
            #expect(steps?["gapDays"] == 2)
            #expect(check["changedAfterFinal"] == [["date": "2025-03-25", "revision": 2]])
            let status = try await stack.onState("status", "--json").json()
            let metric = (status["metrics"].array ?? []).first { $0["metric"] == "steps" }
            #expect(metric?["late"]["count"] == 1 && metric?["usuallyDaily"] == true)
            #expect(metric?["firstSample"].string != nil && metric?["daysWithSamples"].int ?? 0 >= 20)
        }

        private static func ranges(_ stack: TestStack) async throws {
            let check = try await stack.onState("check", "--json", "--from", "2025-03-26", "--to", "2025-03-31").json()
            #expect(check["rings"]["compared"] == 6)
            let steps = (check["completeness"].array ?? []).first { $0["type"] == "HKQuantityTypeIdentifierStepCount" }
            #expect(steps?["gapDays"] == 1 && steps?["late"]["count"] == 0)
            #expect(steps?["firstDay"] == "2025-03-26" && steps?["lastDay"] == "2025-03-31")
            // A running stack reports the same.
            let stopped = try await stack.onState("check", "--json")
            let up = try await stack.upAndReady()
            let running = try await stack.onState("check", "--json")
            #expect(running.exit == .code(0) && running.output == stopped.output, "\(running.error)")
            let eyes = try await stack.onState("check")
            #expect(eyes.exit == .code(0) && eyes.output.contains("StepCount"))
            try await stack.interrupt(up)
        }
    }
}
