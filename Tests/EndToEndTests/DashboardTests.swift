import Configuration
import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

/// The dashboard of a running stack: its numbers match those of the commands, and a process that hangs stands out.
extension EndToEnd {
    @Suite struct DashboardTests {
        private struct Page {
            let client: HTTPClient

            func get(_ path: String, _ query: [String: String] = [:]) throws -> Value {
                let answer = try client.send(HTTPRequest(path: path, query: query), timeout: Patience.seconds)
                guard answer.status == 200 else { return ["status": .integer(Int64(answer.status))] }
                return try Value(json: answer.body)
            }
        }

        private func page(_ stack: TestStack) async throws -> Page {
            let opened = try await stack.onState("open", environment: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
            let url = opened.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let status = try await stack.onState("status", "--json").json()
            #expect(status["dashboard"]["address"].string == url)
            return Page(client: try HTTPClient(base: url))
        }

        @Test func itsNumbersAreTheCommands() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "12", "--seed", "5")
                let up = try await stack.upAndReady("--import", export)
                let page = try await page(stack)
                try await until("all days are there", every: 200) {
                    let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json()
                    let series = try page.get("/api/series", ["figures": "steps"])
                    let isFinal = days.array?.allSatisfy { $0["final"] == true } ?? false
                    return isFinal && days.array?.count ?? 0 >= 12 && series["dates"].array?.count == days.array?.count
                }
                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json()
                let range = [
                    "from": days.array?.first?["date"].string ?? "", "to": days.array?.last?["date"].string ?? "",
                ]
                #expect(try page.get("/api/days", range)["days"] == days)
                let series = try page.get("/api/series", range)
                for figure in try page.get("/api/figures")["figures"].array ?? [] where figure["form"] == "number" {
                    let path = figure["path"].string ?? ""
                    let column = (days.array ?? []).map { day in
                        path.split(separator: ".").reduce(day) { $0[String($1)] }.double
                    }
                    #expect((series["values"][path].array ?? []).map(\.double) == column, "\(path)")
                }
                #expect(
                    try page.get("/api/nights", range)["nights"]
                        == (try await stack.onState("nights", "--json").json()))
                let workouts = try await stack.onState("workouts", "--json").json()
                #expect(try page.get("/api/workouts")["workouts"] == workouts)
                let id = try #require(workouts.array?.first?["id"].string)
                #expect(try page.get("/api/workout", ["id": id])["workout"]["id"].string == id)
                let date = range["to"] ?? ""
                #expect(
                    try page.get("/api/explain", ["date": date, "figure": "steps"])
                        == (try await stack.onState("explain", "steps", date, "--json").json()))
                let pipeline = try page.get("/api/pipeline")
                #expect(pipeline["nodes"].array?.allSatisfy { $0["state"] == "ready" } == true, "\(pipeline["nodes"])")
                // A stage that hangs stands out.
                let pid = try #require(try stack.pid(of: "steps"))
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                try await until("steps stands out") {
                    let nodes = try page.get("/api/pipeline")["nodes"].array ?? []
                    return nodes.first { $0["name"] == "steps" }?["state"] == "hanging"
                        && nodes.count { $0["state"] == "hanging" } == 1
                }
                kill(pid, SIGCONT)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
