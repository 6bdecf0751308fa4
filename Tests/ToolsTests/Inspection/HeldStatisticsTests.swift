import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import Terminal
import TestSupport
import Testing

/// Sums and means have types of their own; whoever looks for the plain type is led there.
@Suite struct HeldStatisticsTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let heart = "HKQuantityTypeIdentifierHeartRate"

    private func row(_ type: String, _ alive: Int, user: String = "me") -> TypeRow {
        TypeRow(
            user: user, type: type, sequence: SequenceNumber(1), alive: alive, deleted: 0, quarantined: 0,
            firstStart: nil,
            lastStart: nil, lastEnd: nil)
    }

    private var held: HeldStatistics {
        HeldStatistics([
            row(Self.steps, 9), row(Self.steps + ".statistics", 48), row(Self.heart + ".statistics", 1),
            row(Self.steps + ".statistics", 2, user: "anna b"), row("HKQuantityTypeIdentifierBodyMass.statistics", 0),
        ])
    }

    @Test func eachTypeHasTheCommandThatListsItsSums() {
        #expect(
            held.of("me", types: [Self.steps]).text
                == "48 sums of StepCount aren't samples: 'healthbus samples --type StepCount.statistics' lists them\n")
        #expect(
            held.of("me").lines.first
                == "1 mean of HeartRate isn't a sample: 'healthbus samples --type HeartRate.statistics' lists it")
        #expect(
            Advice.commands(in: held.of("anna b").text) == [
                "healthbus samples --type StepCount.statistics --user \"anna b\""
            ])
        #expect(held.of("me", types: []).text.isEmpty && held.of("robin").text.isEmpty)
    }

    @Test func statusCountsThemByFamily() {
        let metrics: [Value] = [
            ["metric": "steps", "statistics": 50], ["metric": "sleep", "statistics": 0],
            ["metric": "heart-rate", "statistics": 1],
        ]
        #expect(
            StatusReport.statisticsText(metrics)
                == "Sums and means, which aren't samples: steps 50, heart-rate 1. 'healthbus types' lists them by type, "
                + "ending in .statistics.\n")
        #expect(StatusReport.statisticsText([["metric": "sleep", "statistics": 0]]).isEmpty)
    }

    @Test func theListOfImportsSaysWhatWasTakenAsSums() {
        var reported = ImportReport(
            path: "/x/HealthAutoExport.json", total: .init(read: 3, added: 3, known: 0, deleted: 0, quarantined: 0),
            byType: [:], seconds: 1)
        let reason = "all of the metric's dates are on whole hours"
        reported.source.statistics = [TakenStatistics(type: Self.steps, count: 3, reason: reason)]
        let row = ImportRow(
            id: "8c1f", path: reported.path, user: "me", state: .closed, report: Value(reported), problem: nil,
            request: nil)
        var report = ImportsReport(rows: [row], devices: [.init(user: "me", device: "phone", ways: ["live"])])
        report.statistics = held
        let text = report.table(for: Terminal(isTerminal: false))
        #expect(text.contains("\n8c1f 3 entries of StepCount taken as sums, not samples: \(reason)\n"), "\(text)")
        #expect(text.hasSuffix("\n" + held.text), "\(text)")
        #expect(
            report.only("anna b").value["statistics"] == [["user": "anna b", "type": .string(Self.steps), "count": 2]])
        #expect(Value(reported)["statistics"].array?.first?["count"] == 3)
        var undone = row
        undone.undone = 7
        #expect(
            !ImportsReport(rows: [undone], devices: []).table(for: Terminal(isTerminal: false)).contains("taken as"))
    }
}
