import Foundation
import HTTP
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Input that can't be true is listed, checked again or dropped.
    @Suite struct QuarantineTests {
        private static let steps = "HKQuantityTypeIdentifierStepCount"

        /// An export with one sample outside the limits, one input that isn't understood, and one sample that is fine.
        private func export(_ stack: TestStack) throws -> String {
            let records = [
                ("2025-04-01 10:00:00 +0200", "2025-04-01 10:00:01 +0200", "99999999"),
                ("2025-04-01 11:00:00 +0200", "2025-04-01 11:10:00 +0200", "500"),
                ("yesterday", "2025-04-01 12:10:00 +0200", "7"),
            ]
            .map { start, end, value in
                """
                 <Record type="\(Self.steps)" sourceName="Watch" unit="count" creationDate="2025-04-01 13:00:00 +0200" \
                startDate="\(start)" endDate="\(end)" value="\(value)"/>
                """
            }
            let path = stack.path("odd.zip")
            let head =
                "<?xml version=\"1.0\"?>\n<HealthData locale=\"de_DE\">\n <ExportDate value=\"2025-05-01 09:00:00 +0200\"/>\n"
            try Archive.write(
                ["apple_health_export/export.xml": head + records.joined(separator: "\n") + "\n</HealthData>\n"],
                to: path)
            return path
        }

        private func list(_ stack: TestStack, _ words: String...) async throws -> [Value] {
            let ended = try await stack.start(
                ["quarantine", "list", "--json", "--state", stack.state] + words
            ).ended()
            #expect(ended.exit == .code(0), "\(ended.error)")
            return try ended.json().array ?? []
        }

        @Test func listedShownDroppedAndNotBroughtBack() async throws {
            try await withStack { stack in
                let file = try export(stack)
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", file).exit == .code(0))
                #expect(try await stack.onState("import", file).exit == .code(0))
                let entries = try await list(stack)
                #expect(entries.count == 2, "\(entries)")
                #expect(entries.allSatisfy { $0["seen"] == 2 && $0["type"].string == Self.steps }, "\(entries)")
                let sample = try #require(entries.first { $0["kind"] == "sample" })
                #expect(sample["start"].string?.hasPrefix("2025-04-01T08:00:00") == true && sample["record"].isNull)
                #expect(try await list(stack, "--type", "StepCount").count == 2)
                #expect(try await list(stack, "--type", "HeartRate").isEmpty)

                // The content is shown, because it was explicitly asked for.
                let id = "\(sample["id"].int ?? 0)"
                let shown = try await stack.onState("quarantine", "show", id)
                #expect(shown.exit == .code(0) && shown.output.contains("99999999"), "\(shown)")
                let input = "\(try #require(entries.first { $0["kind"] == "input" })["id"].int ?? 0)"
                let raw = try await stack.onState("quarantine", "show", input, "--json").json()
                #expect(raw["record"]["raw"].string?.contains("yesterday") == true)
                let unknown = try await stack.onState("quarantine", "show", "777")
                #expect(unknown.exit == .code(1) && unknown.error.contains("777"), "\(unknown.error)")
                let vague = try await stack.onState("quarantine", "drop")
                #expect(vague.exit == .code(2) && vague.error.contains("--all"), "\(vague.error)")

                // Nothing is accepted while the limits stay the same.
                let tried = try await stack.onState("quarantine", "retry", "--all", "--json").json()
                #expect(tried == ["tried": 2, "passed": 0, "still": 2])
                let dropped = try await stack.onState("quarantine", "drop", "--all", "--yes", "--json").json()
                #expect(dropped == ["dropped": 2])
                #expect(try await list(stack).isEmpty)
                #expect(try await stack.onState("import", file).exit == .code(0))
                #expect(try await list(stack).isEmpty)
                #expect(try stack.number("observer", "SELECT count(*) FROM samples WHERE state = 0") == 1)
                try await stack.interrupt(up)
                let kept = try stack.rows("observer", "SELECT raw FROM quarantine")
                #expect(kept == [""], "its content is gone")
            }
        }

        /// A release with wider limits, or one that understands more, accepts input that was quarantined earlier. The
        /// stack is stopped.
        @Test func whatPassesNowIsASample() async throws {
            try await withStack { stack in
                let file = try export(stack)
                let first = try await stack.up("--import", file, "--until-idle").ended()
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                // Makes it look as if the sample and the date were fine, and only the rules of the earlier release had
                // refused them.
                let database = try Database(path: "\(stack.state)/observer/state.sqlite")
                try database.execute("UPDATE samples SET value = 40 WHERE state = 3")
                try database.execute(
                    "UPDATE quarantine SET raw = replace(raw, 'yesterday', '2025-04-01 12:00:00 +0200')")
                let tried = try await stack.onState("quarantine", "retry", "--all", "--json")
                #expect(try tried.json() == ["tried": 2, "passed": 2, "still": 0], "\(tried.error)")
                #expect(try await list(stack).isEmpty)
                let again = try await stack.up("--until-idle").ended()
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
                let days = try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
                #expect(days.first { $0["date"] == "2025-04-01" }?["steps"] == 547, "\(days)")
                #expect(try stack.number("backend", "SELECT count(*) FROM samples") == 3)
            }
        }
    }
}
