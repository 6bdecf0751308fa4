import Foundation
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Elements the backend once refused are listed, sent again or dropped.
    @Suite struct DeadLetterTests {
        /// A stopped stack whose uploader has dead letters: a day and a sample in their current versions, and a day in
        /// an earlier version.
        private func prepare(_ stack: TestStack) async throws -> StackContent {
            let export = try await stack.generate("export.zip", "--days", "4", "--seed", "6")
            let up = try await stack.up("--import", export, "--until-idle").ended()
            try #require(up.exit == .code(0), "\(up.error.suffix(2000))")
            let before = try await StackContent(of: stack)
            let day = try #require(
                try stack.rows(
                    "consolidator", "SELECT printf('%d', seq) FROM changes WHERE key = 'day/me/2025-04-02'"
                ).first)
            let sample = try #require(
                try stack.heldSamples().first { $0.type == "HKQuantityTypeIdentifierStepCount" })
            let database = try Database(path: "\(stack.state)/uploader/state.sqlite")
            for (metric, element, version) in [
                ("daily", "2025-04-02", day), ("steps", "\(sample.id)", "\(sample.sequence)"),
                ("daily", "2025-04-03", "5"),
            ] {
                try database.execute(
                    """
                    INSERT INTO dead_letters(at, last, user, metric, id, version, reason, status, tries)
                    VALUES (1, 1, 'me', '\(metric)', '\(element)', \(version), 'the day is odd', 422, 1)
                    """)
            }
            return before
        }

        @Test func sentAgainAsTheTruthIsNow() async throws {
            try await withStack { stack in
                let before = try await prepare(stack)
                let blocked = try await stack.up("--until-idle").ended()
                #expect(blocked.exit == .code(1) && blocked.error.contains("3 dead letters"), "\(blocked.error)")

                // On a stopped stack, the command reads dead letters while it holds the lock.
                let listed = try await stack.onState("dead-letters", "list", "--json").json().array ?? []
                #expect(listed.count == 3 && listed.allSatisfy { $0["status"] == 422 && $0["stage"] == "uploader" })
                let shown = try await stack.onState("dead-letters", "show", "1", "--json").json()
                #expect(
                    shown["path"] == "/api/v1/sync/daily" && shown["stored"] == shown["version"]
                        && shown["body"]["days"].array?.first?["date"] == "2025-04-02")
                let noted = try await stack.onState("dead-letters", "retry", "2")
                #expect(noted.exit == .code(0) && noted.output.contains("next start"), "\(noted)")
                // The next start carries out the stored retry before it reports what blocks it.
                let next = try await stack.up("--until-idle").ended()
                #expect(next.exit == .code(1) && next.error.contains("2 dead letters"), "\(next.error)")
                let up = try await stack.upAndReady()
                try await until("the noted one is taken", every: 50) {
                    try stack.number("uploader", "SELECT count(*) FROM dead_letters") == 2
                }
                // The day is shown as it is now, though an earlier version was refused.
                let older = try await stack.onState("dead-letters", "show", "3")
                #expect(older.exit == .code(0) && older.output.contains("Version 5 was refused."), "\(older)")
                #expect(older.output.contains("\"2025-04-03\""), "\(older)")
                let retried = try await stack.onState("dead-letters", "retry", "--all", "--json")
                #expect(retried.exit == .code(0), "\(retried.error)")
                // The element whose version is gone isn't sent, and is no longer a dead letter.
                #expect(try retried.json() == ["sent": 1, "deadLetters": 0])
                try await stack.interrupt(up)
                let idle = try await stack.up("--until-idle").ended()
                #expect(idle.exit == .code(0), "\(idle.error.suffix(2000))")
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }

        @Test func whatIsDroppedIsCounted() async throws {
            try await withStack { stack in
                _ = try await prepare(stack)
                let unasked = try await stack.onState("dead-letters", "drop", "--type", "daily")
                #expect(unasked.exit == .code(2), "\(unasked.error)")
                #expect(
                    unasked.error.hasSuffix(
                        "dropping 2 dead letters needs confirmation, and there is no terminal to ask on\n"
                            + "hint: add --yes to confirm\n"), "\(unasked.error)")
                let some = try await stack.onState("dead-letters", "drop", "--type", "daily", "--yes", "--json")
                #expect(try some.json() == ["dropped": 2], "\(some.error)")
                let up = try await stack.upAndReady()
                let rest = try await stack.onState("dead-letters", "drop", "2", "--yes")
                #expect(rest.exit == .code(0) && rest.output.contains("Dropped 1 dead letter"), "\(rest)")
                let status = try await stack.onState("status", "--json").json()
                #expect(status["deadLetters"] == 0 && status["droppedLetters"] == 3)
                try await stack.interrupt(up)
                let idle = try await stack.up("--until-idle").ended()
                #expect(idle.exit == .code(0), "\(idle.error.suffix(2000))")
                let stopped = try await stack.onState("status")
                #expect(stopped.output.contains("dead letters 0 (3 dropped)"), "\(stopped.output)")
            }
        }
    }
}
