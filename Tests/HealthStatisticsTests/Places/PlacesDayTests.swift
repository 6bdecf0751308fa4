import HealthModel
import HealthStatistics
import TestSupport
import Testing

@Suite struct PlacesDayTests {
    private let zones: ZoneTimeline
    private let conditions: Value = [
        "Home": [
            "latitude": .number(PhoneTrack.home.latitude), "longitude": .number(PhoneTrack.home.longitude),
            "radiusMeters": 100,
        ]
    ]

    init() throws { zones = try ZoneTimeline(zone: "Europe/Berlin") }

    private func page(_ rows: [(type: String, start: Instant, end: Instant, payload: String)]) -> SamplePage {
        var page = SamplePage()
        page.types = [HealthType.locationIdentifier, HealthType.workoutIdentifier]
        page.origins = [Origin(sourceName: "Phone")]
        for (number, row) in rows.sorted(by: { $0.start < $1.start }).enumerated() {
            page.ids.append(SampleID(high: 1, low: UInt64(number)))
            page.sequence.append(1)
            page.type.append(row.type == HealthType.locationIdentifier ? 0 : 1)
            page.start.append(row.start.microseconds)
            page.end.append(row.end.microseconds)
            page.value.append(.nan)
            page.origin.append(0)
            page.flags.append([])
            page.payload.append(row.payload)
        }
        return page
    }

    private func samples(_ track: PhoneTrack) -> SamplePage {
        page(
            zip(track.fixes, track.coordinates).map { fix, at in
                let accuracy = fix.accuracy.isNaN ? "" : #","horizontalAccuracy":\#(fix.accuracy)"#
                return (
                    HealthType.locationIdentifier, fix.time, fix.time,
                    #"{"latitude":\#(at.latitude),"longitude":\#(at.longitude)\#(accuracy)}"#
                )
            })
    }

    private func day(_ date: String, _ samples: SamplePage, conditions: Value? = nil) throws -> PlacesDay {
        let day = try #require(LocalDay(date))
        return try PlacesDay(
            DayInput(
                user: "me", day: day, window: PlacesDay.window([:]), zones: zones, cutting: samples,
                characteristics: ["conditions": conditions ?? self.conditions]))
    }

    private func at(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }

    @Test func aNightAtHomeIsCutAtMidnight() throws {
        var track = PhoneTrack(seed: 1, from: try at("2025-06-01T20:00:00+02:00"))
        track.jumps = 0
        track.go(to: 3000, 0, speed: 10, every: 5...5)
        track.go(to: 0, 0, speed: 10, every: 5...5)
        let returns = track.time
        track.stay(3600, every: 60...60)
        track.silence(8 * 3600)
        track.stay(3600, every: 60...60)
        track.go(to: 3000, 0, speed: 10, every: 5...5)
        let samples = samples(track)
        let evening = try day("2025-06-01", samples).output
        let visit = try #require(evening.figures["visits"]?.array?.last)
        #expect(visit["place"] == "Home" && visit["arrival"] == "entered" && visit["departure"] == "continues")
        #expect(visit["end"] == "2025-06-01T22:00:00Z")
        let start = try #require(visit["start"].string.flatMap { InstantText.parse($0) })
        #expect(abs((start - returns).seconds) < 30)
        let places = try #require(evening.figures["places"]?.array)
        #expect(places.count == 1 && places[0]["visits"].int == 1)
        #expect(places[0]["minutes"] == visit["minutes"])

        let morning = try day("2025-06-02", samples).output
        let rest = try #require(morning.figures["visits"]?.array)
        #expect(rest.count == 1 && rest[0]["arrival"] == "continued" && rest[0]["departure"] == "left")
        #expect(rest[0]["start"] == "2025-06-01T22:00:00Z")
        // This doesn't count as another visit, but the time is still included.
        #expect(morning.figures["places"]?.array?.first?["visits"].int == 0)
        #expect(morning.events.map { $0.payload["state"].string } == ["unsatisfied"])
        #expect(evening.events.last?.payload["state"] == "satisfied")
        #expect(evening.events.last?.payload["from"] == "unsatisfied" && evening.events.last?.kind == "place")
    }

    @Test func withoutPlacesOrFixesThereIsNothing() throws {
        var track = PhoneTrack(seed: 1)
        track.stay(7200, every: 60...60)
        #expect(try day("2025-06-01", samples(track), conditions: [:]).output == DayOutput())
        #expect(try day("2025-06-01", SamplePage()).output == DayOutput())
    }

    @Test func oneSeenInsideIsStillThereUntilSeenOutside() throws {
        var track = PhoneTrack(seed: 3, from: try at("2025-06-01T10:00:00+02:00"))
        track.jumps = 0
        track.stay(3600, every: 60...60)
        let visit = try #require(try day("2025-06-01", samples(track)).output.figures["visits"]?.array?.first)
        #expect(visit["arrival"] == "found" && visit["departure"].isNull)
        #expect(try #require(visit["minutes"].double) > 55)
    }

