import Foundation
import HTTP
import HealthModel
import Processes
import TestSupport
import Testing

extension EndToEnd {
    /// A stack that delivers to a small FHIR server (`Tests/FHIR/server.py`), which misbehaves according to a plan.
    ///
    /// `HEALTHBUS_FAULT_SAMPLES` and `HEALTHBUS_FAULT_SEED` make the run longer or different.
    @Suite struct FHIRTests {
        private static let token = "a-token-of-this-test"
        /// As in the script, one out of this many samples is refused for good.
        private static let poison: UInt64 = 997
        /// The same as in the script.
        private static let faults = [
            "drop_before", "drop_after", "refuse_429", "fail_500", "fail_503", "half", "other_type", "cut", "page",
            "late", "twice",
        ]

        private static func isPoison(_ id: SampleID) -> Bool { id.low & 0xFFFF_FFFF % poison == 0 }

        private func server(_ stack: TestStack, _ port: Int, _ words: [String] = []) async throws -> Command {
            let server = try await stack.start(
                program: "/usr/bin/env",
                [
                    "python3", "-B", Programs.checkout + "/Tests/FHIR/server.py", "\(port)",
                    "\(Programs.number("HEALTHBUS_FAULT_SEED", else: 1))",
                ] + words,
                environment: ProcessInfo.processInfo.environment.merging(["HEALTHBUS_FHIR_TOKEN": Self.token]) { $1 })
            try await until("it listens: \(server.error)") { server.output.contains("listening") }
            return server
        }

        /// A stack with no other destination.
        /// - Parameter timeout: in seconds; short only for a server that answers late on purpose.
        private func configuration(_ stack: TestStack, _ port: Int, timeout: Int = 60) throws -> String {
            let file = try stack.write("token", Self.token + "\n")
            return try stack.write(
                "stack.json",
                """
                { "instances": { "backend": null, "uploader": null, "fhir": { "plugin": "fhir", "configuration": {
                    "server": "http://127.0.0.1:\(port)/fhir", "tokenFile": "\(file)", "timeoutSeconds": \(timeout),
                    "retryBaseSeconds": 0.02, "retryCapSeconds": 0.2, "retryAfterCapSeconds": 1 } } } }
                """)
        }

        private func get(_ port: Int, _ path: String, _ query: [String: String] = [:]) throws -> Value {
            let client = try HTTPClient(base: "http://127.0.0.1:\(port)", answerLimit: 512 << 20)
            return try Value(json: client.send(HTTPRequest(path: path, query: query)).body)
        }

        /// The server's resources of one kind, each as the identifier's value and the resource's version.
        private func held(_ port: Int, _ kind: String) throws -> [String: Int64] {
            let rows = (try get(port, "/held").array ?? []).filter { $0["system"].string == "urn:x-healthbus:\(kind)" }
            let versions = rows.map { ($0["value"].string ?? "", $0["version"].int ?? 0) }
            return Dictionary(versions, uniquingKeysWith: { first, _ in first })
        }

        private func days(_ stack: TestStack) async throws -> [Value] {
            try await stack.onState("days", "--json", "--from", "1990-01-01").json().array ?? []
        }

        @Test func everySampleIsThereOnce() async throws {
            try await withStack { stack in
                let export = try await stack.generate(
                    "export.zip", "--records", "\(Programs.number("HEALTHBUS_FAULT_SAMPLES", else: 20_000))")
                let port = try freePort()
                let server = try await server(stack, port, ["--poison", "--wild", "80"])
                let up = try await stack.upAndReady("--config", configuration(stack, port, timeout: 1))
                try await stack.onState("import", export)
                var left: [String] = ["not looked at yet"]
                _ = try await eventually(every: 200) {
                    _ = try await stack.onState("sync", "--json")
                    left = try differences(stack, port)
                    return left.isEmpty
                }
                #expect(left.isEmpty, "\(left)\n\(up.error.suffix(3000))")
                let days = try await days(stack)
                let there = try held(port, "day").keys
                #expect(Set(there).isSubset(of: Set(days.map { "me/" + ($0["date"].string ?? "") })))
                // A day has no resource if nothing was measured on it that FHIR has a code for.
                let bare = days.filter { !there.contains("me/" + ($0["date"].string ?? "")) }
                #expect(bare.count < days.count / 10)
                #expect(bare.allSatisfy { $0["steps"].isNull && $0["heartRate"]["average"].isNull }, "\(bare)")
                #expect(try await stack.interrupt(up).exit == .code(0))
                #expect(try differences(stack, port) == [])
                #expect(try get(port, "/twins") == 0, "what the server made twice is there once")
                let done = try get(port, "/faults")
                #expect(Self.faults.filter { done[$0].isNull } == [], "\(done)")
                #expect(done["refused"].int ?? 0 > 0, "\(done)")
                server.child.kill()
                _ = try await server.ended()
            }
        }

