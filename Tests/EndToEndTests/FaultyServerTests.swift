import Foundation
import HTTP
import HealthModel
import Processes
import SQLite
import TestSupport
import Testing

extension EndToEnd {
    /// A server that misbehaves according to a plan (`Tests/Faulty/server.py`) gets 100,000 samples, and in the end it
    /// has exactly the right rows.
    ///
    /// `HEALTHBUS_FAULT_SAMPLES`, `HEALTHBUS_FAULT_REQUESTS` (how many requests misbehave) and `HEALTHBUS_FAULT_SEED`
    /// make the test longer, or different.
    @Suite struct FaultyServerTests {
        private static let token = "a-token-of-this-test"
        /// Seconds until the stack gives a request up. On a busy machine an honest answer may take a few.
        private static let patience = 5
        /// As in the script, one out of this many ids is refused for good.
        private static let poison: UInt64 = 997

        private static func isPoison(_ id: SampleID) -> Bool { id.low & 0xFFFF_FFFF % poison == 0 }

        @Test(arguments: [false, true]) func everyRowIsThereOnce(isPlain: Bool) async throws {
            try await withStack { stack in
                let export = try await stack.generate(
                    "export.zip", "--records", "\(Programs.number("HEALTHBUS_FAULT_SAMPLES", else: 100_000))")
                let port = try freePort()
                let server = try await stack.start(
                    program: "/usr/bin/env",
                    [
                        "python3", "-B", Programs.checkout + "/Tests/Faulty/server.py", "\(port)",
                        stack.path("health.db"),
                        "\(Programs.number("HEALTHBUS_FAULT_SEED", else: 1))",
                    ] + (isPlain ? ["--plain"] : []),
                    environment: ProcessInfo.processInfo.environment.merging([
                        "HEALTHBUS_BACKEND_TOKEN": Self.token, "HEALTHBUS_FAULT_DELAY": "\(Self.patience + 1)",
                    ]) { $1 })
                try await until("it listens: \(server.error)") { server.output.contains("listening") }
                let file = try stack.write("token", Self.token + "\n")
                let configuration = try stack.write(
                    "stack.json",
                    """
                    { "instances": { "backend": null, "uploader": { "configuration": {
                        "url": "http://127.0.0.1:\(port)", "tokenFile": "\(file)", "timeoutSeconds": \(Self.patience),
                        "retryBaseSeconds": 0.02, "retryCapSeconds": 0.2, "retryAfterCapSeconds": 2 } } } }
                    """)
                let up = try await stack.upAndReady("--config", configuration)
                try await stack.onState("import", export)
                // After faults that only a person can fix, delivery is retried when a person requests it.
                var left: [String] = ["not looked at yet"]
                _ = try await eventually(every: 200) {
                    _ = try await stack.onState("sync", "--json")
                    left = try differences(stack)
                    return left.isEmpty
                }
                #expect(left.isEmpty, "\(left)\n\(up.error.suffix(3000))")
                #expect(try await stack.interrupt(up).exit == .code(0))

                // Once the stack has stopped, nothing is in transit.
                #expect(try differences(stack) == [])
                let faults = try counts(port)
                let never = Self.faults(isPlain: isPlain).filter { faults[$0] == nil }
                #expect(never.isEmpty, "\(faults)")
                #expect(faults["refused"] ?? 0 > 0 && faults["named"] ?? 0 > 0, "\(faults)")
                server.child.kill()
                _ = try await server.ended()
            }
        }

        /// The names of the planned faults, as listed by the script.
        private static func faults(isPlain: Bool) -> [String] {
            [
                "twice", "late", "slow", "cut-request", "drop-before", "later", "asks-to-wait", "unauthorized",
                "too-large",
                "refuses-all", "stops", "drop-after", "half", "cut-json", "names-and-refuses", "refuses-strangers",
                "unreadable",
                "page", "error-in-200", "bare", "wrong-counts", "only-refused",
            ] + (isPlain ? [] : ["empty-lie", "friendly-lie", "stranger"])
        }

        private func counts(_ port: Int) throws -> [String: Int64] {
            let answer = try HTTPClient(base: "http://127.0.0.1:\(port)").send(HTTPRequest(path: "/api/v1/faults"))
            return (try Value(json: answer.body).object ?? [:]).compactMapValues(\.int)
        }

        /// Differences between the server's rows and the observer's samples, and between dead letters and poisoned ids;
        /// only a few of each kind are listed.
        private func differences(_ stack: TestStack) throws -> [String] {
            let held = try stack.heldSamples().filter { $0.type != "HKWorkoutTypeIdentifier" }
            let due = held.filter { !Self.isPoison($0.id) }.map(Self.line)
            let database = try Database(path: stack.path("health.db"), mode: .readOnly)
            var rows: [String] = []
            try database.prepare(
                """
                SELECT id, version, json_extract(body, '$.type'), json_extract(body, '$.startDate'), json_extract(body, '$.endDate'),
                    json_extract(body, '$.value') FROM elements WHERE user = 'me' AND kind = 'samples' AND NOT deleted
                """
            ).forEachRow { row in
                let value = row.isNull(5) ? "" : "\(row.double(5))"
                rows.append(
                    "\(row.string(0)) \(row.int64(1)) \(row.string(2)) \(row.string(3)) \(row.string(4)) \(value)")
            }
            var found = Self.difference("samples", rows, due)
            let dead = Set(try stack.rows("uploader", "SELECT lower(id) FROM dead_letters"))
            let bad = Set(held.filter { Self.isPoison($0.id) }.map(\.id.description))
            found += Self.difference(
                "dead letters", dead.filter { SampleID($0) != nil && bad.contains($0) }.sorted(), bad.sorted())
            // There are few documents, and few of them are bad; all the others have arrived.
            for (kind, topic) in [("days", "day/"), ("nights", "sleep/")] {
                let there = try database.prepare("SELECT count(*) FROM elements WHERE kind = '\(kind)' AND NOT deleted")
                    .firstRow {
                        $0.int(0)
                    }
                if there == 0 { found.append("\(kind): none (\(topic))") }
            }
            if bad.isEmpty { found.append("no sample is poison: nothing was tried") }
            return found
        }

        private static func line(_ sample: HeldSample) -> String {
            let end = Instant(microseconds: sample.start + sample.duration)
            let value = sample.value.isFinite ? "\(sample.value)" : ""
            return
                "\(sample.id) \(sample.sequence) \(sample.type) \(InstantText.iso8601(Instant(microseconds: sample.start))) "
                + "\(InstantText.iso8601(end)) \(value)"
        }

        private static func difference(_ name: String, _ rows: [String], _ due: [String]) -> [String] {
            guard rows.count != due.count || Set(rows) != Set(due) else { return [] }
            let (missing, surplus) = (Set(due).subtracting(rows), Set(rows).subtracting(due))
            return ["\(name): \(rows.count) of \(due.count)"] + missing.sorted().prefix(3).map { "- \($0)" }
                + surplus.sorted().prefix(3).map { "+ \($0)" }
        }
    }
}
