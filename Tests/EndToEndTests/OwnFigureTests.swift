import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// A person's own handler beside the shipped ones: its figures are shown, explained and compared in the same way as
    /// theirs, and its errors are reported.
    @Suite struct OwnFigureTests {
        private func change(_ stack: TestStack, _ old: String, _ new: String) throws {
            let file = stack.path("walks/handler.py")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains(old))
            try text.replacingOccurrences(of: old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
        }

        @Test func itIsShownExplainedAndCompared() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "5", "--seed", "3")
                _ = try await stack.run("plugins", "new", "walks", "--output", stack.path("walks"))
                let config = stack.path("walks/stack.json")
                let idle = try await stack.up("--config", config, "--import", export, "--until-idle").ended(within: 240)
                #expect(idle.exit == .code(0), "\(idle.error.suffix(2000))")
                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                let day = try #require(days.first { $0["walks"].double != nil })
                let date = try #require(day["date"].string)
                #expect(try await stack.onState("days", "--csv").output.contains("walks"))
                let why = try await stack.onState("explain", "Walks", date, "--json").json()
                #expect(why["figure"] == day["walks"] && why["handler"] == "walks" && why["unit"] == "hours")
                #expect((why["samples"]["HKQuantityTypeIdentifierStepCount"].int ?? 0) > 0, "\(why.json())")
                let text = try await stack.onState("explain", "walks", date).output
                #expect(text.hasPrefix("walks on \(date), Europe/Berlin: ") && text.contains("handler.py"), "\(text)")

                // A trial of a changed program shows which figures would differ, and on which days.
                let up = try await stack.upAndReady("--config", config)
                try FileManager.default.copyItem(atPath: stack.path("walks"), toPath: stack.path("before"))
                try change(stack, "hours = sum(1 for", "hours = 100 + sum(1 for")
                let trial = try await stack.onState(
                    "swap", "walks", "--with", stack.path("walks"), "--dry-run", "--json", within: 120)
                #expect(trial.exit == .code(0), "\(trial)")
                let changes = try trial.json()["changes"].array ?? []
                let ours = try #require(changes.first { $0["date"].string == date })
                #expect(ours["figure"] == "walks" && ours["before"] == day["walks"])
                #expect(ours["after"].double == (day["walks"].double ?? 0) + 100)
                #expect(!FileManager.default.fileExists(atPath: stack.state + "/walks/trial.json"))
                let shown = try await stack.onState(
                    "swap", "walks", "--with", stack.path("walks"), "--dry-run", within: 120)
                #expect(shown.output.contains(date) && shown.output.contains("Then"), "\(shown.output)")
                try await stack.interrupt(up)
            }
        }

        /// The message and the line of an error that a handler throws appear everywhere that a person might look.
        @Test func whatItThrowsIsReportedWithItsLine() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "3", "--seed", "3")
                _ = try await stack.run("plugins", "new", "walks", "--output", stack.path("walks"))
                try change(stack, "    counts = [0] *", "    pages[0][\"pages\"]\n    counts = [0] *")
                let program = try String(contentsOfFile: stack.path("walks/handler.py"), encoding: .utf8)
                let line =
                    try #require(
                        program.split(separator: "\n", omittingEmptySubsequences: false)
                            .firstIndex { $0.contains("[\"pages\"]") }) + 1
                let why = "KeyError: 'pages' (handler.py, line \(line))"
                let up = try await stack.upAndReady("--config", stack.path("walks/stack.json"))
                #expect(try await stack.onState("import", export, within: 120).exit == .code(0))
                try await until("it is reported", within: 120) {
                    try await stack.onState("alerts", "--json").json().array?
                        .contains { $0["kind"] == "failed-days" && $0["text"].string?.contains(why) == true } ?? false
                }
                #expect(up.error.contains("day.failed") && up.error.contains(why), "\(up.error.suffix(3000))")
                let doctor = try await stack.onState("doctor", within: 120)
                #expect(doctor.exit == .code(1) && doctor.output.contains(why), "\(doctor)")
                #expect(doctor.output.components(separatedBy: why).count == 2, "\(doctor.output)")
                try await stack.interrupt(up)
            }
        }
    }

    /// `config show`: which settings apply, and where they come from.
    @Suite struct ConfigShowTests {
        @Test func eachSettingHasItsOrigin() async throws {
            try await withStack { stack in
                let config = try stack.write(
                    "my.json",
                    """
                    {
                      "instances": {
                        "uploader": { "configuration": { "timeoutSeconds": 7,
                          "url": "https://me:secret1@example.org/x?token=secret2",
                          "tokenCommand": ["/usr/bin/pass", "secret3"] } }
                      }
                    }
                    """)
                let shown = try await stack.onState(
                    "config", "show", "--json", "--config", config,
                    environment: ["HEALTHBUS_BACKEND_TOKEN": "secret4"])
                #expect(shown.exit == .code(0), "\(shown.error)")
                #expect(!shown.output.contains("secret"), "\(shown.output)")
                let list = try shown.json().array ?? []
                func setting(_ key: String) throws -> Value { try #require(list.first { $0["key"].string == key }) }
                #expect(try setting("uploader.timeoutSeconds")["value"] == 7)
                #expect(
                    try setting("uploader.timeoutSeconds")["from"] == [
                        "kind": "file", "file": .string(config), "line": 3,
                    ])
                #expect(try setting("uploader.retryCapSeconds")["from"] == ["kind": "default"])
                #expect(try setting("backend.port")["value"].int == Int64(stack.port))
                #expect(
                    try setting("backend.port")["from"] == ["kind": "environment", "name": "HEALTHBUS_BACKEND_PORT"])
                #expect(
                    try setting("dashboard.port")["from"]
                        == ["kind": "environment", "name": "HEALTHBUS_DASHBOARD_PORT"])
                #expect(try setting("HEALTHBUS_BACKEND_TOKEN")["from"]["kind"] == "environment")
                #expect(try setting("state")["from"] == ["kind": "option", "name": "--state"])
                // The same in human-readable form, limited to the changed settings of one instance.
                let changed = try await stack.onState("config", "show", "uploader", "--changed", "--config", config)
                let rows = changed.output.split(separator: "\n").dropFirst()
                #expect(rows.count == 3 && rows.allSatisfy { $0.hasPrefix("uploader.") && $0.contains("my.json:") })
                let unknown = try await stack.onState("config", "show", "uploder")
                #expect(unknown.exit == .code(2) && unknown.error.contains("did you mean 'uploader'?"))
            }
        }
    }
}
