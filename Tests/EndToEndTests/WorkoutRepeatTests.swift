import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// Workouts that an app wrote again and again, and nights with only the time in bed, followed from an export to the
    /// backend.
    @Suite struct WorkoutRepeatTests {
        private static func workout(
            _ source: String, _ start: String, _ end: String, created: String, meters: Int
        ) -> String {
            " <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" duration=\"0\" durationUnit=\"min\" "
                + "totalDistance=\"\(meters)\" totalDistanceUnit=\"m\" sourceName=\"\(source)\" "
                + "creationDate=\"2025-06-\(created):00 +0200\" startDate=\"2025-06-\(start):00 +0200\" "
                + "endDate=\"2025-06-\(end):00 +0200\"/>"
        }

        private static func sleep(_ value: String, _ start: String, _ end: String, _ source: String) -> String {
            " <Record type=\"HKCategoryTypeIdentifierSleepAnalysis\" sourceName=\"\(source)\" "
                + "startDate=\"2025-06-\(start):00 +0200\" endDate=\"2025-06-\(end):00 +0200\" "
                + "value=\"HKCategoryValueSleepAnalysis\(value)\"/>"
        }

        /// The same run six times, as written by an app that keeps syncing it; a run recorded by the watch at the same
        /// time; and one on the next day.
        private static let elements =
            (1...6).map {
                workout("Runner", "01 08:00", "01 09:0\($0 % 3)", created: "0\($0) 20:00", meters: 5000 + $0)
            } + [
                workout("Watch", "01 08:01", "01 08:59", created: "01 09:00", meters: 4990),
                workout("Runner", "02 08:00", "02 09:00", created: "02 20:00", meters: 7000),
                // On the first night, only the phone knew when the person lay down; on the second night, the watch was
                // off for an hour and a half.
                sleep("InBed", "01 23:00", "02 06:30", "iPhone"),
                sleep("AsleepCore", "02 23:00", "03 03:00", "Watch"),
                sleep("AsleepCore", "03 04:30", "03 07:00", "Watch"),
                sleep("AsleepUnspecified", "02 23:00", "03 07:00", "Ring"),
                sleep("InBed", "03 14:00", "03 15:00", "iPhone"),
            ]

        private static let document =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_DE\">\n"
            + "<ExportDate value=\"2025-06-10 08:00:00 +0200\"/>\n\(elements.joined(separator: "\n"))\n</HealthData>\n"

        private static func workouts(_ stack: TestStack) async throws -> [String: Int] {
            let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
            return Dictionary(
                uniqueKeysWithValues: days.map { ($0["date"].string ?? "", $0["workouts"].array?.count ?? 0) })
        }

        /// Runs the stack with this option until everything is delivered, and returns how many workouts the backend
        /// counts.
        private static func run(_ stack: TestStack, newest: Bool) async throws -> Value {
            let file = try stack.write(
                "newest-\(newest).json",
                "{ \"instances\": { \"workouts\": { \"configuration\": { \"newestOfRepeats\": \(newest) } } } }")
            let ended = try await stack.up("--config", file, "--until-idle").ended(within: 120)
            #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
            let up = try await stack.upAndReady("--config", file)
            let stats = try stack.get("stats")["workouts"]
            #expect(try stack.get("nights")["nights"].array?.count == 3)
            try await stack.interrupt(up)
            return stats
        }

        @Test func workoutsWrittenAgain() async throws {
            try await withStack { stack in
                let export = try stack.write("export.xml", Self.document)
                let first = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                #expect(try await Self.workouts(stack)["2025-06-01"] == 7)

                let check = try await stack.onState("check", "--json").json()["workouts"]
                #expect(check["count"] == 8 && check["distinct"] == 3 && check["newestOfRepeats"] == false)
                #expect(check["sources"] == [["source": "Runner", "workouts": 6, "distinct": 1]])
                #expect(check["days"] == [["date": "2025-06-01", "workouts": 6, "distinct": 1]])
                let other = try await stack.onState("check", "--json", "--from", "2025-06-02").json()["workouts"]
                #expect(other["count"] == 1 && other["days"] == [])
                let text = try await stack.onState("check")
                #expect(text.output.contains("Of 8 workouts 3 are distinct") && text.output.contains("newestOfRepeats"))

                let all = try await stack.onState("explain", "workouts", "2025-06-01", "--json").json()
                #expect(all["agrees"] == true && all["value"] == 7 && all["workouts"].array?.count == 7)
                let screen = try await stack.onState("explain", "workouts", "2025-06-01")
                #expect(screen.output.contains("That is the day's figure") && screen.output.contains("5 written again"))

                // With the option on, only the newest workout counts, everywhere. The sixth is the one that HealthKit
                // stored last.
                let once = try await Self.run(stack, newest: true)
                #expect(once["alive"] == 3 && once["deleted"] == 5, "\(once.json())")
                #expect(try await Self.workouts(stack) == ["2025-06-01": 2, "2025-06-02": 1, "2025-06-03": 0])
                let reported = try await stack.onState("explain", "workouts", "2025-06-01", "--json").json()
                #expect(reported["agrees"] == true && reported["value"] == 2 && reported["newestOfRepeats"] == true)
                let counted = (reported["workouts"].array ?? []).filter { $0["counted"] == true }
                #expect(counted.map { $0["distanceMeters"].double } == [5006, 4990])
                #expect(counted.map { $0["overlaps"].array?.count } == [1, 6])
                #expect(
                    counted.allSatisfy { $0["durationFrom"] == "activeTime" && $0["distanceFrom"]["from"] == "total" })
                #expect(try await stack.onState("check", "--json").json()["workouts"]["newestOfRepeats"] == true)

                // With the option off again, all of them are back.
                let back = try await Self.run(stack, newest: false)
                #expect(back["alive"] == 8, "\(back.json())")
                #expect(try await Self.workouts(stack)["2025-06-01"] == 7)
                try await Self.nights(stack)
            }
        }

        /// A night with only time in bed counts as one session; the other isn't split because the watch was off, and the
        /// ring has that time.
        private static func nights(_ stack: TestStack) async throws {
            let bed = try await stack.onState("explain", "sleep", "2025-06-02", "--json").json()
            #expect(bed["value"] == .null && bed["agrees"] == true && bed["sessions"].array?.count == 1)
            #expect(bed["sessions"].array?.first?["inBedMinutes"] == 450)
            let text = try await stack.onState("explain", "sleep", "2025-06-02")
            #expect(text.output.contains("no time asleep is known, 450 min in bed"), "\(text.output)")
            #expect(text.output.contains("That is the day's figure") && !text.output.contains("No sample"))
            let night = try await stack.onState("explain", "sleep", "2025-06-03", "--json").json()
            #expect(night["value"] == 480 && night["agrees"] == true && night["sessions"].array?.count == 2)
            let session = night["sessions"].array?.first ?? .null
            #expect(session["leftOut"] == [] && session["untoldMinutes"] == 0)
            #expect(session["sources"].array?.map { $0["asleepMinutes"].double } == [390, 90])
            let listed = try await stack.onState("nights", "--json", "--from", "2025-06-03").json().array ?? []
            #expect(listed.map { $0["sources"] } == [session["sources"], []])
            // Time in bed alone isn't a nap, but is listed.
            #expect(listed.map { $0["in_bed_minutes"].double } == [nil, 60])
            let table = try await stack.onState("nights", "--from", "2025-06-03").output
            #expect(table.contains("in bed") && !table.contains("nap"), "\(table)")
            let none = try await stack.onState("explain", "sleep", "2025-06-05")
            #expect(none.exit == .code(0) && none.output.contains("No sample"), "\(none.output)\(none.error)")
            let hours = try await stack.onState("explain", "workouts", "2025-06-01", "--hour")
            #expect(hours.exit == .code(2) && hours.error.contains("leave out --hour"))
        }
    }
}
