import Foundation
import HTTP
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// What a person enters, by commands and over HTTP, reaches the days and the backend; so do conflicts that a person
    /// decides.
    @Suite struct OwnEventsTests {
        private func other(_ stack: TestStack, _ type: String) async throws -> Value {
            let days = try await stack.onState("days", "--json", "--from", "2025-04-01", "--to", "2025-04-01").json()
            return days.array?.first?["other"][type] ?? .null
        }

        private func atBackend(_ stack: TestStack, _ type: String) throws -> [Value] {
            (try stack.get("samples", ["type": type])["samples"].array ?? []).filter { $0["deleted"] != true }
        }

        private func done(_ stack: TestStack, _ words: String...) async throws -> Command.Ended {
            let ended = try await stack.start(words + ["--state", stack.state]).ended()
            #expect(ended.exit == .code(0), "\(words): \(ended.error)")
            return ended
        }

        @Test func whatIsEnteredByCommandIsInDaysAndAtTheBackend() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let type = try await done(stack, "types", "add", "coffee", "--unit", "cups")
                #expect(type.output.contains("Made coffee."))
                let added = try await done(
                    stack, "events", "add", "coffee", "2", "--at", "2025-04-01T08:15", "--note", "black", "--id", "a-1")
                #expect(added.output == "Entered coffee, as a-1.\n")
                _ = try await done(stack, "events", "add", "coffee", "1", "--at", "2025-04-01T12:00", "--id", "b-1")
                try await until("the day") { try await other(stack, "coffee")["sum"].double == 3 }
                #expect(try await stack.onState("days").output.contains("coffee 3 cups"))
                let explained = try await done(stack, "explain", "coffee", "2025-04-01", "--json").json()
                #expect(explained["value"].double == 3 && explained["agrees"] == true, "\(explained.json())")
                // Both are instants, which take no time.
                let reported = try await done(stack, "explain", "coffee", "2025-04-01").output
                #expect(reported.contains("Each sample is an instant, and counts in full."), "\(reported)")
                #expect(
                    !reported.contains("0 s") && !reported.contains("Time") && !reported.contains("evenly"),
                    "\(reported)")
                try await until("the backend") { try atBackend(stack, "coffee").count == 2 }
                #expect(try atBackend(stack, "coffee").allSatisfy { $0["sourceType"] == "manual" })

                let changed = try await done(stack, "events", "change", "a-1", "--value", "5")
                #expect(changed.output == "a-1 is in version 2 now.\n")
                try await until("the changed day") { try await other(stack, "coffee")["sum"].double == 6 }
                try await until("the changed sample") {
                    try atBackend(stack, "coffee").compactMap { $0["value"].double }.sorted() == [1, 5]
                }
                let late = try await stack.onState("events", "change", "a-1", "--value", "7", "--if-version", "1")
                #expect(late.exit != .code(0) && late.error.contains("its version is 2"), "\(late.error)")

                _ = try await done(stack, "events", "remove", "b-1")
                try await until("the day without it") { try await other(stack, "coffee")["sum"].double == 5 }
                try await until("the backend without it") { try atBackend(stack, "coffee").count == 1 }
                _ = try await done(stack, "types", "change", "coffee", "--aggregation", "latest")
                try await until("the other figure") {
                    let figure = try await other(stack, "coffee")
                    return figure["mostRecent"].double == 5 && figure["sum"].isNull
                }
                #expect(try await stack.interrupt(up).exit.isSuccess)

                // A stopped stack shows the events, and accepts more.
                let listed = try await stack.onState("events", "list", "--json").json()["events"].array ?? []
                #expect(listed.map { $0["id"] } == ["a-1"] && listed.first?["note"] == "black")
                _ = try await done(stack, "events", "add", "coffee", "4", "--at", "2025-04-02T08:00", "--id", "c-1")
                #expect(try await done(stack, "events", "list").output.contains("2025-04-02T08:00:00+02:00"))
                #expect(try await done(stack, "types", "own").output.contains("latest"))
                // Nothing that people enter appears in the log: it is private.
                #expect(!up.error.contains("black") && !up.error.contains("a-1"))
            }
        }

        @Test func overHTTPAnEventIsMadeChangedAndRemoved() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token("--scope", "admin")
                func send(_ method: String, _ path: String, _ body: String = "") throws -> HTTPResponse {
                    try stack.push(method, path, Array(body.utf8), token: token)
                }
                let made = try send(
                    "POST", "/v1/events",
                    #"{"id": "w", "type": "BodyMass", "start": "2025-04-01T07:00:00+02:00", "value": 71.4}"#)
                #expect(made.status == 201, "\(made.text)")
                try await until("the backend") {
                    try atBackend(stack, "HKQuantityTypeIdentifierBodyMass").first?["value"].double == 71.4
                }
                #expect(try send("PATCH", "/v1/events/w", #"{"value": 72, "version": 1}"#).status == 200)
                #expect(try send("PATCH", "/v1/events/w", #"{"value": 73, "version": 1}"#).status == 409)
                try await until("the change") {
                    try atBackend(stack, "HKQuantityTypeIdentifierBodyMass").first?["value"].double == 72
                }
                #expect(try Value(json: send("GET", "/v1/events/w").body)["version"] == 2)
                #expect(try send("DELETE", "/v1/events/w").status == 200)
                try await until("the end") { try atBackend(stack, "HKQuantityTypeIdentifierBodyMass").isEmpty }
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        @Test func aResolvedConflictReachesTheBackend() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let token = try await stack.token()
                func steps(_ value: Int) throws {
                    let body = """
                        {"samples": [{"uuid": "01977F3A-5C00-8ABC-9DEF-0123456789AB", "source": "Watch",
                         "value": \(value), "type": "HKQuantityTypeIdentifierStepCount",
                         "start": 1743494400, "end": 1743494460}]}
                        """
                    #expect(try stack.push("POST", "/v1/samples", Array(body.utf8), token: token).status == 200)
                }
                try steps(100)
                try steps(250)
                let listed = try await done(stack, "conflicts", "list", "--json").json().array ?? []
                let values = ["kept", "other"].map { listed.first?[$0]["value"].double }
                #expect(values == [100, 250])
                let id = "\(listed.first?["id"].int ?? 0)"
                let unsaid = try await stack.onState("conflicts", "resolve", id)
                #expect(unsaid.error.contains("give --keep stored or --keep other"), "\(unsaid.error)")
                let reported = try await done(stack, "conflicts", "resolve", id, "--keep", "other", "--json").json()
                #expect(reported["kept"] == "other")
                #expect(try await done(stack, "conflicts").output == "No conflicts.\n")
                try await until("the backend") {
                    try atBackend(stack, "HKQuantityTypeIdentifierStepCount").map { $0["value"].double } == [250]
                }
                let none = try await stack.onState("conflicts", "resolve", "77", "--keep", "other")
                #expect(none.error.contains("there is no conflict 77"), "\(none.error)")
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
