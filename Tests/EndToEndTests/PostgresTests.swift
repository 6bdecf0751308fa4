import Foundation
import HealthModel
import PostgreSQL
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A stack that delivers to PostgreSQL as well as to its backend.
    @Suite(.serialized, .enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
    struct PostgresTests {
        private let server: PostgresServer

        init() throws { server = try PostgresServer() }

        private func configuration(_ stack: TestStack, _ port: Int, _ more: String = "") throws -> String {
            let url = try stack.write("url", server.url(port: port) + "\n")
            return try stack.write(
                "postgres.json",
                """
                { "instances": { "postgres": { "plugin": "postgres", "configuration": { "urlFile": "\(url)",
                    "retryBaseSeconds": 0.05, "retryCapSeconds": 0.3 \(more) } } } }
                """)
        }

        private func rows(_ query: String) throws -> [String] {
            let found = try PostgresConnection(url: server.url(), timeout: 60, program: "test").execute(query, [])
            return (0..<found.count).map { found.text($0, 0) ?? "NULL" }
        }

        private static let samples = """
            SELECT id || ' ' || type || ' ' || (extract(epoch from start_time) * 1000000)::bigint || ' '
                || (extract(epoch from end_time - start_time) * 1000000)::bigint || ' ' || version
            FROM healthbus.samples WHERE NOT deleted ORDER BY 1
            """

        /// The store's samples that aren't deleted, in the same form.
        private func held(_ stack: TestStack) throws -> [String] {
            try stack.heldSamples().filter { $0.type != HealthType.workoutIdentifier }
                .map { "\($0.id) \($0.type) \($0.start) \($0.duration) \($0.sequence)" }.sorted()
        }

        private func expectEqual(_ stack: TestStack) async throws {
            let wanted = try held(stack)
            let found = try rows(Self.samples)
            let missing = Set(wanted).subtracting(found)
            let invented = Set(found).subtracting(wanted)
            #expect(
                found == wanted,
                "\(found.count) of \(wanted.count); missing \(missing.prefix(3)), else \(invented.prefix(3))")
            let content = try await StackContent(of: stack)
            let kinds = ["day", "workout", "night"]
            let delivered = try rows(
                """
                SELECT kind || '/' || id || '/' || coalesce(md5((body - 'version' - 'revision')::text), 'deleted')
                FROM healthbus.documents WHERE NOT deleted ORDER BY 1
                """)
            #expect(delivered.count == content.documents.count { !$0.hasSuffix(" 1 ") })
            for (number, kind) in kinds.enumerated() {
                let ids = content.documents.filter { $0.hasPrefix("\(number) ") && !$0.hasSuffix(" 1 ") }
                    .map { $0.split(separator: " ")[1] }.sorted()
                #expect(
                    try rows("SELECT id FROM healthbus.documents WHERE kind = '\(kind)' AND NOT deleted")
                        .sorted() == ids.map { String($0) }, "\(kind)s")
            }
        }

        @Test func eachElementIsComparedAndRepaired() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "4", "--seed", "6")
                let up = try await stack.upAndReady("--config", try configuration(stack, server.port))
                #expect(try await stack.onState("import", export, within: 120).exit == .code(0))
                #expect(try await stack.onState("sync", within: 120).exit == .code(0))
                let right = try await stack.onState("verify", "--destination", "postgres", within: 120)
                #expect(right.exit == .code(0), "\(right)")
                let first = "id = (SELECT min(id::text)::uuid FROM healthbus.samples WHERE NOT deleted AND value > 0)"
                for statement in [
                    "UPDATE healthbus.samples SET value = value + 1 WHERE \(first)",
                    "UPDATE healthbus.documents SET version = version - 1 WHERE kind = 'day' AND id = '2025-04-02'",
                    "UPDATE healthbus.documents SET body = body || '{\"steps\": 1}' WHERE kind = 'day' AND id = '2025-04-03'",
                ] { _ = try rows(statement) }
                let wrong = try await stack.onState("verify", "--destination", "postgres", "--json", within: 120)
                #expect(wrong.exit == .code(1), "\(wrong)")
                #expect(try wrong.json()["repairable"] == 3, "\(wrong.output)")
                let repaired = try await stack.onState(
                    "verify", "--destination", "postgres", "--repair", within: 120)
                #expect(repaired.exit == .code(0), "\(repaired)")
                try await expectEqual(stack)
                try await stack.interrupt(up)
            }
        }

        @Test func killedInTheMiddleOfAHundredThousand() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "190")
                // Each connection is cut after a few parts.
                let proxy = try CuttingProxy(to: server.port, cutAfter: 14_000_000)
                let file = try configuration(stack, proxy.port)
                let up = try await stack.up("--config", file, "--import", export, "--until-idle")
                for part in 1...3 {
                    try await until("\(part * 20_000) samples are there: \(up.error.suffix(2000))") {
                        let count = try? rows("SELECT count(*) FROM healthbus.samples").first.flatMap { Int($0) }
                        return count ?? 0 >= part * 20_000 || !up.isRunning
                    }
                    // This is done before the server stops, which would end the connection anyway.
                    try await until("a connection to cut: \(up.error.suffix(2000))") {
                        proxy.cut() > 0 || !up.isRunning
                    }
                    try server.kill()
                    try server.restart()
                }
                let ended = try await up.ended()
                #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                #expect(proxy.cuts > 0)
                #expect(try held(stack).count >= 100_000)
                try await expectEqual(stack)
                // When anything was written twice, the second time changed nothing.
                let meta = try rows("SELECT created || ' ' || lost FROM healthbus.meta")
                let count = try rows(
                    "SELECT (SELECT count(*) FROM healthbus.samples) + (SELECT count(*) FROM healthbus.documents)")
                #expect(meta == ["\(count[0]) 0"])
            }
        }

        /// Somebody drops tables and views while the stack is running; then a person requests a sync.
        @Test func whatIsDroppedComesBackWhileItRuns() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "8")
                let file = try configuration(stack, server.port)
                #expect(
                    try await stack.up("--config", file, "--import", export, "--until-idle").ended().exit == .code(0))
                let counts = """
                    SELECT (SELECT count(*) FROM healthbus.samples) || ' ' || (SELECT count(*) FROM healthbus.documents)
                        || ' ' || (SELECT count(*) FROM healthbus_views.days)
                    """
                let before = try rows(counts)
                let up = try await stack.upAndReady("--config", file)
                for drop in [
                    "DROP VIEW healthbus_views.days", "DROP TABLE healthbus.documents CASCADE",
                    "DROP TABLE healthbus.samples CASCADE; DROP INDEX healthbus.documents_date",
                ] {
                    try PostgresConnection(url: server.url(), timeout: 60, program: "test").execute(drop)
                    let sync = try await stack.onState("sync", "--config", file, within: 120)
                    #expect(sync.exit == .code(0), "\(drop): \(sync)")
                    #expect(try rows(counts) == before, "\(drop)")
                }
                try await stack.interrupt(up)
                try await expectEqual(stack)
            }
        }

        @Test func addedToAStoreThatHasMuch() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "20")
                #expect(try await stack.up("--import", export, "--until-idle").ended().exit == .code(0))
                let some = try configuration(
                    stack, server.port, #", "types": ["heart-rate", "HKQuantityTypeIdentifierStepCount"]"#)
                #expect(try await stack.up("--config", some, "--until-idle").ended().exit == .code(0))
                let types = try rows("SELECT DISTINCT type FROM healthbus.samples ORDER BY 1")
                #expect(
                    types.contains("HKQuantityTypeIdentifierStepCount")
                        && types.contains("HKQuantityTypeIdentifierHeartRate"))
                #expect(!types.contains("HKQuantityTypeIdentifierBodyMass"))
                #expect(try rows("SELECT count(*) FROM healthbus.documents") == ["0"])

                // Elements that this configuration left out arrive once another one allows them.
                let all = try configuration(stack, server.port)
                #expect(try await stack.up("--config", all, "--until-idle").ended().exit == .code(0))
                try await expectEqual(stack)

                // A recreated database gets everything again.
                try PostgresConnection(url: server.url(), timeout: 60, program: "test").execute(
                    "DROP SCHEMA healthbus CASCADE")
                let again = try await stack.up("--config", all, "--until-idle").ended()
                #expect(again.exit == .code(0), "\(again.error.suffix(2000))")
                try await expectEqual(stack)
            }
        }
    }
}
