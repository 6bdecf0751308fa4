import Foundation
import HealthModel
import Monitoring
import Protocol
import Terminal
import Testing

@Suite struct AlertsReportTests {
    private static let remedy =
        "'healthbus dead-letters list --state /srv/health' says what it refused; "
        + "'healthbus dead-letters retry --all --state /srv/health' sends it again once the backend takes it"
    private static let report = AlertsReport(
        raised: [
            (
                "uploader",
                RaisedAlert(
                    kind: "dead-letters", subject: "", text: "the backend refused 3\u{1B}[2J elements", remedy: remedy,
                    since: Instant(seconds: 1_743_000_000)), ""
            )
        ],
        now: Date(timeIntervalSince1970: 1_743_000_300))

    /// The screen wraps the line, but whatever its width, a command in it can be read and copied as a whole.
    @Test(arguments: [80, 120]) func aScreenShowsTheWholeRemedy(_ width: Int) {
        let lines = Self.report.text(for: Terminal(isTerminal: true, width: width)).split(separator: "\n")
        #expect(lines.count == 2 && lines.last == "  do: \(Self.remedy)")
        #expect(lines.first?.hasSuffix("  uploader: the backend refused 3 [2J elements") == true)
    }

    @Test func aPipeGetsATable() {
        let lines = Self.report.text(for: Terminal(isTerminal: false)).split(separator: "\n")
        #expect(lines.first?.hasPrefix("Since") == true && lines.count == 2)
        #expect(lines.last?.hasPrefix("2025-03-26T14:40:00Z  uploader  the backend") == true)
        #expect(lines.last?.hasSuffix(Self.remedy) == true)
    }

    /// Programs learn which alerts say that something is wrong; only those are counted.
    @Test func newsIsMarked() throws {
        let report = AlertsReport(
            raised: ["workout-recorded", "degraded", "from-a-later-release"].map { kind in
                ("x", RaisedAlert(kind: kind, subject: "", text: "t", remedy: "r", since: .epoch), "")
            }, now: Date(timeIntervalSince1970: 0))
        let members = try Value(json: Array(report.json.utf8)).array ?? []
        #expect(members.map { $0["news"].bool } == [true, false, false])
        #expect(report.findings == 2)
    }

    /// Where several people have news, each row says whose it is; programs always learn it.
    @Test(arguments: [
        (["anna", "me"], ["anna: t", "me: t"]), (["me", "me"], ["t", "t"]), (["", "me"], ["t", "t"]),
    ])
    func newsSaysWhoseItIs(_ people: [String], _ texts: [String]) throws {
        let report = AlertsReport(
            raised: people.map {
                ("x", RaisedAlert(kind: "workout-recorded", subject: "", text: "t", remedy: "r", since: .epoch), $0)
            }, now: Date(timeIntervalSince1970: 0))
        let members = try Value(json: Array(report.json.utf8)).array ?? []
        #expect(members.map { $0["user"].string ?? "" } == people)
        let lines = report.text(for: Terminal(isTerminal: false)).split(separator: "\n").dropFirst()
        #expect(zip(lines, texts).allSatisfy { $0.contains("x     \($1)  ") }, "\(lines)")
    }
}
