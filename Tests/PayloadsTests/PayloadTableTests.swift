import FilesStage
import Foundation
import GenericStage
import HealthModel
import HealthResources
import Testing
import UploaderReading

/// `docs/destinations.md` says what becomes of each payload; each of its rows is checked against the code.
@Suite struct PayloadTableTests {
    private static let names = PayloadCase.all.map(\.name)

    private func made(_ name: String) throws -> (expected: PayloadCase, kept: KeptSample) {
        let expected = try #require(PayloadCase.all.first { $0.name == name })
        return (expected, try KeptSample(expected.way))
    }

    private func file(_ kept: KeptSample, _ format: FileFormat) -> String {
        let span = FileSpan(
            user: "me", content: .samples(type: kept.type), period: FilePeriod(.month, at: kept.page.startOf(0)),
            format: format)
        var bytes: [UInt8] = []
        _ = SampleRows(span).append(kept.page, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func documentation() throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/destinations.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let rows = PayloadCase.all.map { expected in
            "| \(expected.name) | \(expected.fhir) | \(expected.openMHealth.isEmpty ? "nothing" : expected.openMHealth) | \(expected.day) |"
        }
        #expect(
            text.contains(rows.joined(separator: "\n") + "\n| "),
            "the rows follow each other:\n\(rows.joined(separator: "\n"))")
    }

    /// Backends and files get the whole payload, unchanged. (PostgreSQL too: `whatIsKeptOfASample`.)
    @Test(arguments: names)
    func allOfItIsInTheSample(_ name: String) throws {
        let (expected, kept) = try made(name)
        #expect(!kept.payload[expected.member].isNull)
        var body: [UInt8] = []
        UploadEncoding.samples(page: kept.page, rows: [0], user: "me", deviceId: "d", syncedAt: .epoch, into: &body)
        #expect(try Value(json: body)["samples"].array?.first?["payload"] == kept.payload)
        #expect(try Value(json: Array(file(kept, .ndjson).utf8))["payload"] == kept.payload)
        let field = kept.page.payload[0].replacing("\"", with: "\"\"")
        #expect(file(kept, .csv).contains("\"\(field)\""))
    }

    @Test(arguments: names)
    func whatFHIRSaysOfIt(_ name: String) throws {
        let (expected, kept) = try made(name)
        let line = file(kept, .fhir)
        #expect(line.isEmpty == (expected.says == nil))
        for word in expected.says ?? [] { #expect(line.contains(word), "\(word) in \(line)") }
        for word in expected.hides { #expect(!line.contains(word), "\(word) in \(line)") }
    }

    /// Workouts are documents: `ObservationTests.aWorkout` says what FHIR has of them.
    @Test func metadataIsOnlyInTheSample() throws {
        let kept = try KeptSample(
            .samples(
                #"{"type":"HKQuantityTypeIdentifierHeartRate","start":"2025-03-30T06:15:00Z","value":61,"metadata":{"Mood":"m1"}}"#
            ))
        #expect(file(kept, .csv).contains("m1") && file(kept, .ndjson).contains("m1"))
        #expect(!file(kept, .fhir).contains("m1") && !file(kept, .openMHealth).contains("m1"))
    }

    @Test(arguments: names)
    func whatOpenMHealthSaysOfIt(_ name: String) throws {
        let (expected, kept) = try made(name)
        let line = file(kept, .openMHealth)
        let schema = line.isEmpty ? nil : try Value(json: Array(line.utf8))["header"]["schema_id"]["name"].string
        #expect(schema == expected.schema)
        for word in expected.hides where schema != nil { #expect(!line.contains(word)) }
    }

    /// Figures of other handlers have tests of their own: `SpreadTests`, `SleepStatisticTests`, `PlacesDay`'s.
    @Test(arguments: PayloadCase.all.filter { $0.figure != nil }.map(\.name))
    func whatADaySaysOfIt(_ name: String) throws {
        let (expected, kept) = try made(name)
        let zones = try ZoneTimeline(zone: "UTC")
        let handler = GenericHandler()
        let day = try #require(LocalDay("2025-03-30"))
        let input = DayInput(
            user: "me", day: day, window: try handler.window([:]), zones: zones, cutting: kept.page)
        let figure = try handler.compute(input).figures["other"]?[kept.type]
        #expect(figure == expected.figure, "\(figure?.json() ?? "none")")
    }
}
