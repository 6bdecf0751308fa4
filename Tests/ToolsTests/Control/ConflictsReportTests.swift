import Control
import HealthModel
import HealthStore
import Protocol
import Terminal
import Testing

@Suite struct ConflictsReportTests {
    static func content(_ value: Double?, after seconds: Int64 = 0) -> RecordConflict.Content {
        let start = Instant(seconds: 1_743_000_000 + seconds)
        return .init(start: start, end: start + .seconds(60), value: value, unit: "count")
    }

    private static func row(_ number: Int64, _ reason: String, _ raw: String) -> QuarantinedRow {
        var row = QuarantinedRow(
            number: number, user: "anna", type: "HKQuantityTypeIdentifierStepCount", kind: .input, reason: reason,
            source: "/v1/samples", line: 2, seen: 3, start: nil, end: nil)
        row.record = .input(raw: raw)
        return row
    }

    private static func conflict(kept: RecordConflict.Content?) -> RecordConflict {
        RecordConflict(
            type: "HKQuantityTypeIdentifierStepCount", uuid: "01977f3a-5c00-8abc-9def-000000000001", source: "Watch",
            other: content(40, after: 5), kept: kept)
    }

    @Test(arguments: [ConflictsReportTests.content(12), ConflictsReportTests.content(nil), nil])
    func aConflictIsReadAsItWasWritten(_ kept: RecordConflict.Content?) {
        let conflict = Self.conflict(kept: kept)
        #expect(RecordConflict(json: conflict.json) == conflict)
    }

    @Test func theListShowsWhatStaysBesideWhatCame() throws {
        let rows = [
            Self.row(1, RecordConflict.reason, Self.conflict(kept: Self.content(12)).json),
            Self.row(2, "value isn't a number", "{}"), Self.row(3, RecordConflict.reason, "{}"),
        ]
        let report = ConflictsReport(entries: rows.compactMap(ConflictsReport.Entry.init), count: 4)
        #expect(report.entries.map(\.number) == [1])
        let shown = try #require(report.value.array?.first)
        #expect(shown["kept"]["value"].double == 12 && shown["other"]["value"].double == 40 && shown["seen"] == 3)
        #expect(shown["other"]["start"] == "2025-03-26T14:40:05Z")
        let text = report.text(for: Terminal(isTerminal: false))
        #expect(text.contains("12 count at") && text.contains("40 count at") && text.contains("and 3 more"))
        #expect(ConflictsReport(entries: []).text(for: Terminal(isTerminal: false)) == "No conflicts.\n")
    }

    @Test func whatWasSettledMeanwhileIsLeftOut() {
        let conflict = Self.conflict(kept: Self.content(12))
        let report = ConflictsReport(of: [1, 2, 3]) { number in
            number == 2 ? nil : Self.row(number, RecordConflict.reason, conflict.json)
        }
        #expect(report.entries.map(\.number) == [1, 3] && report.count == 2)
    }

    @Test func fractionsAreShownAsPercentages() throws {
        let start = Instant(seconds: 1_743_000_000)
        let other = RecordConflict.Content(start: start, end: start, value: 0.963, unit: "%")
        let conflict = RecordConflict(
            type: "HKQuantityTypeIdentifierOxygenSaturation", uuid: "01977f3a-5c00-8abc-9def-000000000001",
            source: "Watch", other: other, kept: nil)
        let entry = try #require(ConflictsReport.Entry(Self.row(1, RecordConflict.reason, conflict.json)))
        let report = ConflictsReport(entries: [entry])
        #expect(report.text(for: Terminal(isTerminal: false)).contains("96.3 % at"))
        // Programs read what is stored.
        #expect(report.value.array?.first?["other"]["value"].double == 0.963)
    }

    @Test func theListShowsWhatDestinationsHave() throws {
        let conflict = DeliveryConflict(
            number: 4, user: "anna", metric: "daily", id: "2025-03-30", version: 17,
            firstSeen: Instant(seconds: 1_743_000_000), lastSeen: Instant(seconds: 1_743_000_060), seen: 2)
        let report = ConflictsReport(entries: [], delivered: [.init(destination: "uploader", conflict: conflict)])
        #expect(
            report.value == [
                [
                    "id": .null, "user": "anna", "destination": "uploader", "metric": "daily",
                    "element": "2025-03-30", "version": 17, "seen": 2, "firstSeen": "2025-03-26T14:40:00Z",
                    "lastSeen": "2025-03-26T14:41:00Z",
                ]
            ])
        let text = report.text(for: Terminal(isTerminal: false))
        #expect(
            text.contains("uploader") && text.contains("2025-03-30")
                && text.contains("verify --destination uploader --repair"))
        #expect(!text.contains("resolve"))
        // Each command runs as printed: it names one destination.
        let other = ConflictsReport.Delivered(destination: "mine", conflict: conflict)
        let both = ConflictsReport(entries: [], delivered: [.init(destination: "uploader", conflict: conflict), other])
            .text(for: Terminal(isTerminal: false))
        #expect(both.contains("'healthbus verify --destination uploader --repair' makes one there."))
    }
}
