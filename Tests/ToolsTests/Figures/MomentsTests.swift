import Control
import Figures
import HealthModel
import Inspection
import Logging
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
        #expect(screen.moment(instant) == "2025-03-30T08:15Z" && pipe.moment(instant) == "2025-03-30T08:15:30Z")
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
            WaitReporter.text("steps", since: since, began: began, now: now, for: terminal)
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

    /// A zone that is overruled by the data is reported, with a command that makes it count.
    @Test func zonesThatTheDataOverrulesAreNamed() throws {
        func at(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }
        func seen(_ zone: String, _ text: String) throws -> [ZoneObservation] {
            let first = ZoneObservation.hour(of: try at(text))
            return (0..<3).map { ZoneObservation(hour: first + $0, zone: zone, rank: 2) }
        }
        var plan = ZonePlan(
            home: "UTC",
            observed: try seen("Europe/Berlin", "2025-02-24T21:00:00Z") + seen("Asia/Tokyo", "2025-03-10T08:00:00Z"))
        let first = try #require(ZoneReport(user: "me", parts: plan.parts).note)
        #expect(first.hasPrefix("from 2025-02-24T21:00:00Z on, the data says Europe/Berlin, which counts there"))
        #expect(Advice.commands(in: first) == ["healthbus zone add 2025-02-24T21:00:00Z UTC"])
        #expect(first.contains("One later entry"))
        // There are as many commands as stays; afterwards nothing is left to report.
        while let note = ZoneReport(user: "robin", parts: plan.parts).note, plan.added.count < 3 {
            let words = try #require(Advice.commands(in: note).first).split(separator: " ").map(String.init)
            try #require(words.count == 7 && words[5...] == ["--user", "robin"])
            let moment = try #require(ZoneMoment(words[3]))
            plan.added.append(.init(from: try ZonePlan.instant(of: moment, in: plan.parts), zone: words[4]))
        }
        #expect(plan.added.count == 2 && !plan.parts.contains { $0.origin == .seen })
        // Back at home, the zone that the person set counts again.
        let travel = ZonePlan(
            home: "Europe/Berlin",
            observed: try seen("Asia/Tokyo", "2025-03-10T08:00:00Z") + seen("Europe/Berlin", "2025-03-20T08:00:00Z"))
        #expect(ZoneReport(user: "me", parts: travel.parts).note?.contains("later") == false)
        #expect(ZoneReport(user: "me", parts: ZonePlan(home: "UTC").parts).note == nil)
    }

    @Test func importsAreDatedInFull() {
        var row = ImportRow(
            id: "1", path: "/x/export.zip", user: "me", state: .open, report: nil, problem: nil, request: nil)
        row.submitted = InstantText.parse("2025-03-30T08:15:30Z")
        let report = ImportsReport(rows: [row], devices: [])
        #expect(report.table(for: screen).contains(" 2025-03-30T08:15Z  "))
        #expect(report.table(for: pipe).contains(" 2025-03-30T08:15:30Z  "))
    }
}
