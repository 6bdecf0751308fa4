import Foundation
import HealthModel
import Processes
import SQLite
import Testing

extension EndToEnd {
    /// Tests samples that arrive after all days are final, and samples that can't be true.
    @Suite struct LateTests {
        private static func export(_ records: [String]) -> String {
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <HealthData locale="en_DE">
             <ExportDate value="2025-04-06 08:00:00 +0200"/>

            """ + records.joined(separator: "\n") + "\n</HealthData>\n"
        }

        private static func record(
            _ type: String, _ value: String, _ unit: String, _ start: String, _ end: String? = nil
        ) -> String {
            let times = [("creationDate", end ?? start), ("startDate", start), ("endDate", end ?? start)]
            return
                " <Record type=\"HKQuantityTypeIdentifier\(type)\" sourceName=\"Strap\" sourceVersion=\"1\" unit=\"\(unit)\""
                + times.map { " \($0.0)=\"2025-\($0.1):00 +0200\"" }.joined() + " value=\"\(value)\"/>"
        }

        private struct Delivered: Equatable {
            var version: Int
            var revision: Int64?
            var isFinal: Bool?
        }

        /// The backend's days, by date.
        private static func days(_ stack: TestStack) throws -> [String: Delivered] {
            try stack.read("backend") { database in
                var days: [String: Delivered] = [:]
                try database.prepare("SELECT id, version, body FROM documents WHERE kind = 0").forEachRow { row in
                    let body = try Value(json: row.bytes(2))
                    days[row.string(0)] = Delivered(
                        version: row.int(1), revision: body["revision"].int, isFinal: body["final"].bool)
                }
                return days
            }
        }

        @Test func aLateSampleDeliversItsDayAgainAndNoOther() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--records", "3000")
                let first = try await stack.up("--import", export, "--until-idle").ended()
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                let before = try Self.days(stack)
                #expect(before.count >= 10 && before.values.allSatisfy { $0.revision == 1 && $0.isFinal == true })

                let late = try stack.write(
                    "late.xml", Self.export([Self.record("StepCount", "77", "count", "04-01 03:10", "04-01 03:14")]))
                let second = try await stack.up("--import", late, "--until-idle").ended()
                #expect(second.exit == .code(0), "\(second.error.suffix(2000))")
                let after = try Self.days(stack)
                #expect(after.filter { before[$0.key] != $0.value }.keys.sorted() == ["2025-04-01"])
                let day = try #require(after["2025-04-01"])
                #expect(day.revision == 2 && day.isFinal == true)
            }
        }

        @Test func implausibleSamplesAreKeptApartWithTheReason() async throws {
            try await withStack { stack in
                let export = try await stack.generate("export.zip", "--days", "10", "--records", "3000")
                let first = try await stack.up("--import", export, "--until-idle").ended()
                #expect(first.exit == .code(0), "\(first.error.suffix(2000))")
                let before = try await StackContent(of: stack)

                let wild = [
                    ("HeartRate", "400", "count/min", "04-01 09:00", nil, "above"),
                    ("HeartRate", "-3", "count/min", "04-01 09:01", nil, "below"),
                    ("StepCount", "9000", "count", "04-01 10:00", "04-01 10:02", "more than its duration"),
                    ("BodyMass", "3000", "kg", "04-02 07:00", nil, "above"),
                    ("OxygenSaturation", "170", "%", "04-02 08:00", nil, "above"),
                    ("ActiveEnergyBurned", "-1", "kcal", "04-02 09:00", "04-02 09:01", "negative"),
                    ("StepCount", "5", "count", "04-02 10:00", "04-02 09:00", "it ends before it starts"),
                ]
                let file = try stack.write(
                    "wild.xml", Self.export(wild.map { Self.record($0.0, $0.1, $0.2, $0.3, $0.4) }))
                // The result is the same however often the file is imported.
                for _ in 1...2 {
                    let ended = try await stack.up("--import", file, "--until-idle", "--json").ended()
                    #expect(ended.exit == .code(0), "\(ended.error.suffix(2000))")
                    let report = try #require(try ended.json()["files"].array?.first)
                    #expect(report["read"] == 7 && report["added"] == 0, "\(report)")
                    #expect(report["quarantined"] == 7, "\(report)")
                    #expect(try await stack.onState("status", "--json").json()["quarantined"] == 7)
                    // Such samples are neither counted nor delivered; not a byte changes.
                    #expect(try await StackContent(of: stack).differences(from: before) == [])
                }
                let kept = try stack.rows(
                    "observer",
                    """
                    SELECT reason || '|' || line FROM quarantine JOIN samples ON samples.id = quarantine.sample
                    WHERE state = 3 ORDER BY line
                    """)
                #expect(kept.count == 7)
                for (index, (entry, sample)) in zip(kept, wild).enumerated() {
                    #expect(entry.contains(sample.5) && entry.hasSuffix("|\(index + 4)"), "\(entry)")
                    // No reason contains a value.
                    #expect(!entry.contains(sample.1) || sample.1.count == 1, "\(entry)")
                }
            }
        }
    }
}
