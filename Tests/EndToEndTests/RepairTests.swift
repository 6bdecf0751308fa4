import Foundation
import HTTP
import HealthModel
import Processes
import Protocol
import SQLite
import Testing

extension EndToEnd {
    /// `replay` and `reset`, on a running and on a stopped stack: the result equals what was there before.
    @Suite struct RepairTests {
        /// The days, samples and backend content of a stopped stack that has imported an export.
        private func delivered(_ stack: TestStack, days: String = "8") async throws -> StackContent {
            let export = try await stack.generate("export.zip", "--days", days, "--seed", "4")
            let up = try await stack.up("--import", export, "--until-idle").ended()
            try #require(up.exit == .code(0), "\(up.error.suffix(2000))")
            return try await StackContent(of: stack)
        }

        private func untilIdle(_ stack: TestStack) async throws {
            let up = try await stack.up("--until-idle").ended()
            #expect(up.exit == .code(0), "\(up.error.suffix(2000))")
        }

        private func spoil(_ stack: TestStack, _ instance: String, _ statement: String) throws {
            let database = try Database(path: "\(stack.state)/\(instance)/state.sqlite")
            try database.execute(statement)
        }

        @Test func aReplayOfAStoppedStackIsDoneAtTheNextStart() async throws {
            try await withStack { stack in
                let before = try await delivered(stack)
                let versions = try stack.rows("backend", "SELECT printf('%d %s %d', kind, id, version) FROM documents")
                let trial = try await stack.onState(
                    "replay", "steps", "--from", "2025-03-30", "--to", "2025-04-01", "--dry-run", "--json")
                let planned = try trial.json()
                #expect(planned["days"] == 3 && planned["rows"] == 3 && planned["from"] == "2025-03-30", "\(planned)")
                #expect(try stack.number("steps", "SELECT count(*) FROM dirty") == 0)

                let noted = try await stack.onState("replay", "steps", "--from", "2025-03-30", "--to", "2025-04-01")
                #expect(noted.exit == .code(0) && noted.output.contains("next start"), "\(noted)")
                #expect(try stack.number("steps", "SELECT count(*) FROM dirty") == 3)
                try await untilIdle(stack)
                #expect(try stack.number("steps", "SELECT count(*) FROM dirty") == 0)
                // Figures that haven't changed aren't delivered as changes.
                let after = try await StackContent(of: stack)
                #expect(after.differences(from: before) == [])
                #expect(
                    try stack.rows("backend", "SELECT printf('%d %s %d', kind, id, version) FROM documents") == versions
                )
            }
        }

