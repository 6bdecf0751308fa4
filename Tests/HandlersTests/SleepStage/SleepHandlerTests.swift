import HealthModel
import HealthStatistics
import SleepStage
import Testing

@Suite struct SleepHandlerTests {
    static let type = "HKCategoryTypeIdentifierSleepAnalysis"

    @Test func aNightAndANap() throws {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-05-31T14:00:00+02:00", "2025-05-31T15:00:00+02:00", 3)
        try day.add(Self.type, "2025-05-31T23:00:00+02:00", "2025-06-01T06:30:00+02:00", 0, source: "iPhone")
        try day.add(Self.type, "2025-05-31T23:30:00+02:00", "2025-06-01T02:30:00+02:00", 3)
        try day.add(Self.type, "2025-06-01T02:30:00+02:00", "2025-06-01T06:30:00+02:00", 5)
        try day.add(Self.type, "2025-06-01T13:00:00+02:00", "2025-06-01T13:40:00+02:00", 3)
        let output = try day.compute(SleepHandler())
        #expect(
            output.figures["sleep"] == [
                "start": "2025-05-31T21:00:00Z", "end": "2025-06-01T04:30:00Z", "source": "Watch",
                "asleepMinutes": 420.0, "inBedMinutes": 450.0, "awakeMinutes": .null, "coreMinutes": 180.0,
                "deepMinutes": .null, "remMinutes": 240.0, "unspecifiedMinutes": .null, "latencyMinutes": 30.0,
                "wakeAfterOnsetMinutes": .null, "efficiency": .number(420.0 / 450.0),
            ])
        #expect(
            output.figures["naps"] == [
                [
                    "start": "2025-06-01T11:00:00Z", "end": "2025-06-01T11:40:00Z", "source": "Watch",
                    "asleepMinutes": 40.0, "inBedMinutes": .null, "awakeMinutes": .null, "coreMinutes": 40.0,
                    "deepMinutes": .null, "remMinutes": .null, "unspecifiedMinutes": .null, "latencyMinutes": .null,
                    "wakeAfterOnsetMinutes": .null, "efficiency": .null,
                ]
            ])
        #expect(output.events.map(\.kind) == ["night", "night"])
        #expect(output.events.map { $0.payload["main"] } == [true, false])
        #expect(output.events[0].payload["date"] == "2025-06-01")
        #expect(output.events[0].id == output.events[0].payload["id"].string)
    }

    @Test func timeInBedWithoutSleepIsNoNap() throws {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-05-31T23:00:00+02:00", "2025-06-01T06:00:00+02:00", 1)
        try day.add(Self.type, "2025-06-01T13:00:00+02:00", "2025-06-01T15:00:00+02:00", 0)
        let output = try day.compute(SleepHandler())
        #expect(output.figures["naps"] == [] && output.events.count == 2)

        var onlyBed = try DayBuilder()
        try onlyBed.add(Self.type, "2025-05-31T23:00:00+02:00", "2025-06-01T06:00:00+02:00", 0, source: "iPhone")
        let sleep = try #require(try onlyBed.compute(SleepHandler()).figures["sleep"])
        #expect(sleep["inBedMinutes"] == 420.0 && sleep["source"] == "iPhone")
        #expect(sleep["asleepMinutes"] == .null && sleep["latencyMinutes"] == .null && sleep["efficiency"] == .null)
    }

    /// A watch that died in the night, and an app that has the rest.
    @Test func theEventSaysWhoseMinutesTheyAre() throws {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-05-31T23:00:00+02:00", "2025-06-01T01:00:00+02:00", 3)
        try day.add(Self.type, "2025-05-31T23:10:00+02:00", "2025-06-01T06:30:00+02:00", 1, source: "Ring")
        try day.add(Self.type, "2025-06-01T13:00:00+02:00", "2025-06-01T15:00:00+02:00", 0, source: "iPhone")
        let output = try day.compute(SleepHandler())
        #expect(output.figures["sleep"]?["asleepMinutes"] == 450.0 && output.figures["sleep"]?["source"] == "Watch")
        #expect(
            output.events.map { $0.payload["sources"] } == [
                [
                    ["source": "Watch", "asleepMinutes": 120.0, "awakeMinutes": .null],
                    ["source": "Ring", "asleepMinutes": 330.0, "awakeMinutes": .null],
                ], [],
            ])
        // Only the event has them; the day's figure is the same however many sources there are.
        #expect(output.figures["sleep"]?["sources"].isNull == true)
    }

    /// Each session belongs to one day, even if it has samples on both sides of the boundary.
    @Test func aSessionOverTheEdgeBelongsToItsEnd() throws {
        for (date, sessions) in [("2025-06-01", 0), ("2025-06-02", 1), ("2025-06-03", 0)] {
            var day = try DayBuilder(date)
            try day.add(Self.type, "2025-06-01T17:00:00+02:00", "2025-06-01T17:40:00+02:00", 3)
            try day.add(Self.type, "2025-06-01T17:40:00+02:00", "2025-06-01T18:20:00+02:00", 4)
            try day.add(Self.type, "2025-06-01T18:20:00+02:00", "2025-06-01T19:00:00+02:00", 5)
            let output = try day.compute(SleepHandler())
            #expect(output.events.count == sessions)
            if sessions > 0 { #expect(output.figures["sleep"]?["asleepMinutes"] == 120.0) }
        }
    }

    @Test func theEndOfTheWindowIsTheDaysOwn() throws {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-06-01T17:00:00+02:00", "2025-06-01T18:00:00+02:00", 1)
        #expect(try day.compute(SleepHandler()).events.count == 1)
    }

    @Test func optionsWork() throws {
        var day = try DayBuilder()
        try day.add(Self.type, "2025-06-01T01:00:00+02:00", "2025-06-01T02:00:00+02:00", 3)
        try day.add(Self.type, "2025-06-01T02:30:00+02:00", "2025-06-01T04:00:00+02:00", 3)
        try day.add(Self.type, "2025-06-01T16:00:00+02:00", "2025-06-01T16:30:00+02:00", 3)
        #expect(try day.compute(SleepHandler()).events.count == 2)
        day.configuration = ["gapMinutes": 20]
        #expect(try day.compute(SleepHandler()).events.count == 3)
        day.configuration = ["windowHour": 15]
        #expect(try day.compute(SleepHandler()).events.count == 1)
        day.configuration = ["windowHour": 3]
        #expect(throws: SleepConfigurationError.self) { try day.compute(SleepHandler()) }
        day.configuration = ["gapMinutes": -1]
        #expect(throws: SleepConfigurationError.self) { try day.compute(SleepHandler()) }
    }
}
