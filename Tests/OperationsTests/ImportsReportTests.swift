import HealthModel
import Inspection
import Protocol
import TestSupport
import Testing

/// How `healthbus imports list` names what became of a file.
@Suite struct ImportsReportTests {
    @Test func aDryRunIsNoImport() {
        func state(dryRun: Bool? = nil, _ change: (inout ImportRow) -> Void = { _ in }) -> String {
            var row = ImportRow(
                id: "1", path: "/x/export.zip", user: "me", state: .closed, report: nil, problem: nil, request: nil)
            var report = ImportReport(
                path: row.path, total: .init(read: 0, added: 0, known: 0, deleted: 0, quarantined: 0), byType: [:],
                seconds: 1)
            report.dryRun = dryRun
            row.report = Value(report)
            change(&row)
            return ImportsReport.state(of: row)
        }
        #expect(state() == "closed")
        #expect(state(dryRun: true) == "dry run")
        #expect(state { $0.problem = "the zip is damaged" } == "damaged")
        #expect(state { $0.state = .receiving } == "receiving")
        #expect(state { $0.problem = ImportRow.cancelled } == "cancelled")
        #expect(state { $0.undone = 7 } == "taken back")
    }
}