        /// Differences between resources and samples, and between dead letters and poisoned samples; only a few of each
        /// kind are listed.
        private func differences(_ stack: TestStack, _ port: Int) throws -> [String] {
            // A workout has a resource of its own. A blood pressure is one resource for its two values; another
            // correlation's parts are samples themselves.
            let all = try stack.heldSamples().filter {
                $0.type != HealthType.workoutIdentifier && !$0.type.hasPrefix("HKQuantityTypeIdentifierBloodPressure")
                    && (!$0.type.hasPrefix("HKCorrelationTypeIdentifier") || $0.type.hasSuffix("BloodPressure"))
            }
            let due = Set(all.filter { !Self.isPoison($0.id) }.map { "me/\($0.id)" })
            let bad = Set(all.filter { Self.isPoison($0.id) }.map(\.id.description))
            let there = try held(port, "sample")
            var found = due.subtracting(there.keys).sorted().prefix(3).map { "missing \($0)" }
            found += Set(there.keys).subtracting(due).sorted().prefix(3).map { "invented \($0)" }
            // Every repeat was identical, so none of them created a new version.
            found += there.filter { $0.value != 1 }.keys.sorted().prefix(3).map { "changed \($0)" }
            let dead = Set(try stack.rows("fhir", "SELECT lower(id) FROM dead_letters"))
            found += dead.symmetricDifference(bad).sorted().prefix(3).map { "dead letter or not \($0)" }
            if bad.isEmpty { found.append("no sample is poison: nothing was tried") }
            return found
        }

        /// One source measures this type once a day, so without a sample the day's figures differ.
        private static let resting = "HKQuantityTypeIdentifierRestingHeartRate"

        @Test func aRepeatChangesNothingAndATombstoneDeletes() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "12", "--seed", "5")
                let port = try freePort()
                let server = try await server(stack, port)
                let up = try await stack.upAndReady("--config", configuration(stack, port))
                #expect(try await stack.onState("import", export).exit == .code(0))
                #expect(try await stack.onState("sync", within: 120).exit == .code(0))
                try await until("all final", every: 50) {
                    let days = try await days(stack)
                    return days.count >= 12 && days.allSatisfy { $0["final"] == true }
                }
                #expect(try await stack.onState("sync", within: 120).exit == .code(0))
                let before = try get(port, "/log").array?.count ?? 0
                let requests = try get(port, "/faults")["well"].int ?? 0
                #expect(before > 1000)

                let first = try #require(try await days(stack).first?["date"].string)
                let replay = try await stack.onState("replay", "fhir", "--from", first, within: 300)
                #expect(replay.exit == .code(0), "\(replay.error)")
                let repeats = (try get(port, "/faults")["well"].int ?? 0) - requests
                #expect(repeats >= before / 200, "it was all sent again")
                #expect(try get(port, "/log").array?.count == before, "and nothing changed")

                // An export that lacks one sample, although it claims to be complete. It isn't the first sample of its
                // type, because samples from before an export begins don't count as missing.
                let lines = String(decoding: try Archive.entry("/export.xml", of: export), as: UTF8.self)
                    .split(separator: "\n")
                let gone = try #require(
                    lines.lastIndex {
                        $0.contains(Self.resting) && $0.contains(#/startDate="[0-9-]+ (0[3-9]|1[0-9])/#)
                            && $0.hasSuffix("/>")
                    })
                let day = try #require(lines[gone].firstMatch(of: #/startDate="([0-9-]+) /#)?.1)
                let kept = lines.indices.filter { $0 != gone }.map { index in
                    lines[index].contains("<ExportDate")
                        ? " <ExportDate value=\"2025-05-01 09:00:00 +0200\"/>" : String(lines[index])
                }
                try Archive.write(
                    ["apple_health_export/export.xml": kept.joined(separator: "\n")], to: stack.path("newer.zip"))
                let complete = try await stack.onState("import", "--complete", stack.path("newer.zip"))
                #expect(complete.exit == .code(0), "\(complete.error)")
                var news: [[String]] = []
                try await until(
                    "the sample is gone, and its day has changed: \(news)\n\(up.error.suffix(3000))", every: 50
                ) {
                    news = (try get(port, "/log", ["from": "\(before)"]).array ?? []).map { entry in
                        (entry.array ?? []).compactMap(\.string)
                    }
                    return news.contains { $0.first == "DELETE" } && news.contains { $0.first == "PUT" }
                }
                #expect(try await stack.onState("sync", within: 120).exit == .code(0))
                news = (try get(port, "/log", ["from": "\(before)"]).array ?? []).map { entry in
                    (entry.array ?? []).compactMap(\.string)
                }
                #expect(news.count { $0.first == "DELETE" } == 1)
                #expect(
                    Set(news.filter { $0.first == "PUT" }.map { $0.dropFirst().joined(separator: " ") })
                        == ["urn:x-healthbus:day me/\(day)"], "\(news)")
                #expect(try await stack.interrupt(up).exit == .code(0))
                server.child.kill()
                _ = try await server.ended()
            }
        }
    }
}
