import Foundation
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// One small life, sent through whole stacks as an export, from Health Auto Export and via `/v1/samples`, in two
    /// orders.
    @Suite struct ThreeWaysTests {
        private struct Walk {
            let number: Int
            var start: Int64 { 1_743_060_000 + Int64(number) * 1800 }
            var uuid: String {
                UUID(uuid: (1, 2, 3, 4, 5, 6, 0x40, 8, 0x80, 0, 0, 0, 0, 0, 9, UInt8(number))).uuidString
            }
            var value: Int { 10 + number % 7 }

            static func date(_ second: Int64) -> String {
                InstantText.iso8601(Instant(seconds: second + 3600)).dropLast().replacing("T", with: " ") + " +0100"
            }

            var inExport: String {
                """
                 <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" \
                creationDate="\(Self.date(start + 60))" startDate="\(Self.date(start))" endDate="\(Self.date(start + 60))" \
                value="\(value)"/>
                """
            }
            var inAutoExport: String {
                #"{"date":"\#(Self.date(start))","start":"\#(Self.date(start))","end":"\#(Self.date(start + 60))","#
                    + #""qty":\#(value),"source":"Watch"}"#
            }
            var inProgram: String {
                #"{"uuid":"\#(uuid)","type":"HKQuantityTypeIdentifierStepCount","start":\#(start).25,"end":\#(start + 60).5,"#
                    + #""value":\#(value),"source":"Watch"}"#
            }
        }

        private static let walks = (0..<60).map(Walk.init)

        /// A run recorded by an app, which ends at this time.
        private static func run(_ end: Int64) -> String {
            " <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" sourceName=\"Runner\" "
                + "startDate=\"\(Walk.date(1_743_062_400))\" endDate=\"\(Walk.date(end))\"/>"
        }

        private static func export(_ day: Int64, _ elements: [String]) -> String {
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<HealthData locale=\"en_DE\">\n <ExportDate value=\""
                + Walk.date(1_743_160_000 + day * 86_400) + "\"/>\n" + elements.joined(separator: "\n")
                + "\n</HealthData>\n"
        }

        private static func autoExport(_ metrics: String, workouts: String = "") -> [UInt8] {
            Array(#"{"data":{"metrics":[\#(metrics)],"workouts":[\#(workouts)]}}"#.utf8)
        }

        private enum Way: CaseIterable { case export, autoExport, samples }

        private static func send(_ way: Way, _ stack: TestStack, _ token: String) async throws {
            switch way {
            case .export:
                let elements = walks.map(\.inExport) + [run(1_743_064_200)]
                let file = try stack.write("export.xml", export(1, elements))
                #expect(try await stack.onState("import", file, "--user", "anna").exit == .code(0))
            case .autoExport:
                let list = walks.map(\.inAutoExport).joined(separator: ",")
                let body = autoExport(
                    #"{"name":"step_count","units":"count","data":[\#(list)]},"#
                        + #"{"name":"sleep_analysis","units":"hr","data":[{"sleepStart":"2025-03-27 23:00:00 +0100","#
                        + #""sleepEnd":"2025-03-28 06:00:00 +0100","totalSleep":6.5,"asleep":6.5,"inBed":0,"source":"Watch"}]}"#,
                    workouts:
                        #"{"name":"Outdoor Run","start":"\#(Walk.date(1_743_062_400))","end":"\#(Walk.date(1_743_064_200))","duration":1800}"#
                )
                var headers = ["Content-Type": "application/json"]
                headers["Automation-Aggregation"] = "none"
                let answer = try stack.push("POST", "/v1/health-auto-export", body, token: token, headers: headers)
                #expect(try answer.status == 200 && Value(json: answer.body)["quarantined"] == 0, "\(answer.text)")
            case .samples:
                let body =
                    #"{"samples":[\#(walks.map(\.inProgram).joined(separator: ","))],"deleted":["\#(walks[7].uuid)"]}"#
                #expect(try stack.push("POST", "/v1/samples", Array(body.utf8), token: token).status == 200)
            }
        }

        private static func days(_ stack: TestStack) async throws -> [Value] {
            (try await stack.onState("days", "--user", "anna", "--json", "--from", "1990-01-01").json().array ?? []).map
            { day in
                [
                    "date": day["date"], "steps": day["steps"], "asleep": day["sleep"]["asleepMinutes"],
                    "workouts": .array(
                        (day["workouts"].array ?? []).map { ["id": $0["id"], "duration": $0["durationSeconds"]] }),
                ]
            }
        }

        private static func samples(_ stack: TestStack) throws -> Int {
            try stack.number("observer", "SELECT sum(alive) FROM heads")
        }

        @Test func theSameDaysWhateverComesFirst() async throws {
            var reported: [[Value]] = []
            for ways in [[Way.export, .autoExport, .samples], [.samples, .autoExport, .export]] {
                try await withStack { stack in
                    let up = try await stack.upAndReady()
                    let token = try await stack.token("--user", "anna", "--device", "phone")
                    for way in ways { try await Self.send(way, stack, token) }
                    #expect(try await stack.onState("sync").exit == .code(0))
                    let steps = Self.walks.reduce(0) { $0 + $1.value } - Self.walks[7].value
                    try await until("the days of \(ways)", every: 200) {
                        let days = try await Self.days(stack)
                        return days.compactMap { $0["steps"].double }.reduce(0, +) == Double(steps)
                            && days.contains { $0["asleep"] == 390 }
                            && days.reduce(0) { $0 + ($1["workouts"].array?.count ?? 0) } == 1
                    }
                    reported.append(try await Self.days(stack))
                    // All walks but one, the run, and the app's totals for the night.
                    #expect(try Self.samples(stack) == 61)
                    if ways.first == .export { try await Self.ask(stack, token) }
                    #expect(try await stack.interrupt(up).exit.isSuccess)
                }
            }
            #expect(reported.count == 2 && reported[0] == reported[1])
        }

        /// What the tools report about it, and about samples that arrive later.
        private static func ask(_ stack: TestStack, _ token: String) async throws {
            let night = try await stack.onState("explain", "sleep", "2025-03-28", "--user", "anna")
            #expect(night.output.contains("390 min asleep") && night.output.contains("an app added up"), "\(night)")
            let all = try await stack.onState("explain", "sleep", "2025-03-28", "--user", "anna", "--json").json()
            #expect(
                all["statistics"] == 1 && all["agrees"] == true && all["sessions"].array?.first?["statistic"] == true)
            let listed = try await stack.onState("imports", "--json").json()["devices"]
            #expect(
                listed == [["user": "anna", "device": "phone", "ways": ["/v1/health-auto-export", "/v1/samples"]]])

            // Quarantined input from a push is reported, and can be read again.
            let odd = #"{"samples":[{"type":"HKQuantityTypeIdentifierStepCount","start":"soon","value":7}]}"#
            #expect(try stack.push("POST", "/v1/samples", Array(odd.utf8), token: token).status == 200)
            let kept = try await stack.onState("quarantine", "list")
            #expect(kept.output.contains("/v1/samples, item 1") && kept.output.contains("StepCount"), "\(kept.output)")
            let tried = try await stack.onState("quarantine", "retry", "--all", "--json").json()
            #expect(tried == ["tried": 1, "passed": 0, "still": 1])
        }

        /// The app that recorded a run changes when it ended, and a newer export contains only the new version.
        @Test func anEditedWorkoutReplacesItsEarlierVersion() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                for (day, end) in [(Int64(1), Int64(1_743_064_200)), (2, 1_743_064_500)] {
                    let file = try stack.write("export-\(day).xml", Self.export(day, [Self.run(end)]))
                    #expect(try await stack.onState("import", file).exit == .code(0))
                }
                #expect(try await stack.onState("sync").exit == .code(0))
                try await until("the day with one run", every: 200) {
                    let day = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array?.first {
                        $0["date"] == "2025-03-27"
                    }
                    return day?["workouts"].array?.map { $0["durationSeconds"].double } == [2100]
                }
                let reported = try await stack.onState("explain", "workouts", "2025-03-27")
                #expect(
                    reported.output.contains(
                        "1 replaced on 2025-03-30 an earlier version that ended 2025-03-27T09:30:00"),
                    "\(reported.output)")
                let json = try await stack.onState("explain", "workouts", "2025-03-27", "--json").json()
                #expect(json["workouts"].array?.first?["replaced"].array?.count == 1 && json["agrees"] == true)
                #expect(try await stack.onState("check", "--json").json()["workouts"]["versions"] == [])

                // An export that contains both shows that they are two workouts.
                let both = try stack.write(
                    "both.xml", Self.export(3, [Self.run(1_743_064_200), Self.run(1_743_064_500)]))
                #expect(try await stack.onState("import", both).exit == .code(0))
                let check = try await stack.onState("check", "--json").json()["workouts"]
                #expect(check["versions"].array?.map { $0["ends"].array?.count } == [2], "\(check)")
                let text = try await stack.onState("check")
                #expect(text.output.contains("may be versions of one workout"), "\(text.output)")
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
