import EnergyStage
import HealthModel
import HeartRateStage
import SleepStage
import StepsStage
import Testing

/// Days with figures that can be worked out by hand.
@Suite struct KnownAnswersTests {
    static let quantity = "HKQuantityTypeIdentifier"

    /// 46 and 113 whole minutes, plus one minute that crosses midnight, with 22 of its seconds before and 38 after;
    /// when rounded, these are 46 and 114 minutes. If that minute counted entirely for the day on which it starts, the
    /// result would be 47 and 113.
    @Test func theMinuteOverMidnight() throws {
        var minutes: [Double] = []
        for date in ["2025-06-01", "2025-06-02"] {
            var day = try DayBuilder(date)
            let type = Self.quantity + "AppleExerciseTime"
            for minute in 0..<46 {
                let start = try #require(InstantText.parse("2025-06-01T17:00:00+02:00")) + .seconds(60 * minute)
                day.add(type, start, start + .seconds(60), 1)
            }
            try day.add(type, "2025-06-01T23:59:38+02:00", "2025-06-02T00:00:38+02:00", 1)
            for minute in 0..<113 {
                let start = try #require(InstantText.parse("2025-06-02T08:00:00+02:00")) + .seconds(60 * minute)
                day.add(type, start, start + .seconds(60), 1)
            }
            minutes.append(try #require(try day.compute(EnergyHandler()).figures["exerciseMinutes"]?.double))
        }
        #expect(abs(minutes[0] - (46 + 22.0 / 60)) < 1e-9 && abs(minutes[1] - (113 + 38.0 / 60)) < 1e-9)
        #expect(minutes.map { $0.rounded() } == [46, 114])
    }

    struct ClockDay: Sendable, CustomTestStringConvertible {
        var date: String
        /// The first zone, and the zone that applies from the given moment onwards.
        var zone: String
        var then: (at: String, zone: String)?
        /// The length of each bucket in seconds.
        var hours: [Int64]
        var testDescription: String { "\(date) \(zone) \(then?.zone ?? "")" }

        func zones() throws -> ZoneTimeline {
            var entries = [ZoneTimeline.Entry(from: .distantPast, zone: zone)]
            if let then { entries.append(.init(from: try #require(InstantText.parse(then.at)), zone: then.zone)) }
            return try ZoneTimeline(entries)
        }
    }

    static func full(_ count: Int) -> [Int64] { Array(repeating: 3600, count: count) }

    static let clockDays: [ClockDay] = [
        .init(date: "2025-03-30", zone: "Europe/Berlin", hours: full(23)),
        .init(date: "2025-10-26", zone: "Europe/Berlin", hours: full(25)),
        .init(date: "2025-03-09", zone: "America/New_York", hours: full(23)),
        .init(date: "2025-11-02", zone: "America/New_York", hours: full(25)),
        // The clock changes by half an hour: back from 02:00 to 01:30, and forward from 02:00 to 02:30.
        .init(date: "2025-04-06", zone: "Australia/Lord_Howe", hours: full(2) + [1800] + full(22)),
        .init(date: "2025-10-05", zone: "Australia/Lord_Howe", hours: full(2) + [1800] + full(21)),
        // There is no midnight: these days begin at 01:00.
        .init(date: "2018-11-04", zone: "America/Sao_Paulo", hours: full(23)),
        .init(date: "2024-03-31", zone: "Asia/Beirut", hours: full(23)),
        // The country skipped this date.
        .init(date: "2011-12-29", zone: "Pacific/Apia", hours: full(24)),
        .init(date: "2011-12-30", zone: "Pacific/Apia", hours: []),
        .init(date: "2011-12-31", zone: "Pacific/Apia", hours: full(24)),
        // Across the date line: the last four hours of the 1st are repeated, and the 2nd has first fifteen hours and
        // then a whole day.
        .init(
            date: "2025-06-01", zone: "Asia/Tokyo", then: ("2025-06-02T15:00:00+09:00", "Pacific/Honolulu"),
            hours: full(28)),
        .init(
            date: "2025-06-02", zone: "Asia/Tokyo", then: ("2025-06-02T15:00:00+09:00", "Pacific/Honolulu"),
            hours: full(39)),
        // In the other direction, with clocks 25 hours ahead: the 1st ends at 23:30, and the 3rd begins at 00:30.
        .init(
            date: "2025-06-01", zone: "Pacific/Pago_Pago", then: ("2025-06-02T10:30:00Z", "Pacific/Kiritimati"),
            hours: full(23) + [1800]),
        .init(
            date: "2025-06-02", zone: "Pacific/Pago_Pago", then: ("2025-06-02T10:30:00Z", "Pacific/Kiritimati"),
            hours: []),
        .init(
            date: "2025-06-03", zone: "Pacific/Pago_Pago", then: ("2025-06-02T10:30:00Z", "Pacific/Kiritimati"),
            hours: [1800] + full(23)),
    ]

    /// A step every second, day and night, so the day has as many steps as seconds, and so does each bucket.
    @Test(arguments: clockDays) func stepsOfDaysThatAreNotUsual(_ clock: ClockDay) throws {
        var day = try DayBuilder(clock.date, zones: clock.zones())
        let middle = try #require(InstantText.parse(clock.date + "T12:00:00Z"))
        let reach = Duration.seconds(4 * 86_400)
        day.add(Self.quantity + "StepCount", middle - reach, middle + reach, (reach * 2).seconds)
        let output = try day.compute(StepsHandler())
        #expect(output.figures["steps"]?.double == (clock.hours.isEmpty ? nil : Double(clock.hours.reduce(0, +))))
        #expect(output.hourly["steps"]?.array?.map(\.double) ?? [] == clock.hours.map { Double($0) })
    }

    /// A minute of standing in each bucket, with a heart rate that is one beat per minute higher each time.
    @Test(arguments: clockDays) func standHoursAndHeartRateByHour(_ clock: ClockDay) throws {
        var day = try DayBuilder(clock.date, zones: clock.zones())
        let buckets = day.zones.hours(of: day.day)
        #expect(buckets.map { ($0.upperBound - $0.lowerBound).components.seconds } == clock.hours)
        for (number, bucket) in buckets.enumerated() {
            day.add("HKCategoryTypeIdentifierAppleStandHour", bucket.lowerBound, bucket.upperBound, 0)
            for (second, rate) in [(0, 60), (600, 70), (1200, 80)] as [(Int64, Int)] {
                let at = bucket.lowerBound + .seconds(second)
                day.add(Self.quantity + "HeartRate", at, at, Double(rate + number))
            }
        }
        #expect(
            try day.compute(EnergyHandler()).figures["standHours"]
                == (buckets.isEmpty ? nil : .integer(Int64(clock.hours.count))))
        let rate = try day.compute(HeartRateHandler())
        for (name, first) in [("heartRateMin", 60), ("heartRate", 70), ("heartRateMax", 80)] {
            let expected = buckets.indices.map { Double(first + $0) }
            #expect(rate.hourly[name]?.array?.map(\.double) ?? [] == expected, "\(name)")
        }
        #expect(rate.figures["heartRate"]?["max"].double == buckets.indices.last.map { Double(80 + $0) })
    }

    @Test(arguments: [
        ("2025-03-30", "Europe/Berlin", "2025-03-29T23:00:00+01:00", "2025-03-30T07:00:00+02:00", 420.0),
        ("2025-10-26", "Europe/Berlin", "2025-10-25T23:00:00+02:00", "2025-10-26T07:00:00+01:00", 540.0),
        ("2025-11-02", "America/New_York", "2025-11-01T23:00:00-04:00", "2025-11-02T07:00:00-05:00", 540.0),
        ("2025-04-06", "Australia/Lord_Howe", "2025-04-05T23:00:00+11:00", "2025-04-06T07:00:00+10:30", 510.0),
        ("2018-11-04", "America/Sao_Paulo", "2018-11-03T23:00:00-03:00", "2018-11-04T07:00:00-02:00", 420.0),
        // Asleep on the 29th, awake on the 31st.
        ("2011-12-31", "Pacific/Apia", "2011-12-29T23:00:00-10:00", "2011-12-31T07:00:00+14:00", 480.0),
    ])
    func nightsOverAChangeOfTheClock(_ date: String, _ zone: String, _ start: String, _ end: String, _ minutes: Double)
        throws
    {
        for step in -2...2 {
            let own = try #require(LocalDay(date))
            var day = try DayBuilder(own.adding(days: step).description, zone: zone)
            try day.add("HKCategoryTypeIdentifierSleepAnalysis", start, end, 1)
            let sleep = try day.compute(SleepHandler()).figures["sleep"]
            #expect(sleep?["asleepMinutes"].double == (step == 0 ? minutes : nil), "\(day.day)")
        }
    }

    /// Asleep over the Pacific: the night belongs to the date on which it ends according to the local clock.
    @Test func aNightInFlight() throws {
        let zones = try ZoneTimeline([
            .init(from: .distantPast, zone: "Asia/Tokyo"),
            .init(from: try #require(InstantText.parse("2025-06-02T02:00:00+09:00")), zone: "Pacific/Honolulu"),
        ])
        // Awake at 05:00 in Tokyo, which is 10:00 on the previous day in Honolulu.
        for (date, found) in [("2025-05-31", false), ("2025-06-01", true), ("2025-06-02", false)] {
            var day = try DayBuilder(date, zones: zones)
            try day.add(
                "HKCategoryTypeIdentifierSleepAnalysis", "2025-06-01T23:00:00+09:00", "2025-06-02T05:00:00+09:00", 1)
            #expect((try day.compute(SleepHandler()).figures["sleep"] != nil) == found, "\(date)")
        }
    }
}