    /// A stored track keeps only its corners, so a place that the track passes through between them counts as visited.
    @Test func aRouteThatLeadsThroughAPlaceVisitsIt() throws {
        let (a, b) = (PhoneTrack.coordinates(-1000, 0), PhoneTrack.coordinates(1000, 20))
        let payload = """
            {"activity":"running","routeSummary":{"points":700,"track":{"toleranceMeters":5,"start":"2025-06-01T08:00:00Z",\
            "seconds":[0,700],"latitude":[\(a.latitude),\(b.latitude)],"longitude":[\(a.longitude),\(b.longitude)],\
            "elevation":[null,null]}}}
            """
        let start = try at("2025-06-01T08:00:00Z")
        let page = page([(HealthType.workoutIdentifier, start, start + .seconds(700), payload)])
        let visit = try #require(try day("2025-06-01", page).output.figures["visits"]?.array?.first)
        #expect(visit["arrival"] == "entered" && visit["departure"] == "left")
        // 2 km in 700 s. The circle is 200 m wide, and its margin adds another 30 m.
        let minutes = try #require(visit["minutes"].double)
        #expect(minutes > 1 && minutes < 1.7, "\(minutes)")
        let without = self.page([(HealthType.workoutIdentifier, start, start + .seconds(700), #"{"activity":"yoga"}"#)])
        #expect(try day("2025-06-01", without).output == DayOutput())
    }

    @Test func whatIsNoPositionIsLeftOut() throws {
        let start = try at("2025-06-01T08:00:00Z")
        let payloads = ["", "{", "{}", #"{"latitude":91,"longitude":0}"#, #"{"latitude":"52","longitude":13}"#, "[1]"]
        let rows = payloads.enumerated().map { index, payload in
            let time = start + .seconds(Double(index) * 60)
            return (type: HealthType.locationIdentifier, start: time, end: time, payload: payload)
        }
        #expect(try day("2025-06-01", page(rows)).output == DayOutput())
    }

    /// No matter what a phone reports, the combined days equal the result of a single monitor that receives everything.
    @Test(arguments: UInt64(1)...40) func daysPutTogetherAreTheWholeTrack(seed: UInt64) throws {
        var track = PhoneTrack(seed: seed)
        track.jumps = 0.03
        for _ in 0..<6 {
            track.stay(6 * 3600, every: 60...900)
            track.go(to: 2000, 1000, speed: 5, every: 2...20)
            track.stay(Double(seed % 7 + 1) * 3600, every: 60...900)
            track.silence(Double(seed % 5) * 4000)
            track.go(to: 0, 0, speed: 5, every: 2...20)
        }
        var monitor = PlaceMonitor(
            try PlaceCondition(
                name: "Home", latitude: PhoneTrack.home.latitude, longitude: PhoneTrack.home.longitude),
            rules: try PlaceRules([:]))
        for fix in track.fixes { monitor.take(fix) }
        let samples = samples(track)
        var (minutes, visits, events) = (0.0, 0, 0)
        let first = zones.day(of: track.fixes[0].time)
        for offset in 0..<8 {
            let output = try day(first.adding(days: offset).description, samples).output
            let place = output.figures["places"]?.array?.first ?? .null
            minutes += place["minutes"].double ?? 0
            visits += Int(place["visits"].int ?? 0)
            events += output.events.count
        }
        let whole = monitor.visits.map { ($0.end - $0.arrival).seconds / 60 }.reduce(0, +)
        #expect(abs(minutes - whole) < 0.2 && visits == monitor.visits.count && events == monitor.events.count)
    }

    @Test func explanationsSayWhatWasSeen() throws {
        var track = PhoneTrack(seed: 5, from: try at("2025-06-01T10:00:00+02:00"))
        (track.jumps, track.coarse) = (0, 0.2)
        track.stay(3600, every: 60...60)
        let day = try day("2025-06-01", samples(track))
        let reported = try #require(day.explanations.first)
        #expect(reported.place == "Home" && reported.arrival == "found" && reported.departure == nil)
        #expect(reported.fixes + reported.undecided == day.fixCount && reported.undecided > 0 && reported.nearest < 30)
    }

    @Test func whatNoPlaceCanHaveIsRefusedWithoutSayingWhere() throws {
        let reported: [(String, Value, PlaceError)] = [
            ("", ["latitude": 1, "longitude": 1], .name), ("a\nb", ["latitude": 1, "longitude": 1], .name),
            (String(repeating: "x", count: 201), ["latitude": 1, "longitude": 1], .name),
            ("A", ["latitude": 91, "longitude": 1], .latitude), ("A", ["longitude": 1], .latitude),
            ("A", ["latitude": 1, "longitude": -181], .longitude),
            ("A", ["latitude": 1, "longitude": 1, "radiusMeters": 19], .radius),
            ("A", ["latitude": 1, "longitude": 1, "radiusMeters": "far"], .radius),
        ]
        for (name, value, error) in reported {
            #expect(throws: error) { try PlaceCondition.checked(name: name, value) }
        }
        #expect(try PlaceCondition.checked(name: "A", ["latitude": 1, "longitude": 1])["radiusMeters"].double == 100)
    }
}
