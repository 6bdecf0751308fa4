import Foundation
import HealthModel
import Inspection
import Protocol
import Terminal
import Testing

@Suite struct DestinationReportTests {
    private func details(blocked: String?, why: String?) -> UploaderDetails {
        UploaderDetails(
            deadLetters: 0, droppedLetters: 0, delivered: [:], lastDelivered: [:], delays: [:],
            delayBuckets: .init(bounds: [], metrics: [:]), answers: .init(created: 0, updated: 0, known: 0),
            blocked: blocked, waitsUntil: nil, held: 0,
            backend: .init(
                acceptance: .unknown, isCompared: false, compared: nil, result: nil, missing: nil, check: nil, why: why),
            paused: false, path: nil, waiting: 0)
    }

    /// With nothing to deliver, only the comparison shows that the database isn't there.
    @Test func aDestinationThatCannotBeReachedIsReportedBeforeThereIsAnythingToDeliver() {
        let why = details(blocked: nil, why: "there is no database 'healht'").unreachable
        #expect(details(blocked: "no connection", why: "no connection").unreachable == nil)
        let row = DestinationReport.Row(
            name: "postgres", plugin: "postgres", place: "db/healht", state: "ready",
            behind: nil, rate: nil, delivered: 0,
            lastDelivered: nil, deadLetters: 0, blocked: nil, unreachable: why)
        let report = DestinationReport(rows: [row], now: Date(timeIntervalSince1970: 0))
        #expect(
            report.text(for: Terminal(isTerminal: false))
                .hasSuffix("\npostgres can't be reached: there is no database 'healht'\n"))
        #expect(report.value.array?.first?["unreachable"] == "there is no database 'healht'")
    }
}
