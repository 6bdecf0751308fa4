import Foundation
import HTTP
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Samples that the backend doesn't have don't count as delivered, whatever it has answered, and whatever it had
    /// before.
    @Suite struct LostBackendTests {
        private func config(_ stack: TestStack, _ url: String, _ more: String = "") throws -> String {
            try stack.write(
                "tricky.json",
                """
                {"instances": {"uploader": {"configuration": {"url": "\(url)", "retryBaseSeconds": 0.05, "retryCapSeconds": 0.2\(more)}}}}
                """)
        }

        private func expectAll(_ stack: TestStack, _ ended: Command.Ended) async throws {
            #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
            let content = try await StackContent(of: stack)
            let alive = content.samples.count(where: { !$0.contains("HKWorkoutTypeIdentifier") })
            #expect(alive > 1000 && content.delivered.count == alive)
            #expect(content.documents.count(where: { $0.hasPrefix("0 ") }) == content.days.count)
            #expect(try stack.number("uploader", "SELECT count(*) FROM dead_letters") == 0)
        }

        /// After the first answers, a different server takes over for a while: it answers with a page of its own, with
        /// nothing, without counts, or with 400.
        @Test(arguments: ["portal", "empty", "zeros", "refuses", "page400"])
        func whoeverElseAnswersAcceptsNothing(_ what: String) async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--seed", "3")
                let proxy = try TrickyBackend(before: stack.port)
                defer { proxy.stop() }
                proxy.play { request, number in
                    guard request.method == "POST", (4...18).contains(number) else { return nil }
                    switch what {
                    case "portal": return TrickyBackend.page()
                    case "empty": return HTTPResponse(status: 200)
                    case "refuses": return HTTPResponse(status: 400, json: Array(#"{"error":"no"}"#.utf8))
                    case "page400": return TrickyBackend.page(400)
                    default:
                        return HTTPResponse(
                            status: 200,
                            json: Array(
                                #"{"generation":"none","counts":{"created":0,"updated":0,"known":0,"refused":0},"refused":[]}"#
                                    .utf8))
                    }
                }
                let ended = try await stack.up(
                    "--config", try config(stack, proxy.url), "--import", export, "--until-idle"
                ).ended(within: 180)
                #expect(proxy.uploads > 18)
                try await expectAll(stack, ended)
            }
        }

        @Test func aBackendWithoutItsFolderIsFilledAgain() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--seed", "3")
                try await expectAll(stack, try await stack.up("--import", export, "--until-idle").ended(within: 120))
                try FileManager.default.removeItem(atPath: "\(stack.state)/backend")
                try await expectAll(stack, try await stack.up("--until-idle").ended(within: 120))
            }
        }

        @Test(arguments: [false, true]) func anOlderCopyOfTheBackendIsFilledAgain(_ whileItRuns: Bool) async throws {
            try await withStack { stack in
                let first = try await stack.generate("first.zip", "--days", "4", "--seed", "3")
                let second = try await stack.generate("second.zip", "--days", "10", "--seed", "3")
                _ = try await stack.up("--import", first, "--until-idle").ended(within: 120)
                let copy = stack.path("older")
                try FileManager.default.copyItem(atPath: "\(stack.state)/backend", toPath: copy)
                try await expectAll(stack, try await stack.up("--import", second, "--until-idle").ended(within: 120))
                try FileManager.default.removeItem(atPath: "\(stack.state)/backend")
                try FileManager.default.copyItem(atPath: copy, toPath: "\(stack.state)/backend")
                guard whileItRuns else {
                    return try await expectAll(stack, try await stack.up("--until-idle").ended(within: 120))
                }
                let up = try await stack.upAndReady()
                let sync = try await stack.onState("sync", within: 120)
                #expect(sync.exit == .code(0), "\(sync)")
                try await expectAll(stack, try await interrupted(stack, up))
            }
        }

        private func interrupted(_ stack: TestStack, _ up: Command) async throws -> Command.Ended {
            _ = try await stack.interrupt(up)
            return try await stack.up("--until-idle").ended(within: 120)
        }

        /// The backend's samples vanish while the stack is running; then a person requests a sync.
        @Test func aLossIsNoticedByWhoeverAsks() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "6", "--seed", "3")
                _ = try await stack.up("--import", export, "--until-idle").ended(within: 120)
                let up = try await stack.upAndReady()
                let well = try await stack.onState("doctor")
                #expect(well.exit == .code(0), "\(well)")
                do {
                    let database = try Database(path: "\(stack.state)/backend/state.sqlite")
                    try database.execute("DELETE FROM sample_rows; DELETE FROM tallies")
                }
                let sync = try await stack.onState("sync", within: 120)
                #expect(sync.exit == .code(0), "\(sync)")
                try await until("all is there again") { (try stack.get("stats")["samples"]["alive"].int ?? 0) > 1000 }
                try await expectAll(stack, try await interrupted(stack, up))
            }
        }

        @Test func aLongWaitIsSaidAndCutShort() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "3")
                let proxy = try TrickyBackend(before: stack.port)
                defer { proxy.stop() }
                proxy.play { request, _ in
                    request.method == "POST"
                        ? HTTPResponse(status: 429, headers: ["Retry-After": "86400"]) : nil
                }
                let file = try config(stack, proxy.url)
                let up = try await stack.upAndReady("--config", file)
                _ = try await stack.onState("import", export, "--config", file)
                try await until("it waits") {
                    try await stack.onState("status", "--json", "--config", file).json()["backend"]["waitsUntil"].string
                        != nil
                }
                let status = try await stack.onState("status", "--config", file)
                #expect(status.output.contains("asked to wait until"), "\(status.output)")
                let doctor = try await stack.onState("doctor", "--config", file)
                #expect(doctor.exit == .code(1) && doctor.output.contains("asked to wait until"), "\(doctor)")
                let blocked = try await stack.onState("sync", "--config", file, within: 120)
                #expect(blocked.exit == .code(1) && blocked.output.contains("asked to wait until"), "\(blocked)")
                proxy.play { _, _ in nil }
                let sync = try await stack.onState("sync", "--config", file, within: 120)
                #expect(sync.exit == .code(0), "\(sync)")
                try await stack.interrupt(up)
            }
        }
    }
}
