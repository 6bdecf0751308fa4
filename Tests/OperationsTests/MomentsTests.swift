import Control
import HealthModel
import Inspection
import Protocol
import Terminal
import Testing

/// Times for people are brief; those for programs are unambiguous anywhere on Earth.
@Suite struct MomentsTests {
    private let screen = Terminal(isTerminal: true)
    private let pipe = Terminal(isTerminal: false)

    @Test func aPipeGetsZones() throws {
        let instant = try #require(InstantText.parse("2025-03-30T08:15:30Z"))
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        #expect(screen.moment(instant) == "2025-03-30T08:15" && pipe.moment(instant) == "2025-03-30T08:15:30Z")
        #expect(screen.moment(instant, on: zones) == "2025-03-30 10:15")
        #expect(pipe.moment(instant, on: zones) == "2025-03-30T10:15:30+02:00")
        #expect(screen.moment(instant, on: nil) == "2025-03-30T08:15:30Z")
        #expect(screen.clock(instant, on: zones) == "10:15")
        #expect(pipe.clock(instant, on: zones) == "2025-03-30T10:15:30+02:00")
    }

    @Test func silenceIsDatedInFull() {
        let began = Instant(seconds: 1_742_986_800) + .milliseconds(250)
        let now = began + .seconds(40)
        func text(_ since: Instant, _ terminal: Terminal) -> String {
            WaitTeller.text("steps", since: since, began: began, now: now, for: terminal)
        }
        #expect(text(began, pipe) == "steps hasn't reported at all since this began, at 2025-03-26T11:00:00Z")
        #expect(text(began + .seconds(9), pipe) == "steps hasn't reported since 2025-03-26T11:00:09Z")
        let local = InstantText.local(began, now: now)
        #expect(text(began, screen) == "steps hasn't reported at all since this began, at \(local)")
    }

    @Test func zonesBeginAtAnOffset() throws {
        let from = try #require(InstantText.parse("2025-03-30T12:00:00Z"))
        let report = ZoneReport(
            user: "me",
            parts: [
                .init(from: .distantPast, zone: "Europe/Berlin", origin: .set),
                .init(from: from, zone: "America/New_York", origin: .added),
            ])
        #expect(try report.table(for: screen).contains("2025-03-30T14:00  "))
        #expect(try report.table(for: pipe).contains("2025-03-30T14:00:00+02:00  2025-03-30T12:00:00Z"))
    }

    @Test func importsAreDatedInFull() {
        var row = ImportRow(
            id: "1", path: "/x/export.zip", user: "me", state: .open, report: nil, problem: nil, request: nil)
        row.submitted = InstantText.parse("2025-03-30T08:15:30Z")
        let report = ImportsReport(rows: [row], devices: [])
        #expect(report.table(for: screen).contains(" 2025-03-30T08:15  "))
        #expect(report.table(for: pipe).contains(" 2025-03-30T08:15:30Z  "))
    }
}
