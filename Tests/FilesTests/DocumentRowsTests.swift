import FilesStage
import HealthModel
import Testing

/// The rows of a document in the format of a standard.
@Suite struct DocumentRowsTests {
    private func rows(_ content: FileSpan.Content, _ format: FileFormat, _ document: Value) throws -> [Value] {
        let day = try #require(LocalDay("2025-03-30"))
        let span = FileSpan(user: "me", content: content, period: FilePeriod(.year, of: day), format: format)
        let made = DocumentRows(span, figures: []).rows(document, version: 7)
        let lines = String(decoding: made.bytes, as: UTF8.self).split(separator: "\n")
        #expect(Int64(lines.count) == made.count)
        return try lines.map { try Value(json: Array($0.utf8)) }
    }

    private let night: Value = [
        "id": "n", "date": "2025-03-30", "start": "2025-03-29T22:00:00Z", "end": "2025-03-30T05:30:00Z",
        "asleepMinutes": 411,
    ]

    @Test func aNightIsOneResourceAndTwoDataPoints() throws {
        let resources = try rows(.nights, .fhir, night)
        #expect(resources.map { $0["identifier"].array?.first?["value"].string } == ["me/n"])
        let points = try rows(.nights, .openMHealth, night)
        #expect(points.map { $0["header"]["schema_id"]["name"].string } == ["sleep-episode", "sleep-duration"])
        #expect(Set(points.map { $0["header"]["id"].string }).count == 2)
        #expect(try rows(.nights, .ndjson, night).map { $0["version"].int } == [7])
    }

    @Test func aDayWithoutHoursHasNoDataPoint() throws {
        #expect(try rows(.days, .openMHealth, ["date": "2025-03-30", "steps": 1]).isEmpty)
    }

    /// No figure is declared here.
    @Test func aDayWithoutFiguresHasNoResource() throws {
        #expect(try rows(.days, .fhir, ["date": "2025-03-30", "steps": 1]).isEmpty)
    }
}
