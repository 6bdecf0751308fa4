import Foundation
import HealthModel
import Processes
import Testing

extension EndToEnd {
    /// `import --complete`: samples that an export lacks disappear from the store, the days and the backend, and come
    /// back with a later export.
    @Suite struct CompleteImportTests {
        private static let steps = "HKQuantityTypeIdentifierStepCount"

        /// Writes an export with a different date, without one day's steps.
        private func write(
            _ stack: TestStack, _ name: String, _ lines: [Substring], date: String, without day: String? = nil
        ) throws -> (path: String, left: Int) {
            var left = 0
            let kept = lines.compactMap { line -> String? in
                if let day, line.contains("<Record type=\"\(Self.steps)"), line.contains("startDate=\"\(day)"),
                    line.hasSuffix("/>")
                {
                    left += 1
                    return nil
                }
                return line.contains("<ExportDate") ? " <ExportDate value=\"\(date) 09:00:00 +0200\"/>" : String(line)
            }
            let path = stack.path(name)
            try Archive.write(["apple_health_export/export.xml": kept.joined(separator: "\n")], to: path)
            return (path, left)
        }

        private func days(_ stack: TestStack) async throws -> [String: Value] {
            Dictionary(
                uniqueKeysWithValues: (try await stack.onState("days", "--json", "--from", "1990-01-01").json().array
                    ?? []).map {
                        ($0["date"].string ?? "", $0)
                    })
        }

        @Test func whatACompleteExportLacksIsGoneUntilALaterOneHoldsIt() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "12", "--seed", "5")
                let lines = String(decoding: try Archive.entry("/export.xml", of: export), as: UTF8.self)
                    .split(separator: "\n")
                let up = try await stack.upAndReady()
                #expect(try await stack.onState("import", export).exit == .code(0))
                try await until("all final", every: 50) {
                    let days = try await days(stack)
                    return days.count >= 12 && days.values.allSatisfy { $0["final"] == true }
                }
                let before = try await days(stack)
                let day = "2025-04-01"
                let (newer, left) = try write(stack, "newer.zip", lines, date: "2025-05-01", without: day)
                #expect(left > 10)

                // A dry run changes nothing, and reports everything.
                let trial = try await stack.onState("import", "--complete", "--dry-run", "--json", newer).json()
                let tried = try #require(trial["files"].array?.first)
                #expect(tried["dryRun"] == true && tried["added"] == 0 && tried["refused"] == .null, "\(tried)")
                #expect(tried["deletedByAbsence"].int == Int64(left))
                #expect(tried["byType"][Self.steps]["deletedByAbsence"].int == Int64(left))
                #expect(try stack.number("observer", "SELECT count(*) FROM samples WHERE state = 1") == 0)
                // An attempt to delete too much at once is refused.
                let strict = try await stack.onState("import", "--complete", "--delete-up-to", "0.001", newer)
                #expect(strict.exit == .code(1) && strict.error.contains("the limit is 0.001 %"), "\(strict.error)")
                #expect(strict.error.contains("wasn't imported: it would delete"))
                #expect(try stack.number("observer", "SELECT count(*) FROM samples WHERE state = 1") == 0)

                let done = try await stack.onState("import", "--complete", newer)
                #expect(done.exit == .code(0) && done.output.contains("deleted: \(left) \(Self.steps)"), "\(done)")
                try await until("the backend has the tombstones", every: 50) {
                    try stack.get("stats")["samples"]["deleted"].int == Int64(left)
                }
                try await until("the day follows", every: 50) {
                    let now = try await days(stack)[day]
                    return now?["steps"] != before[day]?["steps"] && now?["final"] == true
                }
                let after = try await days(stack)
                #expect(after.filter { $0.value["steps"] != before[$0.key]?["steps"] }.keys.sorted() == [day])

                // An older export is refused as no longer complete; a later one restores everything.
                let older = try write(stack, "older.zip", lines, date: "2025-04-20").path
                let refused = try await stack.onState("import", "--complete", older)
                #expect(refused.exit == .code(1) && refused.error.contains("already been imported"), "\(refused.error)")
                let later = try write(stack, "later.zip", lines, date: "2025-06-01").path
                #expect(try await stack.onState("import", "--complete", later).exit == .code(0))
                try await until("all is back", every: 50) {
                    let now = try await days(stack)
                    return try now.allSatisfy {
                        $0.value["steps"] == before[$0.key]?["steps"] && $0.value["final"] == true
                    }
                        && stack.get("stats")["samples"]["deleted"] == 0
                }
                #expect(try stack.get("stats")["acceptedTwice"] == 0)
                #expect(try await stack.interrupt(up).exit == .code(0))
            }
        }

        @Test func isCalledRightly() async throws {
            try await withStack { stack in
                for (words, message) in [
                    (["--complete", "a.zip", "b.zip"], "takes one file"),
                    (["--delete-up-to", "7", "a.zip"], "needs --complete"),
                    (["--complete", "--delete-up-to", "101", "a.zip"], "from 0 to 100"),
                ] {
                    let ended = try await stack.start(["import"] + words + ["--state", stack.state]).ended()
                    #expect(ended.exit == .code(2) && ended.error.contains(message), "\(words): \(ended.error)")
                }
            }
        }
    }
}