        /// Every stored request is carried out in order, whichever instance it is for.
        @Test func allReplaysOfAStoppedStackAreDone() async throws {
            try await withStack { stack in
                let before = try await delivered(stack)
                for day in ["2025-03-30", "2025-04-01", "2025-04-03"] {
                    for instance in ["steps", "uploader"] {
                        let noted = try await stack.onState("replay", instance, "--from", day, "--to", day)
                        #expect(noted.exit == .code(0) && noted.output.contains("next start"), "\(noted)")
                    }
                }
                #expect(try stack.number("steps", "SELECT count(*) FROM mending WHERE key LIKE 'next-%'") == 2)
                // A command that requests something else in the meantime gets its own answer.
                let backup = try await stack.onState("backup", stack.path("backup"))
                #expect(backup.exit == .code(0), "\(backup.error)")
                try await untilIdle(stack)
                for instance in ["steps", "uploader"] {
                    #expect(try stack.number(instance, "SELECT count(*) FROM mending WHERE key LIKE 'next-%'") == 0)
                    let last = try stack.rows(instance, "SELECT value FROM mending WHERE key = 'last'")
                    #expect(last.count == 1 && last[0].contains("2025-04-03") && last[0].contains("done"), "\(last)")
                }
                let begun = try await stack.onState("logs", "steps", "--json").output.split(separator: "\n")
                    .count { $0.contains("mend.ended") }
                #expect(begun >= 3)
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }

        @Test func aReplayOfARunningStackRepairsWhatWasSpoilt() async throws {
            try await withStack { stack in
                let before = try await delivered(stack)
                // The figures of one day are wrong at a handler, and a part of one day is wrong at the consolidator.
                try spoil(
                    stack, "consolidator", "DELETE FROM parts WHERE handler = 'heart-rate' AND day = 20177")
                let up = try await stack.upAndReady()
                let taken = try await stack.onState(
                    "replay", "consolidator", "--from", "2025-03-30", "--to", "2025-03-30", "--json")
                #expect(taken.exit == .code(0), "\(taken.error)")
                #expect((try taken.json()["rows"].int ?? 0) >= 6, "\(taken.output)")
                #expect(
                    try stack.number(
                        "consolidator", "SELECT count(*) FROM parts WHERE handler = 'heart-rate' AND day = 20177")
                        == 1)
                let computed = try await stack.onState("replay", "steps", "--from", "2025-03-01", "--json")
                #expect(try computed.json()["revised"] == 0, "\(computed.error)")
                // The uploader sends what the dry run announced.
                let plan = try await stack.onState("replay", "uploader", "--from", "2025-03-29", "--dry-run", "--json")
                    .json()
                let sent = try await stack.onState("replay", "uploader", "--from", "2025-03-29", "--json")
                #expect(sent.exit == .code(0), "\(sent.error)")
                #expect(try sent.json()["sent"] == plan["rows"] && plan["rows"].int ?? 0 > 500, "\(plan)")
                let since = try await stack.onState("replay", "uploader", "--from", "0", "--json")
                #expect(since.exit == .code(0), "\(since.error)")
                let refused = try await stack.onState("replay", "consolidator", "--from", "17")
                #expect(refused.exit == .code(2) && refused.error.contains("give a date"), "\(refused.error)")
                // A misspelled name is reported even if --from is missing too.
                let misspelt = try await stack.onState("replay", "stps")
                #expect(misspelt.exit == .code(2) && misspelt.error.contains("mean 'steps'"), "\(misspelt.error)")
                try await stack.interrupt(up)
                #expect(try await StackContent(of: stack).differences(from: before) == [])
            }
        }

        @Test func aResetInstanceComesToTheSame() async throws {
            try await withStack { stack in
                let before = try await delivered(stack)
                let refused = try await stack.onState("reset", "observer", "--yes")
                #expect(refused.exit == .code(1) && refused.error.contains("backup"), "\(refused.error)")
                let unasked = try await stack.onState("reset", "steps")
                #expect(unasked.exit == .code(2) && unasked.error.contains("--yes"), "\(unasked.error)")

                // Figures for a day without any samples: they must disappear everywhere.
                try spoil(
                    stack, "steps",
                    """
                    INSERT INTO changes SELECT (SELECT value FROM meta WHERE key = 'last_sequence') + 1, 'figures/me/2024-12-24', topic,
                        user, 20081, body FROM changes WHERE body IS NOT NULL LIMIT 1;
                    UPDATE meta SET value = value + 1 WHERE key = 'last_sequence';
                    """)
                let up = try await stack.upAndReady()
                try await until("the false day at the backend", every: 50) {
                    try stack.number("backend", "SELECT count(*) FROM documents WHERE id = '2024-12-24'") == 1
                }
                let reset = try await stack.onState("reset", "steps", "--yes", "--json")
                #expect(reset.exit == .code(0), "\(reset.error)")
                try await until("it is deleted at the backend", every: 50) {
                    try stack.number(
                        "backend", "SELECT count(*) FROM documents WHERE id = '2024-12-24' AND deleted = 1") == 1
                }
                try await stack.interrupt(up)
                // Then the same for each of the other instances, on the stopped stack.
                for instance in ["sleep", "consolidator", "uploader", "debouncer"] {
                    let ended = try await stack.onState("reset", instance, "--yes")
                    #expect(ended.exit == .code(0), "\(instance): \(ended.error)")
                }
                try await untilIdle(stack)
                var after = try await StackContent(of: stack)
                after.documents.removeAll { $0.contains("2024-12-24") }
                #expect(after.differences(from: before) == [])
            }
        }
    }
}
