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
        /// A browser, signed in or not.
        private struct Page {
            let client: HTTPClient
            var cookie: String?

            func send(
                _ path: String, _ query: [String: String] = [:], token: String? = nil
            ) throws -> HTTPResponse {
                var request = HTTPRequest(path: path, query: query)
                request.headers["Cookie"] = cookie
                request.headers["Authorization"] = token.map { "Bearer \($0)" }
                return try client.send(request, timeout: Patience.seconds)
            }

            func get(_ path: String, _ query: [String: String] = [:]) throws -> Value {
                let answer = try send(path, query)
                guard answer.status == 200 else { return ["status": .integer(Int64(answer.status))] }
                return try Value(json: answer.body)
            }
        }

        private static let noScreen = ["DISPLAY": "", "WAYLAND_DISPLAY": ""]

        /// A browser that isn't signed in.
        private func stranger(_ stack: TestStack) async throws -> Page {
            let status = try await stack.onState("status", "--json").json()
            return Page(client: try HTTPClient(base: #require(status["dashboard"]["address"].string)))
        }

        /// The ticket in the link that `healthbus open` prints.
        private func ticket(_ stack: TestStack, environment: [String: String] = noScreen) async throws -> String {
            let opened = try await stack.onState("open", environment: environment)
            let link = opened.output.trimmingCharacters(in: .whitespacesAndNewlines)
            let parts = link.components(separatedBy: "/?ticket=")
            let status = try await stack.onState("status", "--json").json()
            #expect(parts.count == 2 && parts.first == status["dashboard"]["address"].string, "\(opened.error)")
            return parts.last ?? ""
        }

        private func page(_ stack: TestStack) async throws -> Page {
            var page = try await stranger(stack)
            let answer = try page.send("/", ["ticket": await ticket(stack)])
            #expect(answer.status == 200)
            page.cookie = answer.headers["Set-Cookie"]?.split(separator: ";").first.map(String.init)
            return page
        }

        @Test func onlyTheAccountThatRunsTheStackReads() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                try await until("the way in is said") {
                    up.error.contains("'healthbus open --state \(stack.state)' signs a browser in")
                }
                let stranger = try await stranger(stack)
                let port = try #require(stranger.client.base.split(separator: ":").last)
                let routes = ["about", "session"]
                for path in ["days", "series", "live", "tap", "waits", "imports", "v1/changes", "figures"] + routes {
                    let answer = try stranger.send("/api/" + path)
                    let said = try Value(json: answer.body)
                    if routes.contains(path) {
                        #expect(said == ["user": "me", "reads": false, "scopes": []], "\(path)")
                    } else {
                        #expect(answer.status == 401 && said["error"].string != nil, "\(path)")
                        #expect(said["hint"].string?.contains("'healthbus open --state \(stack.state)'") == true)
                    }
                }
                let reported = try stranger.send("/")
                #expect(reported.status == 401 && reported.text.contains("<code>healthbus open</code>"))
                #expect(try stranger.send("/api/days", token: await stack.token("--scope", "read")).status == 200)

                let ticket = try await ticket(stack)
                let cookie = try #require(try stranger.send("/", ["ticket": ticket]).headers["Set-Cookie"])
                #expect(cookie.hasPrefix("healthbus-session-\(port)="), "\(cookie)")
                #expect(try stranger.send("/", ["ticket": ticket]).status == 401)
                var page = stranger
                page.cookie = cookie.split(separator: ";").first.map(String.init)
                #expect(try page.send("/api/days").status == 200 && page.send("/").status == 200)
                #expect(try stranger.send("/api/days").status == 401)

                // Another account could have listened on the port in between, and received the cookie.
                let pid = try #require(try stack.pid(of: "dashboard"))
                kill(pid, SIGKILL)
                try await until("another dashboard") { try stack.pid(of: "dashboard").map { $0 != pid } ?? false }
                page = try await self.page(stack)
                #expect(try page.send("/api/days").status == 200)
                page.cookie = cookie.split(separator: ";").first.map(String.init)
                #expect(try page.send("/api/days").status == 401)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        /// Other accounts can read the arguments of a browser.
        @Test func theTicketIsInNoProgramsArguments() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let said = stack.path("arguments")
                let opener = try stack.write("xdg-open", "#!/bin/sh\nprintf '%s' \"$*\" >'\(said)'\n")
                #expect(chmod(opener, 0o700) == 0)
                let path = stack.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
                let ticket = try await ticket(stack, environment: ["DISPLAY": ":0", "PATH": path])
                let arguments = try String(contentsOfFile: said, encoding: .utf8)
                #expect(arguments.hasPrefix("file:///") && !arguments.contains(ticket), "\(arguments)")
                let file = try #require(URL(string: arguments)).path
                #expect(try String(contentsOfFile: file, encoding: .utf8).contains("/?ticket=\(ticket)\""))
                #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }

        @Test func anOpenDashboardIsReadByAnybody() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "open.json", #"{"instances": {"dashboard": {"configuration": {"open": true}}}}"#)
                let up = try await stack.upAndReady("--config", config)
                let opened = try await stack.onState("open", environment: Self.noScreen)
                let stranger = try await stranger(stack)
                #expect(opened.output == stranger.client.base + "\n")
                #expect(try stranger.send("/").status == 200 && stranger.send("/api/days").status == 200)
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
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

        /// Nobody has the page open, so nothing is read in advance; whoever asks gets what the commands show at that
        /// moment, whichever request comes first.
        @Test func noAnswerIsOlderThanTheCommands() async throws {
            try await withStack { stack in
                let up = try await stack.upAndReady()
                let page = try await page(stack)
                #expect(try page.get("/api/about")["last"].isNull)
                for day in 10..<22 {
                    let date = "2025-03-\(day)"
                    let export = """
                        <?xml version="1.0"?><HealthData locale="en_DE"><ExportDate value="\(date) 23:00:00 +0100"/>
                        <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Watch" unit="count" value="\(day)" \
                        startDate="\(date) 10:00:00 +0100" endDate="\(date) 10:05:00 +0100"/></HealthData>
                        """
                    let file = try stack.write("\(day).xml", export)
                    #expect(try await stack.onState("import", file).exit == .code(0))
                    try await until("the day is there") {
                        try await stack.onState("days", "--json", "--from", date).json().array?.count == 1
                    }
                    let lasts = try await withThrowingTaskGroup(of: String?.self) { group in
                        for _ in 0..<2 {
                            group.addTask { try page.get("/api/days")["days"].array?.last?["date"].string }
                            group.addTask { try page.get("/api/about")["last"].string }
                            group.addTask {
                                try page.get("/api/series", ["figures": "steps"])["dates"].array?.last?.string
                            }
                        }
                        return try await group.reduce(into: [String?]()) { $0.append($1) }
                    }
                    #expect(lasts == Array(repeating: date, count: 6))
                }
                #expect(try await stack.interrupt(up).exit.isSuccess)
            }
        }
    }
}
