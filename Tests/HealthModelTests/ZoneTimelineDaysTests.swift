import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct ZoneTimelineDaysTests {
    static let hour = Duration.seconds(3600)
    static let night = HandlerWindow(endHour: 18)

    static func at(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }
    static func date(_ text: String) throws -> LocalDay { try #require(LocalDay(text)) }

    @Test(arguments: [
        ("Europe/Berlin", "2025-03-30", 23), ("Europe/Berlin", "2025-10-26", 25), ("Europe/Berlin", "2025-07-01", 24),
        // The clocks went forward at midnight, so the day begins at 01:00.
        ("America/Sao_Paulo", "2018-11-04", 23),
        // The clocks went back at midnight, so the day before has 25 hours.
        ("America/Sao_Paulo", "2018-02-17", 25),
        // A change of half an hour: the hour that the clock showed twice is split in two.
        ("Australia/Lord_Howe", "2025-04-06", 25), ("Australia/Lord_Howe", "2025-10-05", 24),
    ])
    func daysHaveTheirHours(zone: String, day: String, hours: Int) throws {
        let zones = try ZoneTimeline(zone: zone)
        let day = try Self.date(day)
        let ranges = zones.ranges(of: day)
        let buckets = zones.hours(of: day)
        #expect(ranges.count == 1)
        #expect(buckets.count == hours)
        #expect(buckets.first?.lowerBound == ranges.first?.lowerBound)
        #expect(buckets.last?.upperBound == ranges.last?.upperBound)
        for (a, b) in zip(buckets, buckets.dropFirst()) { #expect(a.upperBound == b.lowerBound) }
    }

    @Test func midnightThatDoesNotExist() throws {
        let zones = try ZoneTimeline(zone: "America/Sao_Paulo")
        let start = zones.ranges(of: try Self.date("2018-11-04")).first?.lowerBound
        #expect(start == (try Self.at("2018-11-04T01:00:00-02:00")))
    }

    @Test func aDateLeftOutHasNoInstants() throws {
        let zones = try ZoneTimeline(zone: "Pacific/Apia")
        let missing = try Self.date("2011-12-30")
        #expect(zones.ranges(of: missing).isEmpty)
        #expect(zones.hours(of: missing).isEmpty)
        let next = try #require(zones.ranges(of: try Self.date("2011-12-31")).first?.lowerBound)
        #expect(zones.ranges(of: try Self.date("2011-12-29")).last?.upperBound == next)
        #expect(!zones.isPast(missing, at: next))
        #expect(zones.isPast(missing, at: next + .seconds(60)))
    }

    @Test func aFlightOverTheDateLineBringsADateBack() throws {
        // Tokyo until 15:00 on the 2nd, then Honolulu, where it is 20:00 on the 1st.
        let landed = try Self.at("2025-06-02T15:00:00+09:00")
        let zones = try ZoneTimeline([
            .init(from: .distantPast, zone: "Asia/Tokyo"), .init(from: landed, zone: "Pacific/Honolulu"),
        ])
        let first = zones.ranges(of: try Self.date("2025-06-01"))
        #expect(first.count == 2)
        #expect(first.reduce(Duration.zero) { $0 + ($1.upperBound - $1.lowerBound) } == 28 * Self.hour)
        #expect(first.last?.lowerBound == landed)
        let second = zones.ranges(of: try Self.date("2025-06-02"))
        #expect(second.reduce(Duration.zero) { $0 + ($1.upperBound - $1.lowerBound) } == (15 + 24) * Self.hour)
        #expect(
            zones.days(touching: landed - .microseconds(1), end: landed + .microseconds(1)) == [
                try Self.date("2025-06-01"), try Self.date("2025-06-02"),
            ])
        #expect(zones.zone(at: landed - .microseconds(1)) == "Asia/Tokyo")
        #expect(zones.zone(at: landed) == "Pacific/Honolulu")
        // The day isn't over until its second part is over.
        let end = try #require(first.last?.upperBound)
        #expect(!zones.isPast(try Self.date("2025-06-01"), at: end + .seconds(59)))
        #expect(zones.isPast(try Self.date("2025-06-01"), at: end + .seconds(60)))
    }

    @Test func aMoveEastMakesAShortDay() throws {
        let moved = try Self.at("2025-06-01T12:00:00+02:00")
        let zones = try ZoneTimeline([.init(from: 0, zone: "Europe/Berlin"), .init(from: moved, zone: "Asia/Tokyo")])
        let ranges = zones.ranges(of: try Self.date("2025-06-01"))
        #expect(ranges.count == 1)
        #expect(ranges.reduce(Duration.zero) { $0 + ($1.upperBound - $1.lowerBound) } == 17 * Self.hour)
    }

    @Test func aBorderWithinOneTimeCutsNoHour() throws {
        let crossed = try Self.at("2025-06-01T12:30:00+02:00")
        let zones = try ZoneTimeline([
            .init(from: 0, zone: "Europe/Berlin"), .init(from: crossed, zone: "Europe/Paris"),
        ])
        #expect(zones.hours(of: try Self.date("2025-06-01")).count == 24)
        #expect(zones.zone(at: crossed) == "Europe/Paris")
    }

    @Test func daysTouched() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let midnight = try Self.at("2025-06-02T00:00:00+02:00")
        let (first, second) = (try Self.date("2025-06-01"), try Self.date("2025-06-02"))
        #expect(zones.days(touching: midnight - Self.hour, end: midnight) == [first])
        #expect(zones.days(touching: midnight, end: midnight) == [second])
        #expect(zones.days(touching: midnight - .microseconds(1), end: midnight + .microseconds(1)) == [first, second])
        #expect(zones.days(touching: midnight - Self.hour, end: midnight + 48 * Self.hour).count == 3)
        let evening = midnight - 6 * Self.hour
        #expect(zones.days(touching: evening - .microseconds(1), end: evening, Self.night) == [first])
        #expect(zones.days(touching: evening, end: evening + .microseconds(1), Self.night) == [second])
        let wide = HandlerWindow(endHour: 18, before: Self.hour, after: 2 * Self.hour)
        #expect(
            zones.days(touching: evening - .microseconds(5), end: evening - .microseconds(4), wide) == [first, second])
        #expect(zones.days(touching: evening - 3 * Self.hour, end: evening - Self.hour, wide) == [first])
        #expect(zones.days(touching: evening + 2 * Self.hour, end: evening + 3 * Self.hour, wide) == [second])
    }

    @Test func nightsRunFromEveningToEvening() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let window = zones.window(of: try Self.date("2025-03-30"), Self.night)
        #expect(window == [try Self.at("2025-03-29T18:00:00+01:00")..<Self.at("2025-03-30T18:00:00+02:00")])
    }

    @Test func isPastOneMinuteAfterMidnight() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        let midnight = try Self.at("2025-06-02T00:00:00+02:00")
        let day = try Self.date("2025-06-01")
        #expect(!zones.isPast(day, at: midnight + .microseconds(59_999_999)))
        #expect(zones.isPast(day, at: midnight + .microseconds(60_000_000)))
    }

    /// Compared with Foundation's calendar, one instant at a time.
    @Test(arguments: [
        "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "America/St_Johns", "Asia/Kathmandu", "Africa/Casablanca",
        "Australia/Lord_Howe", "America/Havana",
    ])
    func agreesWithTheCalendar(zone: String) throws {
        let zones = try ZoneTimeline(zone: zone)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        var random = SeededRandom(seed: 3)
        for _ in 0..<300 {
            let second = Int64.random(in: 500_000_000...1_800_000_000, using: &random)
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(second)))
            let day = zones.day(of: Instant(seconds: second))
            #expect(day.year == parts.year && day.month == parts.month && day.day == parts.day)
            #expect(zones.ranges(of: day).contains { $0.contains(Instant(seconds: second)) })
            #expect(zones.days(touching: Instant(seconds: second), end: Instant(seconds: second)) == [day])
            let night = zones.days(touching: Instant(seconds: second), end: Instant(seconds: second), Self.night)
            #expect(night.count == 1)
            #expect(zones.window(of: night[0], Self.night).contains { $0.contains(Instant(seconds: second)) })
        }
    }

    /// A change affects a day if and only if the changed sample is in the day's slice, no matter where the traveller
    /// is.
    @Test func aSliceHoldsWhatTouchesItsDay() throws {
        let names = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Honolulu", "Asia/Tokyo"]
        var random = SeededRandom(seed: 5)
        let first = try Self.date("2011-12-15")
        for _ in 0..<40 {
            let moved = try Self.at("2011-12-28T00:00:00Z") + Int64.random(in: 0...72, using: &random) * Self.hour
            let zones = try ZoneTimeline([
                .init(from: .distantPast, zone: names.randomElement(using: &random) ?? names[0]),
                .init(from: moved, zone: names.randomElement(using: &random) ?? names[0]),
            ])
            let window = HandlerWindow(
                endHour: Int.random(in: 1...24, using: &random),
                before: Int64.random(in: 0...30, using: &random) * Self.hour / 2,
                after: Int64.random(in: 0...30, using: &random) * Self.hour / 2)
            for _ in 0..<20 {
                let start = moved + Int64.random(in: -150...150, using: &random) * Self.hour / 2
                let end = start + max(0, Int64.random(in: -10...90, using: &random)) * Self.hour / 2
                var page = SamplePage()
                page.ids = [SampleID(high: 0, low: 0)]
                page.start = [start.microseconds]
                page.end = [end.microseconds]
                let holding = (0..<30).map(first.adding).filter {
                    !page.overlapping(zones.slice(of: $0, window)).isEmpty
                }
                #expect(zones.days(touching: start, end: end, window) == holding)
            }
        }
    }

    /// The days have no gaps or overlaps, whatever the traveller does.
    @Test func daysPartitionTime() throws {
        let names = [
            "Asia/Tokyo", "Pacific/Honolulu", "Europe/Berlin", "Pacific/Apia", "America/New_York", "Pacific/Kiritimati",
        ]
        var random = SeededRandom(seed: 4)
        for _ in 0..<30 {
            var from = try Self.at("2011-12-20T00:00:00Z")
            var entries: [ZoneTimeline.Entry] = [.init(from: .distantPast, zone: names[0])]
            for _ in 0..<5 {
                from += Int64.random(in: 1...100, using: &random) * Self.hour
                entries.append(.init(from: from, zone: names.randomElement(using: &random) ?? names[0]))
            }
            let zones = try ZoneTimeline(entries)
            let day = try Self.date("2011-12-10")
            let all = (0..<50).flatMap { zones.ranges(of: day.adding(days: $0)) }.sorted {
                $0.lowerBound < $1.lowerBound
            }
            for (a, b) in zip(all, all.dropFirst()) { #expect(a.upperBound == b.lowerBound) }
            let hours = (0..<50).flatMap { zones.hours(of: day.adding(days: $0)) }.sorted {
                $0.lowerBound < $1.lowerBound
            }
            for (a, b) in zip(hours, hours.dropFirst()) { #expect(a.upperBound == b.lowerBound) }
        }
    }

    @Test func extremeInstantsDoNotTrap() throws {
        let zones = try ZoneTimeline(zone: "Europe/Berlin")
        for instant in [Instant.distantPast, .distantFuture] {
            _ = zones.day(of: instant)
            #expect(zones.days(touching: instant, end: instant).count == 1)
        }
    }
}

@Suite struct LocalDayTests {
    @Test(arguments: ["2025-+3-+1", "+025-03-01", "2025-3-1", "2025-03--1", "2025-02-30", "2025-03-01 "])
    func onlyDigitsAreADate(_ text: String) {
        #expect(LocalDay("2025-03-01")?.description == "2025-03-01")
        #expect(LocalDay(text) == nil)
    }
}

@Suite struct ZoneTimelineChangeTests {
    private func at(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }

    private func changed(_ a: ZoneTimeline, _ b: ZoneTimeline, _ window: HandlerWindow = .localDay) throws -> [String] {
        let first = try #require(LocalDay("2025-06-01"))
        return (0..<30).map { first.adding(days: $0) }.filter { a.differs(from: b, on: $0, window) }.map(\.description)
    }

    @Test func onlyDaysWithOtherInstantsDiffer() throws {
        let tokyo = try ZoneTimeline(zone: "Asia/Tokyo")
        let stay = try ZoneTimeline([
            .init(from: .distantPast, zone: "Asia/Tokyo"),
            .init(from: at("2025-06-10T05:00:00Z"), zone: "Pacific/Honolulu"),
            .init(from: at("2025-06-12T20:00:00Z"), zone: "Asia/Tokyo"),
        ])
        // The plane landed on the 9th, Honolulu time, and was back in Tokyo on the 13th.
        #expect(try changed(tokyo, stay) == ["2025-06-09", "2025-06-10", "2025-06-11", "2025-06-12", "2025-06-13"])
        #expect(try changed(tokyo, stay) == changed(stay, tokyo))
        #expect(try changed(stay, stay).isEmpty)
        // The night that ends on the 14th begins on the evening of a day on which the clock was changed back in the
        // morning.
        #expect(try changed(tokyo, stay, HandlerWindow(endHour: 18)).contains("2025-06-14") == false)
        #expect(try changed(try ZoneTimeline(zone: "Europe/Berlin"), try ZoneTimeline(zone: "Europe/Paris")).isEmpty)
    }

    @Test func hoursCountThoughTheDayIsAsLong() throws {
        let berlin = try ZoneTimeline(zone: "Europe/Berlin")
        // To London and back within a day: the same midnights, but different hours in between.
        let trip = try ZoneTimeline([
            .init(from: .distantPast, zone: "Europe/Berlin"),
            .init(from: at("2025-06-10T08:00:00Z"), zone: "Europe/London"),
            .init(from: at("2025-06-10T16:00:00Z"), zone: "Europe/Berlin"),
        ])
        #expect(try changed(berlin, trip) == ["2025-06-10"])
    }
}
