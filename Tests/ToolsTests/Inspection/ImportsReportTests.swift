import HealthModel
import Inspection
import Protocol
import Terminal
import TestSupport
import Testing

/// How `healthbus imports list` describes what has happened to a file.
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

    private func row(
        _ id: String, _ state: ImportRow.State, problem: String? = nil, user: String = "me", dryRun: Bool = false
    ) -> ImportRow {
        ImportRow(
            id: id, path: "/home/anna/export.zip", user: user, state: state,
            report: dryRun ? ["dryRun": true] : nil, problem: problem, request: nil)
    }

    /// The reason names the file, but not the folder it was in.
    @Test func theListSaysWhyAnImportFailed() {
        let rows = [
            row("8c1f", .failed, problem: "'/home/anna/export.zip' is empty; copy it again"),
            row("9d20", .failed, problem: ImportRow.cancelled), row("ae31", .closed),
        ]
        let text = ImportsReport(rows: rows, devices: []).table(for: Terminal(isTerminal: false))
        #expect(text.hasSuffix("\n\n8c1f failed: 'export.zip' is empty\n"), "\(text)")
        #expect(
            !ImportsReport(rows: [row("ae31", .closed)], devices: []).table(for: Terminal(isTerminal: false))
                .contains("\n\n"))
    }

    @Test func thereMayBeOnlyOnePersonsImports() {
        let report = ImportsReport(
            rows: [row("2", .closed), row("1", .closed, user: "bob")],
            devices: [.init(user: "me", device: "phone", ways: ["live"])])
        #expect(report.only("bob").rows.map(\.id) == ["1"] && report.only("bob").devices.isEmpty)
        #expect(report.only("nobody").rows.isEmpty && report.only("me").devices.count == 1)
    }

    @Test func afterASuccessAFailureIsForgotten() {
        func failed(_ rows: ImportRow...) -> [String] { ImportsReport.failed(rows).map(\.id) }
        #expect(failed() == [] && failed(row("2", .failed), row("1", .closed)) == ["2"])
        #expect(failed(row("2", .closed), row("1", .failed)) == [])
        #expect(failed(row("2", .closed, dryRun: true), row("1", .failed)) == ["1"])
        #expect(failed(row("2", .failed, problem: ImportRow.cancelled), row("1", .closed)) == [])
        #expect(failed(row("2", .closed, user: "bob"), row("1", .failed)) == ["1"])
    }

    /// A backup doesn't contain the file of such an import, and says so.
    @Test func aFileThatIsStillBeingReceivedIsUnderWay() {
        let states: [ImportRow.State] = [.announced, .receiving, .open]
        #expect(states.allSatisfy { $0.isUnderWay })
        #expect(!ImportRow.State.closed.isUnderWay && !ImportRow.State.failed.isUnderWay)
    }

    /// A dry run brings nothing that a phone's data could mix with.
    @Test func aDryRunMakesNobodysDataMadeUp() {
        func row(dryRun: Bool, madeUp: Bool) -> ImportRow {
            var report = ImportReport(
                path: "/x/export.zip", total: .init(read: 3, added: 3, known: 0, deleted: 0, quarantined: 0),
                byType: [:], seconds: 1)
            (report.dryRun, report.source.madeUp) = (dryRun ? true : nil, madeUp ? true : nil)
            return ImportRow(
                id: "1", path: report.path, user: "me", state: .closed, report: Value(report), problem: nil,
                request: nil)
        }
        func isMadeUp(_ rows: ImportRow...) -> Bool { ImportsReport(rows: rows, devices: []).isMadeUp("me") }
        let generated = row(dryRun: false, madeUp: true)
        #expect(isMadeUp(generated) && !isMadeUp(row(dryRun: true, madeUp: true)))
        #expect(isMadeUp(generated, row(dryRun: true, madeUp: false)))
    }

    @Test func whatACompleteImportDeletedIsShown() {
        func table(_ deleted: [Int64?], refused: String? = nil) -> [[Substring]] {
            let rows = deleted.map { deleted in
                var report = ImportReport(
                    path: "/x/export.zip", total: .init(read: 3, added: 1, known: 2, deleted: 0, quarantined: 0),
                    byType: [:], seconds: 1)
                report.completeness = deleted.map {
                    .init(exportDate: nil, deletedByAbsence: $0, refused: refused)
                }
                return ImportRow(
                    id: "1", path: "/x/export.zip", user: "me", state: .closed, report: Value(report), problem: nil,
                    request: nil)
            }
            let text = ImportsReport(rows: rows, devices: []).table(for: Terminal(isTerminal: false))
            return text.split(separator: "\n").map { $0.split(separator: " ") }
        }
        let usual: [Substring] = ["Id", "When", "User", "State", "Added", "Known", "File"]
        #expect(table([nil, 0]).first == usual && table([4], refused: "too many").first == usual)
        let reported = table([nil, 4])
        #expect(reported.first == ["Id", "When", "User", "State", "Added", "Deleted", "Known", "File"])
        #expect(
            reported.dropFirst().map { Array($0.suffix(4)) } == [
                ["1", "0", "2", "export.zip"], ["1", "4", "2", "export.zip"],
            ])
    }

    /// If there is nothing to show yet but an import is in progress, that import is named, instead of a suggestion to
    /// start one.
    @Test func nothingYetIsExplainedByTheImports() {
        func row(_ state: ImportRow.State, _ name: String = "export.zip", user: String = "me", added: Int64 = 0)
            -> ImportRow
        {
            let report = ImportReport(
                path: name, total: .init(read: added, added: added, known: 0, deleted: 0, quarantined: 0), byType: [:],
                seconds: 1)
            return ImportRow(
                id: name, path: "/x/\(name)", user: user, state: state,
                report: state == .closed ? Value(report) : nil, problem: nil, request: nil)
        }
        func advice(_ rows: [ImportRow], days: Bool = true, running: Bool = true, user: String? = "me") -> String {
            NothingYet.advice(rows, user: user, isDays: days, isRunning: running)
        }
        let usual = "'healthbus import FILE' brings some"
        #expect(advice([]) == usual)
        #expect(advice([row(.failed), row(.closed)]) == usual)
        for state in [ImportRow.State.announced, .receiving, .open] {
            #expect(
                advice([row(state), row(.failed, "b.zip")])
                    == "export.zip is being imported: 'healthbus imports list' shows when that is done")
        }
        #expect(advice([row(.open), row(.open, "b.zip")]).hasPrefix("2 files are being imported: "))
        #expect(
            advice([row(.open)], running: false)
                == "export.zip is only partly imported: 'healthbus up' goes on with that")
        #expect(advice([row(.open, user: "anna")]) == usual)
        #expect(advice([row(.open, user: "anna")], user: nil).hasPrefix("export.zip is being imported"))
        // Days appear after their samples; nights may simply not be in the export.
        #expect(advice([row(.closed, added: 7)]).hasPrefix("what was imported is still to be computed"))
        #expect(advice([row(.closed, added: 7)], days: false) == usual)
    }
}
