import Foundation
import Glibc
import HTTP
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Compares the backend's content with what was delivered.
    @Suite struct VerifyTests {
        private func verify(_ stack: TestStack, _ words: String...) async throws -> (code: Int32?, said: Value) {
            let ended = try await stack.start(["verify", "--json", "--state", stack.state] + words).ended(within: 180)
            let code: Int32? = if case .code(let number) = ended.exit { number } else { nil }
            if code == 2 { throw HarnessError(ended.error) }
            return (code, try ended.json())
        }

        private func findings(_ said: Value, _ list: String) -> [String: Int64] {
            (said["users"].array?.first?["lists"][list]["findings"].object ?? [:]).compactMapValues { $0["count"].int }
        }

        /// Changes the backend's file without the backend knowing.
        private func tamper(_ stack: TestStack, _ statements: [String]) throws {
            let database = try Database(path: "\(stack.state)/backend/state.sqlite")
            for statement in statements { try database.transaction { try database.execute(statement) } }
        }

        private func started(_ stack: TestStack) async throws -> Command {
            let export = try await stack.generate("export.zip", "--days", "4", "--seed", "6")
            let idle = try await stack.up("--import", export, "--until-idle").ended(within: 120)
            try #require(idle.exit == .code(0), "\(idle.error.suffix(2000))")
            return try await stack.upAndReady()
        }

        @Test func whatIsMissingOldOrWronglyAliveIsFoundAndDelivered() async throws {
            try await withStack { stack in
                let up = try await started(stack)
                let right = try await verify(stack)
                #expect(right.code == 0 && right.said["right"] == true, "\(right.said.json(pretty: true))")
                let held = try stack.heldSamples().count
                let lists = right.said["users"].array?.first?["lists"] ?? .null
                #expect((lists["samples"]["here"].int ?? 0) > Int64(held / 2))
                #expect(lists["samples"]["here"] == lists["samples"]["there"])
                for list in ["samples", "workouts", "nights", "days"] {
                    #expect(findings(right.said, list) == [:], "\(list)")
                }
                let steps =
                    "\(BackendRows.type) = (SELECT id FROM texts WHERE text = 'HKQuantityTypeIdentifierStepCount')"
                let alive = "SELECT id FROM sample_rows WHERE \(steps) AND deleted = 0 ORDER BY id"
                try tamper(
                    stack,
                    [
                        "DELETE FROM sample_rows WHERE id IN (\(alive) LIMIT 3)",
                        "UPDATE sample_rows SET version = version - 1 WHERE id IN (\(alive) LIMIT 2)",
                        "UPDATE sample_rows SET deleted = 1, version = version - 1 WHERE id IN (\(alive) LIMIT 1 OFFSET 5)",
                        "DELETE FROM documents WHERE kind = 2 AND id = (SELECT min(id) FROM documents WHERE kind = 2 AND deleted = 0)",
                        "UPDATE documents SET version = version - 1 WHERE kind = 0 AND id = '2025-04-02'",
                    ])
                let wrong = try await verify(stack)
                #expect(wrong.code == 1 && wrong.said["repairable"] == 8, "\(wrong.said.json(pretty: true))")
                #expect(findings(wrong.said, "samples") == ["missing": 3, "older": 2, "deletedThere": 1])
                #expect(findings(wrong.said, "nights") == ["missing": 1])
                #expect(findings(wrong.said, "days") == ["older": 1])
                let types = wrong.said["users"].array?.first?["lists"]["samples"]["types"] ?? .null
                let missing = types["HKQuantityTypeIdentifierStepCount"]["findings"]["missing"]
                #expect(missing["count"] == 3 && missing["first"].array?.count == 3)
                // A check of a single day, which finds nothing wrong.
                let other = try await verify(stack, "--from", "2025-04-03", "--to", "2025-04-03")
                #expect(other.code == 0 && (other.said["users"].array?.first?["lists"]["days"]["here"] == 1))

                // The human-readable output explains what to do, and contains no values.
                let shown = try await stack.onState("verify")
                #expect(
                    shown.exit == .code(1) && shown.output.contains("healthbus verify --destination uploader --repair"),
                    "\(shown.output)")
                #expect(shown.output.contains("StepCount") && shown.output.contains("missing there"))

                let repaired = try await verify(stack, "--repair")
                #expect(repaired.said["repaired"] == 8, "\(repaired.said.json(pretty: true))")
                // The uploader may notice on its own that rows are gone, and deliver everything again.
                try await until("all of it is there") { try await verify(stack).code == 0 }
                try await stack.interrupt(up)
            }
        }

        /// The version is the same, so the change only shows in the content.
        @Test func whatWasAlteredThereIsReported() async throws {
            try await withStack { stack in
                let up = try await started(stack)
                #expect(try await verify(stack).said["contents"] == true)
                let value =
                    "id = (SELECT id FROM sample_rows WHERE deleted = 0 AND value IS NOT NULL ORDER BY id LIMIT 1)"
                let day = "kind = 0 AND id = '2025-04-02'"
                try tamper(
                    stack,
                    [
                        "UPDATE sample_rows SET value = value + 1 WHERE \(value)",
                        "UPDATE documents SET body = replace(body, '\"steps\"', '\"stepz\"') WHERE \(day)",
                    ])
                let wrong = try await verify(stack)
                #expect(wrong.code == 1 && wrong.said["repairable"] == 2, "\(wrong.said.json(pretty: true))")
                #expect(findings(wrong.said, "samples") == ["altered": 1])
                #expect(findings(wrong.said, "days") == ["altered": 1])
                // The suggested command names the right stack.
                let shown = try await stack.onState("verify")
                #expect(shown.output.contains("altered there"), "\(shown.output)")
                #expect(
                    shown.output.contains(
                        "'healthbus verify --destination uploader --repair --state \(stack.state)' delivers"),
                    "\(shown.output)")
                let repaired = try await verify(stack, "--repair")
                #expect(repaired.code == 0 && repaired.said["repaired"] == 2, "\(repaired.said.json(pretty: true))")
                try await stack.interrupt(up)
            }
        }

        @Test func tombstonesAndCopiesAreReported() async throws {
            try await withStack { stack in
                let up = try await started(stack)
                let alive = "SELECT id FROM sample_rows WHERE deleted = 0 AND value IS NOT NULL ORDER BY id"
                // A newer export lacks some samples, so they are deleted here and at the backend.
                let pieces = try ExportPieces(of: stack.path("export.zip"))
                let kept = pieces.elements.enumerated().filter { $0.offset % 40 != 20 || $0.element.isRings }.map(
                    \.element)
                let shorter = stack.path("shorter.zip")
                try pieces.write(
                    kept, exported: "2025-05-01 09:00:00 +0200", offset: "+0200", number: 2, to: shorter)
                let imported = try await stack.onState(
                    "import", "--complete", "--delete-up-to", "100", shorter, within: 120)
                try #require(imported.exit == .code(0), "\(imported.error)")
                #expect(try await stack.onState("sync", within: 120).exit == .code(0))
                let gone = try stack.number("backend", "SELECT count(*) FROM sample_rows WHERE deleted = 1")
                try #require(gone > 0)
                let (copy, other) = ("x'4a1b4c2d00004000a000000000000001'", "x'4a1b4c2d00004000a000000000000002'")
                #expect(try await verify(stack).code == 0)
                try tamper(
                    stack,
                    [
                        "DELETE FROM sample_rows WHERE id = (SELECT min(id) FROM sample_rows WHERE deleted = 1)",
                        // A copy under the id of another app, and one sample that only the backend has.
                        """
                        INSERT INTO sample_rows SELECT user, \(copy), version, 0, kind,
                            \(BackendRows.shift(under: copy)), duration,
                            value, batch, metadata, payload, uuid, moment, start
                        FROM sample_rows WHERE id = (\(alive) LIMIT 1)
                        """,
                        """
                        INSERT INTO sample_rows SELECT user, \(other), version, 0, kind,
                            \(BackendRows.shift(under: other)), duration,
                            value + 1e6, batch, metadata, payload, uuid, moment, start
                        FROM sample_rows WHERE id = (\(alive) LIMIT 1)
                        """,
                    ])
                let wrong = try await verify(stack)
                #expect(wrong.code == 1)
                #expect(
                    findings(wrong.said, "samples") == ["missingDeletion": 1, "doubled": 1, "beyond": 2],
                    "\(wrong.said.json(pretty: true))")
                // The deletion is delivered; the copy belongs to another app, so this stack mustn't delete it.
                let repaired = try await verify(stack, "--repair")
                #expect(repaired.code == 1 && repaired.said["repaired"] == 1)
                #expect(findings(repaired.said, "samples") == ["doubled": 1, "beyond": 2])
                try tamper(
                    stack, ["DELETE FROM sample_rows WHERE id = \(copy)"])
                let rest = try await verify(stack)
                #expect(rest.code == 0 && findings(rest.said, "samples") == ["beyond": 1])
                // The backend has deleted the very version that still exists here, so nothing that we send can bring it
                // back.
                try tamper(stack, ["UPDATE sample_rows SET deleted = 1 WHERE id = (\(alive) LIMIT 1 OFFSET 3)"])
                let deleted = try await verify(stack)
                #expect(deleted.code == 1 && deleted.said["repairable"] == 0)
                #expect(findings(deleted.said, "samples") == ["beyond": 1, "deletedLater": 1])
                try await stack.interrupt(up)
            }
        }

        @Test func whatWasRefusedIsNotTakenForDelivered() async throws {
            try await withStack { stack in
                let first = try await started(stack)
                let delivered = try await verify(stack).said["users"].array?.first?["lists"]["samples"]["here"].int
                try await stack.interrupt(first)
                let sample = try #require(
                    try stack.heldSamples().first { $0.type == "HKQuantityTypeIdentifierStepCount" })
                let hex = sample.id.description.filter { $0 != "-" }
                try tamper(stack, ["UPDATE sample_rows SET version = version - 1 WHERE id = x'\(hex)'"])
                do {
                    let database = try Database(path: "\(stack.state)/uploader/state.sqlite")
                    try database.execute(
                        """
                        INSERT INTO dead_letters(at, last, user, metric, id, version, reason, status, tries)
                        VALUES (1, 1, 'me', 'steps', '\(sample.id)', \(sample.sequence), 'the sample is odd', 422, 1)
                        """)
                }
                let up = try await stack.upAndReady()
                let refused = try await verify(stack)
                #expect(refused.code == 1 && refused.said["right"] == false, "\(refused.said.json(pretty: true))")
                #expect(findings(refused.said, "samples") == ["deadLetter": 1])
                let here = refused.said["users"].array?.first?["lists"]["samples"]["here"].int
                #expect(here == delivered.map { $0 - 1 })
                let shown = try await stack.onState("verify")
                #expect(
                    shown.output.contains("holds everything delivered; 1 is in dead letters ("), "\(shown.output)")
                let sync = try await stack.onState("sync", "--json", within: 120)
                #expect(sync.exit == .code(1), "\(sync)")
                let said = try sync.json()
                #expect(said["delivered"] == false, "\(sync.output)")
                #expect(said["blocked"].array?.first?.string?.contains("refused 1 element") == true, "\(sync.output)")
                // A person gives up the element, and from then on it isn't reported as missing.
                let drop = try await stack.onState("dead-letters", "drop", "--all", "--yes")
                #expect(drop.exit == .code(0), "\(drop)")
                let dropped = try await verify(stack)
                #expect(dropped.code == 0 && dropped.said["right"] == true, "\(dropped.said.json(pretty: true))")
                #expect(findings(dropped.said, "samples") == ["dropped": 1] && dropped.said["repairable"] == 0)
                let reported = try await stack.onState("verify")
                #expect(reported.output.contains("1 was dropped on purpose ("), "\(reported.output)")
                #expect(
                    reported.output.contains("healthbus replay uploader --from DATE --to DATE"), "\(reported.output)")
                // If a store's owner hangs, the store isn't mistaken for a new one.
                let observer = try #require(try stack.pid(of: "observer"))
                kill(observer, SIGSTOP)
                let silent = try await stack.onState("verify", within: 120)
                kill(observer, SIGCONT)
                #expect(
                    silent.exit == .code(1) && silent.error.contains("'observer' isn't responding")
                        && silent.error.contains("healthbus doctor") && !silent.error.contains("started over"),
                    "\(silent)")
                try await stack.interrupt(up)
            }
        }

        @Test func whatCantBeVerifiedIsSaid() async throws {
            try await withStack { stack in
                let stopped = try await stack.onState("verify")
                #expect(
                    stopped.exit == .code(1) && stopped.error.contains("no stack is running")
                        && stopped.error.contains("healthbus up"), "\(stopped)")
                // A plain server, which accepts everything and doesn't report what it stores.
                let plain = try HTTPServer { HTTPResponse(status: $0.method == "POST" ? 204 : 404) }
                defer { plain.stop() }
                let config = try stack.write(
                    "plain.json",
                    #"{"instances": {"uploader": {"configuration": {"url": "http://127.0.0.1:\#(plain.port)"}}}}"#)
                let up = try await stack.upAndReady("--config", config)
                let export = try await stack.generate("export.zip", "--days", "1", "--seed", "6")
                #expect(try await stack.onState("import", export).exit == .code(0))
                let unable = try await stack.onState("verify", "--config", config)
                #expect(
                    unable.exit == .code(1) && unable.error.contains("can't be verified")
                        && unable.error.contains("404") && unable.error.contains("docs/backend.md"), "\(unable)")
                let user = try await stack.onState("verify", "--user", "nobody", "--config", config)
                #expect(user.exit == .code(2) && user.error.contains("nobody"), "\(user)")
                try await stack.interrupt(up)
            }
        }
    }
}
