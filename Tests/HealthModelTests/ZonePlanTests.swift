import HealthModel
import TestSupport
import Testing

@Suite struct ZonePlanTests {
    private static let home = "Europe/Berlin"
    private static let zones = [
        home, "America/New_York", "Asia/Tokyo", "Europe/Paris", "Europe/London", "Asia/Kolkata", "Africa/Lagos",
    ]

    private func at(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }

    private func seen(_ zone: String, _ text: String, hours: Int = 2, rank: Int = 2) throws -> [ZoneObservation] {
        let first = ZoneObservation.hour(of: try at(text))
        return (0..<Int64(hours)).map { ZoneObservation(hour: first + 3 * $0, zone: zone, rank: rank) }
    }

    private func parts(_ observed: [ZoneObservation], added: [ZoneTimeline.Entry] = []) -> [ZonePlan.Part] {
        ZonePlan(home: Self.home, added: added, observed: observed).parts
    }

    @Test func aStayBeginsWithItsFirstHourAndLastsUntilAnotherClockIsSeen() throws {
        let observed =
            try seen(Self.home, "2025-03-01T00:00:00Z", hours: 9) + seen("America/New_York", "2025-03-10T20:40:00Z")
            + seen("America/New_York", "2025-03-15T10:00:00Z") + seen("Europe/Paris", "2025-03-20T08:00:00Z")
        #expect(
            parts(observed) == [
                .init(from: .distantPast, zone: Self.home, origin: .set),
                .init(from: try at("2025-03-10T20:00:00Z"), zone: "America/New_York", origin: .seen),
                // Paris has the same clock time as home.
                .init(from: try at("2025-03-20T08:00:00Z"), zone: Self.home, origin: .seen),
            ])
    }

    @Test func oneHourIsNoStay() throws {
        let observed =
            try seen("America/New_York", "2025-03-10T20:00:00Z", hours: 1)
            + seen(Self.home, "2025-03-11T20:00:00Z") + seen("America/New_York", "2025-03-12T20:00:00Z", hours: 1)
        #expect(parts(observed).count == 1)
    }

    @Test func anotherNameOfTheSameClockMakesNoEntry() throws {
        #expect(parts(try seen("Europe/Paris", "2025-03-10T20:00:00Z", hours: 50)).count == 1)
        // Lagos has Berlin's clock time in winter, and a different one in summer.
        #expect(parts(try seen("Africa/Lagos", "2025-01-10T20:00:00Z")).count == 1)
        #expect(parts(try seen("Africa/Lagos", "2025-07-10T20:00:00Z")).count == 2)
    }

    @Test func theBestSourceOfAnHourSpeaksForIt() throws {
        let tokyo = try seen("Asia/Tokyo", "2025-03-10T20:00:00Z", rank: 3)
        let berlin = try seen(Self.home, "2025-03-10T20:00:00Z", rank: 1)
        #expect(parts(tokyo).count == 2)
        #expect(parts(tokyo + berlin).count == 1)
        // Two conflicting sightings of equal rank are ignored.
        #expect(parts(tokyo + (try seen(Self.home, "2025-03-10T20:00:00Z", rank: 3))).count == 1)
    }

    @Test func anAddedZoneEndsAStayForGood() throws {
        let observed =
            try seen(Self.home, "2025-03-09T00:00:00Z") + seen("Asia/Tokyo", "2025-03-10T00:00:00Z", hours: 24)
        let from = try at("2025-03-11T00:30:00Z")
        #expect(
            parts(observed, added: [.init(from: from, zone: Self.home)]) == [
                .init(from: .distantPast, zone: Self.home, origin: .set),
                .init(from: try at("2025-03-10T00:00:00Z"), zone: "Asia/Tokyo", origin: .seen),
                .init(from: from, zone: Self.home, origin: .added),
            ])
        // A zone that a person adds at the very beginning of the stay cancels it.
        let same = try at("2025-03-10T00:00:00Z")
        #expect(parts(observed, added: [.init(from: same, zone: Self.home)]).map(\.origin) == [.set, .added])
        // A later stay still counts.
        let later = observed + (try seen("America/New_York", "2025-03-20T00:00:00Z"))
        #expect(
            parts(later, added: [.init(from: from, zone: Self.home)]).map(\.origin) == [.set, .seen, .added, .seen])
    }

    @Test(arguments: 1...200)
    func whateverTheOrderAndWhatIsAddedWins(_ seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let start = ZoneObservation.hour(of: try at("2025-02-20T00:00:00Z"))
        var observed: [ZoneObservation] = []
        var zone = Self.home
        for hour in 0..<Int64.random(in: 0...1200, using: &random) where Int.random(in: 0..<4, using: &random) == 0 {
            if Int.random(in: 0..<12, using: &random) == 0 { zone = Self.zones.randomElement(using: &random) ?? zone }
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let named =
                    Int.random(in: 0..<15, using: &random) == 0 ? Self.zones.randomElement(using: &random) : zone
                observed.append(
                    .init(hour: start + hour, zone: named ?? zone, rank: Int.random(in: 1...3, using: &random)))
            }
        }
        var added: [Instant: String] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let moment = Instant(seconds: (start + Int64.random(in: 0...1200, using: &random)) * 3600)
            added[moment + .seconds(Int64.random(in: 0...1, using: &random) * 1800)] =
                Self.zones.randomElement(using: &random)
        }
        let entries = added.map { ZoneTimeline.Entry(from: $0, zone: $1) }
        let plan = ZonePlan(home: Self.home, added: entries, observed: observed)
        let timeline = try plan.timeline()
        for _ in 0..<3 {
            observed.shuffle(using: &random)
            let other = ZonePlan(
                home: Self.home, added: entries.shuffled(using: &random), observed: observed + observed.prefix(5))
            #expect(other.parts == plan.parts)
        }
        for (from, zone) in added { #expect(timeline.zone(at: from) == zone) }
        #expect(plan.parts.filter { $0.origin == .added }.count == added.count)
        // An entry that was seen always changes the zone, and begins with an hour in which a zone was observed.
        for (before, part) in zip(plan.parts, plan.parts.dropFirst()) where part.origin == .seen {
            #expect(before.zone != part.zone && part.from.flooredSecond % 3600 == 0)
            #expect(observed.contains { Instant(seconds: $0.hour * 3600) == part.from })
        }
    }

    @Test func fixedOffsetsAreNoPlaces() {
        for name in ["GMT", "UTC", "Etc/GMT-2", "Etc/UTC", "GMT+0200", "Nowhere/City", ""] {
            #expect(!ZoneName.isPlace(name), "\(name)")
        }
        for name in Self.zones + ["America/Argentina/Buenos_Aires"] { #expect(ZoneName.isPlace(name), "\(name)") }
    }

    @Test(arguments: [
        ("2025-03-31", "2025-03-30T22:00:00Z"), ("2025-03-30T14:00", "2025-03-30T12:00:00Z"),
        ("2025-03-30T14:00:30", "2025-03-30T12:00:30Z"), ("2025-03-30T14:00+09:00", "2025-03-30T05:00:00Z"),
        ("2025-03-30T14:00:00-0400", "2025-03-30T18:00:00Z"), ("2025-03-30T14:00Z", "2025-03-30T14:00:00Z"),
        // The clock jumps from 02:00 to 03:00.
        ("2025-03-30T02:30", "2025-03-30T01:00:00Z"),
        // The clock shows 02:30 twice.
        ("2025-10-26T02:30", "2025-10-26T00:30:00Z"),
    ])
    func momentsAreReadByTheZoneBefore(_ text: String, _ expected: String) throws {
        let moment = try #require(ZoneMoment(text))
        #expect(try moment.instant(in: Self.home) == at(expected))
    }

    @Test func aDateThatTheZoneSkippedIsTheMomentOfTheChange() throws {
        for text in ["2011-12-30", "2011-12-30T09:00"] {
            let moment = try #require(ZoneMoment(text))
            #expect(try moment.instant(in: "Pacific/Apia") == at("2011-12-30T10:00:00Z"))
        }
    }

    /// A local time is interpreted by the clock of the place where the person was at that time.
    @Test(arguments: [
        ("2024-07-01T08:00", "2024-06-30T23:00:00Z"), ("2024-06-01T08:00", "2024-06-01T06:00:00Z"),
        ("2025-01-01T08:00", "2025-01-01T07:00:00Z"), ("2024-07-01T08:00Z", "2024-07-01T08:00:00Z"),
    ])
    func momentsAreReadByTheTimeline(_ text: String, _ expected: String) throws {
        let timeline = try ZoneTimeline([
            .init(from: .distantPast, zone: "Europe/Berlin"),
            .init(from: try at("2024-06-20T12:00:00Z"), zone: "Asia/Tokyo"),
            .init(from: try at("2024-07-10T12:00:00Z"), zone: "Europe/Berlin"),
        ])
        let instant = try #require(ZoneMoment(text)).instant(on: timeline)
        #expect(instant == (try at(expected)))
        if !text.hasSuffix("Z") { #expect(timeline.localText(of: instant).hasPrefix(text)) }
    }

    @Test(arguments: ["", "tomorrow", "2025-02-30", "2025-03-30 14", "2025-03-30T25:00", "2025-03-30T14:00+", "14:00"])
    func otherWordsAreNoMoments(_ text: String) { #expect(ZoneMoment(text) == nil) }

    @Test func aMomentIsThatOfTheEntryWhichItNames() throws {
        let landed = try at("2025-03-10T13:00:00Z")
        let parts = parts([], added: [.init(from: landed, zone: "America/New_York")])
        // The text is read by Berlin's clock, as before; New York's clock would make it a different moment.
        let named = try #require(ZoneMoment("2025-03-10T14:00"))
        #expect(try ZonePlan.instant(of: named, in: parts) == landed)
        let later = try #require(ZoneMoment("2025-03-12T14:00"))
        #expect(try ZonePlan.instant(of: later, in: parts) == at("2025-03-12T18:00:00Z"))
        let earlier = try #require(ZoneMoment("2025-03-09"))
        #expect(try ZonePlan.instant(of: earlier, in: parts) == at("2025-03-08T23:00:00Z"))
    }

    /// Once the entry before it is removed, an entry has a different local time. Its date and its instant still
    /// identify it.
    @Test func anEntryIsFoundByItsDateAfterTheOneBeforeIsGone() throws {
        let left = try at("2025-03-10T13:00:00Z")
        let further = try at("2025-03-20T02:00:00Z")
        let all = parts(
            [], added: [.init(from: left, zone: "America/New_York"), .init(from: further, zone: "Asia/Tokyo")])
        let few = parts([], added: [.init(from: further, zone: "Asia/Tokyo")])
        func found(_ text: String, _ parts: [ZonePlan.Part]) throws -> [Instant] {
            try ZonePlan.added(at: try #require(ZoneMoment(text)), in: parts).map(\.from)
        }
        // By New York's clock and, after that entry is removed, by Berlin's.
        #expect(try found("2025-03-19T22:00", all) == [further] && found("2025-03-19T22:00", few).isEmpty)
        #expect(try found("2025-03-20T03:00", few) == [further])
        for text in ["2025-03-20", "2025-03-20T02:00Z", "2025-03-20T11:00+09:00"] {
            #expect(try found(text, all) == [further] && found(text, few) == [further], "\(text)")
        }
        #expect(try found("2025-03-19", all) == [further])
        #expect(try found("2025-03-21", all).isEmpty && found("2025-03-10", few).isEmpty)
        let twice = parts(
            [],
            added: [.init(from: left, zone: "Asia/Tokyo"), .init(from: left + .seconds(7200), zone: "Asia/Kolkata")])
        #expect(try found("2025-03-10", twice).count == 2 && found("2025-03-10T15:00Z", twice).count == 1)
        // An entry that was seen in the data can't be removed.
        #expect(try found("2025-03-10", parts(seen("America/New_York", "2025-03-10T20:00:00Z"))).isEmpty)
        let lost = try #require(ZoneMoment("2025-03-19T22:00"))
        #expect(try ZonePlan.nearestAdded(to: lost, in: few)?.from == further)
        #expect(try ZonePlan.nearestAdded(to: lost, in: parts([])) == nil)
    }
}
