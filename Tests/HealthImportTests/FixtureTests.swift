import Foundation
import HealthImport
import HealthModel
import TestSupport
import Testing

/// Other people's exports, if there are any: in `HEALTHBUS_FIXTURES`, or beside the repository.
private let fixtures: String? = {
    let beside = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../shared/fixtures").standardized.path
    let folder = ProcessInfo.processInfo.environment["HEALTHBUS_FIXTURES"] ?? beside
    return FileManager.default.fileExists(atPath: folder) ? folder : nil
}()

@Suite(.enabled(if: fixtures != nil)) struct FixtureTests {
    private func read(_ name: String) throws -> (receiver: CollectingReceiver, summary: ReadSummary) {
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: (fixtures ?? "") + "/" + name).read(into: receiver.take)
        return (receiver, summary)
    }

    @Test func bothAnonymisedArchivesAreReadWholeAndAlike() throws {
        let (receiver, summary) = try read("apple-export-anonymised/test-export.zip")
        #expect(
            summary.records == 8038 && receiver.rows.count == 8038 && summary.quarantined == 0 && summary.damaged == nil
        )
        let lists = try receiver.rows.filter { !$0.payload.isEmpty }.map {
            try Value(json: Array($0.payload.utf8))["beats"].array ?? []
        }
        let beats = lists.joined()
        #expect(lists.count == 400 && beats.count == 13_081)
        #expect(beats.allSatisfy { beat in (beat.array?[1].double).map { $0 >= 0 && $0 < 300 } ?? false })
        let other = try read("apple-export-anonymised/test-export2.zip")
        #expect(other.receiver.rows.map(\.start) == receiver.rows.map(\.start) && other.summary.records == 8038)
    }

    @Test(arguments: [
        ("legacy-ios9/export.xml", 3067), ("tdda/export6s3sample.xml", 15), ("synthetic-ios17/sample_export.xml", 6),
        ("workout-routes/export.xml", 2),
    ])
    func otherExportsAreReadWhole(name: String, records: Int) throws {
        let (_, summary) = try read(name)
        #expect(summary.records == records && summary.quarantined == 0 && summary.damaged == nil)
    }

    @Test func anECGOfOthersIsRead() throws {
        func bytes(_ name: String) throws -> [UInt8] {
            [UInt8](try Data(contentsOf: URL(fileURLWithPath: (fixtures ?? "") + "/synthetic-ios17/" + name)))
        }
        let folder = try TemporaryFolder()
        let zip = ZipBytes([
            ("apple_health_export/export.xml", try bytes("sample_export.xml")),
            ("apple_health_export/electrocardiograms/ecg_2024-06-15.csv", try bytes("sample_ecg.csv")),
            ("apple_health_export/workout-routes/route.gpx", try bytes("sample_workout_route.gpx")),
        ])
        let receiver = CollectingReceiver()
        let summary = try ExportReader(path: folder.file("e.zip", zip.bytes)).read(into: receiver.take)
        #expect(summary.electrocardiograms == 1 && summary.quarantined == 0 && summary.unread.isEmpty)
        let row = try #require(receiver.rows.last { $0.type.hasSuffix("Electrocardiogram") })
        #expect(row.start == "2024-06-15T10:30:00Z")
        let body = try Value(json: Array(row.payload.utf8))
        #expect(body["rhythm"] == "sinusRhythm" && body["measurements"] == 10 && body["sampleRate"] == 512)
    }
}
