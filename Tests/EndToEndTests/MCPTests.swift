import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `healthbus mcp` over pipes: its answers match those of the commands, both on a running and on a stopped stack.
    @Suite struct MCPTests {
        @Test func answersAreThoseOfTheCommands() async throws {
            try await withStack { stack in
                let export = try await stack.generate(
                    "export.zip", "--days", "60", "--end", "2025-04-30", "--records", "20000")
                let up = try await stack.upAndReady("--import", export)
                try await until("all days are final at the backend") {
                    let days = try stack.get("days", ["limit": "2000"])["days"].array ?? []
                    return days.count >= 60 && days.allSatisfy { $0["final"] == true }
                }
                let running = try await ask(stack, expecting: "running")
                try await stack.interrupt(up)
                #expect(try await ask(stack, expecting: "stopped") == running)
                try await saysWhereItEnds(stack)
            }
        }

        /// A stopped stack's answers say where its data ends.
        private func saysWhereItEnds(_ stack: TestStack) async throws {
            let host = try await AssistantHost(stack)
            _ = try await host.initialize()
            let notes = try await host.answer("get_days", ["dates": "2025-04-02"])["notes"].array ?? []
            #expect(
                notes.contains { $0.string?.contains("is stopped, and its newest sample ends at 2025-0") == true },
                "\(notes)")
            #expect(try await host.end() == .code(0))
        }

        /// - Returns: the answers that mustn't depend on whether the stack runs.
        private func ask(_ stack: TestStack, expecting state: Value) async throws -> [Value] {
            let host = try await AssistantHost(stack)
            let server = try await host.initialize()
            #expect(server["serverInfo"]["name"] == "healthbus")
            let tools = try await host.ask("tools/list")["result"]["tools"].array ?? []
            #expect(tools.count == 9 && tools.allSatisfy { $0["annotations"]["readOnlyHint"] == true })

            let days = try await days(stack, host)
            let hours = try await host.answer("get_hours", ["dates": "2025-03-30", "figures": ["steps"]])
            // The clock was set forward.
            #expect(hours["days"].array?.first?["hoursInDay"] == 23)
            #expect(hours["days"].array?.first?["hours"].array?.count == 23)
            let nights = try await events(stack, host, "nights", "get_nights")
            let workouts = try await events(stack, host, "workouts", "get_workouts")
            let explained = try await explanation(stack, host)
            let compared = try await comparison(host)
            let samples = try await samples(stack, host)
            let metrics = try await host.answer("list_metrics")
            #expect(metrics["figures"].array?.contains { $0["name"] == "steps" && $0["unit"] == "count" } == true)
            let status = try await host.answer("get_status")
            let processes = (status["processes"].array ?? []).map { $0["state"] }
            #expect(processes.allSatisfy { $0 == (state == "running" ? "ready" : "stopped") }, "\(processes)")

            let answers = [days, hours, nights, workouts, explained, compared, samples, metrics, status]
            for answer in answers {
                #expect(answer["stack"] == state && answer["zone"] == "Europe/Berlin" && answer["user"] == "me")
                #expect(LocalDay(answer["today"].string ?? "") != nil && answer["leftOut"].object != [:])
            }
            #expect(try await host.end() == .code(0))
            #expect(host.error == "")
            return [
                days["days"], hours["days"], nights["events"], workouts["events"], explained["explanation"],
                compared["figures"], samples["samples"], metrics["types"],
            ]
        }

        private func days(_ stack: TestStack, _ host: AssistantHost) async throws -> Value {
            let printed = try await stack.onState("days", "--json", "--last", "2025").json().array ?? []
            let newest = try await host.answer("get_days")
            #expect(newest["days"].array?.map { $0["date"] } == printed.suffix(7).map { $0["date"] })
            let all = try await host.answer("get_days", ["dates": "2025", "limit": 366])
            #expect(all["days"].array?.count == printed.count && all["leftOut"]["days"].isNull)
            for (day, wanted) in zip(all["days"].array ?? [], printed) {
                #expect(day["figures"]["steps"] == wanted["steps"], "\(wanted["date"])")
                #expect(day["figures"]["heart_rate_average"] == wanted["heartRate"]["average"], "\(wanted["date"])")
                #expect(day["final"] == wanted["final"] && day["zone"] == wanted["zone"])
            }
            #expect(all["units"]["distance_meters"] == "m" && all["units"]["body_mass_kilograms"] == "kg")
            // There are no days for January, which is reported rather than silently left out.
            #expect((all["missing"]["days"].int ?? 0) >= 60)
            let few = try await host.answer("get_days", ["dates": "2025", "limit": 3])
            #expect(few["days"].array?.count == 3 && few["leftOut"]["days"] == .integer(Int64(printed.count - 3)))
            #expect(few["leftOut"]["how"].string?.contains("limit") == true)
            return newest
        }

        private func events(
            _ stack: TestStack, _ host: AssistantHost, _ command: String, _ tool: String
        ) async throws -> Value {
            let printed = try await stack.onState(command, "--json", "--last", "2025-04").json().array ?? []
            let answer = try await host.answer(tool, ["dates": "2025-04", "limit": 366])
            #expect(!printed.isEmpty && answer["events"].array?.map { $0["id"] } == printed.map { $0["id"] })
            for (event, wanted) in zip(answer["events"].array ?? [], printed) {
                #expect(event["final"] == true && event["asleep_minutes"] == wanted["asleep_minutes"])
                let start = event["start"].string.flatMap { InstantText.parse($0) }?.flooredSecond
                #expect(start == wanted["start_date"].string.flatMap { InstantText.parse($0) }?.flooredSecond)
            }
            return answer
        }

        private func explanation(_ stack: TestStack, _ host: AssistantHost) async throws -> Value {
            let printed = try await stack.onState("explain", "steps", "2025-04-04", "--json").json()
            let answer = try await host.answer("explain_figure", ["metric": "steps", "date": "2025-04-04"])
            for name in ["value", "agrees", "rule", "sources", "zone"] {
                #expect(answer["explanation"][name] == printed[name], "\(name)")
            }
            #expect(answer["unit"] == "count" && answer["dayState"].string?.hasPrefix("final") == true)
            #expect((answer["explanation"]["intervals"].array?.count ?? 99) <= 25)
            return answer
        }

        private func comparison(_ host: AssistantHost) async throws -> Value {
            let answer = try await host.answer(
                "compare_spans", ["first": "2025-03", "second": "2025-04", "figures": ["steps"]])
            let steps = answer["figures"]["steps"]
            #expect(answer["second"]["daysCounted"] == 30 && answer["first"]["daysInSpan"] == 31)
            let part = try await host.answer(
                "compare_spans",
                ["first": "2025-03-01..2025-03-25", "second": "2025-04-01..2025-04-25", "figures": ["steps"]])
            #expect(part["first"]["daysInSpan"] == 25 && part["second"]["daysInSpan"] == 25)
            let april = try await host.answer("get_days", ["dates": "2025-04", "figures": ["steps"], "limit": 31])
            let numbers = (april["days"].array ?? []).compactMap { $0["figures"]["steps"].double }
            let mean = numbers.reduce(0, +) / Double(numbers.count)
            #expect(abs((steps["second"]["mean"].double ?? -1) - mean) < 1e-6)
            #expect(
                steps["second"]["max"].double == numbers.max() && steps["second"]["days"].int == Int64(numbers.count))
            return answer
        }

        private func samples(_ stack: TestStack, _ host: AssistantHost) async throws -> Value {
            let printed =
                try await stack.onState("samples", "--type", "HeartRate", "--last", "2025", "--json")
                .json().array ?? []
            let first = try await host.answer(
                "search_samples", ["types": ["HeartRate"], "dates": "2025", "limit": 10])
            #expect(first["samples"].array?.map { $0["id"] } == printed.prefix(10).map { $0["id"] })
            #expect(first["total"] == .integer(Int64(printed.count)) && first["totalIsExact"] == true)
            let next = try await host.answer(
                "search_samples", ["types": ["HeartRate"], "dates": "2025", "limit": 5, "skip": 10])
            #expect(next["samples"].array?.map { $0["id"] } == printed.dropFirst(10).prefix(5).map { $0["id"] })
            #expect(first["samples"].array?.allSatisfy { $0["unit"] == "count/min" } == true)
            return first
        }

        /// A day that isn't over is marked as such wherever its figures appear.
        @Test func halfADayIsNoDay() async throws {
            try await withStack { stack in
                // The data ends today, since the store would quarantine samples from a later day.
                let export = try await stack.generate("export.zip", "--days", "5", "--end", "today")
                let up = try await stack.upAndReady("--import", export)
                try await until("there are days", every: 200) {
                    try await stack.onState("days", "--json").json().array?.isEmpty == false
                }
                let host = try await AssistantHost(stack)
                _ = try await host.initialize()
                let answer = try await host.answer("get_days", ["dates": "7d"])
                for day in answer["days"].array ?? [] {
                    let isToday = day["date"] == answer["today"]
                    #expect(!isToday || day["final"] == false && day["state"].string?.contains("hours so far") == true)
                    #expect(
                        !isToday || (answer["notes"].array ?? []).contains { $0.string?.contains("whole days") == true }
                    )
                    #expect((answer["notFinal"].array ?? []).contains(day["date"]) == (day["final"] == false))
                }
                let today = try await host.answer("compare_spans", ["first": "yesterday", "second": "today"])
                #expect(today["second"]["daysCounted"] == 0)
                #expect(try await host.end() == .code(0))
                try await stack.interrupt(up)
            }
        }

        @Test func mistakesAreReported() async throws {
            try await withStack { stack in
                let host = try await AssistantHost(stack, "--user", "me")
                _ = try await host.initialize()
                // Before there is any data, the server answers, and says what to do.
                let none = try await host.call("get_days")
                #expect(none["isError"] == true)
                #expect(none["content"].array?.first?["text"].string?.contains("healthbus up --import FILE") == true)

                let export = try await stack.generate("export.zip", "--days", "3")
                #expect(try await stack.up("--import", export, "--until-idle").ended(within: 300).exit == .code(0))
                for (tool, arguments, said) in [
                    ("get_days", ["dates": "soon"], "isn't a date"), ("get_days", ["figures": ["stps"]], "steps"),
                    ("get_days", ["dates": "7d", "from": "today"], "leave out from"),
                    ("get_days", ["from": "2025-02-01", "to": "2025-01-01"], "swap"),
                    ("get_hours", ["limit": 99], "from 1 to 31"), ("get_nights", ["dates": 7], "must be a string"),
                    ("explain_figure", ["metric": "stps", "date": "yesterday"], "did you mean steps?"),
                    ("explain_figure", ["metric": "steps", "date": "7d"], "more than a day"),
                    ("compare_spans", ["first": "7d"], "needs second"),
                    ("compare_spans", ["first": "7d", "second": "7d", "figures": ["workouts"]], "isn't a number"),
                    ("search_samples", ["types": ["HartRate"]], "did you mean HeartRate?"),
                    ("search_samples", ["types": ["Workout"]], "get_workouts"),
                    ("get_status", ["x": 1], "it takes none"),
                ] as [(String, Value, String)] {
                    let result = try await host.call(tool, arguments)
                    let text = result["content"].array?.first?["text"].string ?? ""
                    #expect(result["isError"] == true && text.contains(said), "\(tool) \(arguments.json()): \(text)")
                    #expect(!text.contains(stack.folder))
                }
                // The names of other users aren't revealed.
                let stranger = try await AssistantHost(stack, "--user", "nobody")
                _ = try await stranger.initialize()
                let refused = try await stranger.call("get_days")
                #expect(refused["isError"] == true && !refused.json().contains("'me'"))
                #expect(try await stranger.end() == .code(0))
                #expect(try await host.end() == .code(0))
                #expect(host.error == "")
            }
        }

        /// Whatever input it gets, the server still answers the next question.
        @Test func itOutlivesHostileInput() async throws {
            try await withStack { stack in
                let host = try await AssistantHost(stack)
                _ = try await host.initialize()
                try host.write(String(repeating: "x", count: 3 << 20) + "\n")
                try host.write(String(repeating: "[", count: 900_000) + "\n")
                try host.write("\u{0}\n{\n[]\n")
                #expect(try await host.ask("ping")["result"] == [:])
                let codes = try host.messages().compactMap { $0["error"]["code"].int }
                #expect(codes == [-32600, -32700, -32700, -32700, -32600])
                // A question just before the end of the input is answered, even without a line feed.
                try host.write(#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#)
                #expect(try await host.end() == .code(0))
                #expect(try await host.message(with: "last")["result"] == [:])
            }
        }

        @Test func theSetupStartsIt() async throws {
            try await withStack { stack in
                let printed = try await stack.onState("mcp", "--setup").json()["mcpServers"]["healthbus"]
                #expect(
                    printed["command"].string == Programs.healthbus || printed["command"].string?.hasPrefix("/") == true
                )
                #expect(printed["args"] == ["mcp", "--state", .string(stack.state)])
            }
        }
    }
}
