import HealthModel
import SleepStage
import Testing

/// Nights without stages, whose totals were computed by an app.
@Suite struct SleepStatisticTests {
    private static let type = "HKCategoryTypeIdentifierSleepAnalysis"
    private static let body = """
        {"asleepSeconds":25200,"awakeSeconds":600,"coreSeconds":14400,"deepSeconds":3600,"inBedEnd":"2025-06-01T05:00:00Z",\
        "inBedSeconds":28800,"inBedStart":"2025-05-31T20:50:00Z","remSeconds":7200,"unspecifiedSeconds":0}
        """

    private static func night(_ body: String = body, source: String = "Watch") throws -> DayBuilder {
        var day = try DayBuilder()
        try day.add(
            type + ".statistics", "2025-05-31T23:00:00+02:00", "2025-06-01T06:30:00+02:00", .nan, source: source,
            payload: body)
        return day
    }

    private static func sleep(_ day: DayBuilder) throws -> Value {
        try day.compute(SleepHandler()).figures["sleep"] ?? .null
    }

    @Test func itsHoursAreTheDays() throws {
        let output = try Self.night().compute(SleepHandler())
        #expect(
            output.figures["sleep"] == [
                "start": "2025-05-31T20:50:00Z", "end": "2025-06-01T05:00:00Z", "source": "Watch",
                "asleepMinutes": 420.0, "inBedMinutes": 480.0, "awakeMinutes": 10.0, "coreMinutes": 240.0,
                "deepMinutes": 60.0, "remMinutes": 120.0, "unspecifiedMinutes": .null, "latencyMinutes": 10.0,
                "wakeAfterOnsetMinutes": .null, "efficiency": .number(420.0 / 480.0),
            ])
        #expect(output.figures["naps"] == [] && output.events.count == 1)
        #expect(
            output.events.first?.payload["sources"] == [
                ["source": "Watch", "asleepMinutes": 420.0, "awakeMinutes": 10.0]
            ])
    }

    /// The app prints 0 for unknown values.
    @Test func ofANightWithoutStagesOnlyTheSleepIsKnown() throws {
        let sleep = try Self.sleep(
            Self.night(
                #"{"asleepSeconds":25200,"awakeSeconds":0,"coreSeconds":0,"deepSeconds":0,"inBedSeconds":0,"remSeconds":0}"#
            ))
        #expect(sleep["asleepMinutes"] == 420.0)
        for name in ["inBed", "awake", "core", "deep", "rem", "unspecified"] { #expect(sleep[name + "Minutes"].isNull) }
        #expect(sleep["latencyMinutes"].isNull && sleep["efficiency"].isNull)
    }

    @Test(arguments: ["Watch", "iPhone"]) func samplesOfSleepOfAnySourceGoBefore(source: String) throws {
        var day = try Self.night()
        try day.add(type, "2025-06-01T00:00:00+02:00", "2025-06-01T05:00:00+02:00", 3, source: source)
        let sleep = try Self.sleep(day)
        #expect(sleep["asleepMinutes"] == 300.0 && sleep["inBedMinutes"].isNull && sleep["source"] == .string(source))
    }

    private var type: String { Self.type }

    /// Time in bed alone isn't evidence of sleep, even if it comes from the same source; the source of the statistic
    /// comes first.
    @Test(arguments: [("Watch", 0.0), ("iPhone", 0), ("Watch", 2)])
    func timeInBedLeavesIt(source: String, stage: Double) throws {
        var day = try Self.night(#"{"asleepSeconds":25200}"#)
        try day.add(type, "2025-05-31T22:30:00+02:00", "2025-06-01T07:00:00+02:00", stage, source: source)
        let sleep = try Self.sleep(day)
        #expect(sleep["asleepMinutes"] == 420.0 && sleep["source"] == "Watch")
        #expect(sleep["inBedMinutes"] == (stage == 0 ? 510.0 : .null))
        #expect(sleep["latencyMinutes"] == (stage == 0 ? 30.0 : .null))
        var own = try Self.night()
        try own.add(type, "2025-05-31T22:30:00+02:00", "2025-06-01T07:00:00+02:00", stage, source: source)
        #expect(try Self.sleep(own)["inBedMinutes"] == 480.0)
    }

    @Test func theLongerOfTwoAccountsOfOneNightCounts() throws {
        var day = try DayBuilder()
        for (end, seconds) in [("2025-06-01T03:00:00+02:00", 10_800), ("2025-06-01T06:30:00+02:00", 25_200)] {
            try day.add(
                type + ".statistics", "2025-05-31T23:00:00+02:00", end, .nan, payload: "{\"asleepSeconds\":\(seconds)}")
        }
        let output = try day.compute(SleepHandler())
        #expect(output.figures["sleep"]?["asleepMinutes"] == 420.0 && output.events.count == 1)
    }

    @Test func moreSleepThanTheNightIsLongCountsAsNone() throws {
        #expect(try Self.sleep(Self.night(#"{"asleepSeconds":90000}"#)).isNull)
        #expect(try Self.sleep(Self.night(#"{"asleepSeconds":0}"#)).isNull)
        #expect(try Self.sleep(Self.night("")).isNull)
    }

    /// As from "Watch|Sleep++": the app adds up what both recorded of the same night.
    @Test func stagesThatFitCountWhereAllSleepDoesNot() throws {
        let sleep = try Self.sleep(
            Self.night(
                #"{"asleepSeconds":50400,"coreSeconds":14400,"deepSeconds":3600,"remSeconds":7200,"unspecifiedSeconds":25200}"#,
                source: "Watch|Sleep++"))
        #expect(sleep["asleepMinutes"] == 420.0 && sleep["coreMinutes"] == 240.0 && sleep["unspecifiedMinutes"].isNull)
        let none = try Self.night(#"{"asleepSeconds":90000,"coreSeconds":50000,"inBedSeconds":28800}"#)
        #expect(try Self.sleep(none).isNull)
    }

    @Test func touchingSummariesAreNightsOfTheirOwn() throws {
        var day = try Self.night()
        try day.add(
            Self.type + ".statistics", "2025-06-01T06:30:00+02:00", "2025-06-01T15:00:00+02:00", .nan,
            payload: #"{"asleepSeconds":28800}"#)
        let output = try day.compute(SleepHandler())
        #expect(output.figures["sleep"]?["asleepMinutes"] == 480.0 && output.events.count == 2)
        #expect(output.figures["naps"]?.array?.map { $0["asleepMinutes"].double } == [420])
    }

    @Test func summariesOfTwoSourcesAreOneNight() throws {
        var day = try Self.night()
        try day.add(
            Self.type + ".statistics", "2025-05-31T22:00:00+02:00", "2025-06-01T07:00:00+02:00", .nan, source: "Ring",
            payload: #"{"asleepSeconds":30000}"#)
        #expect(try day.compute(SleepHandler()).events.count == 1)
    }

    @Test func aNapBesideItIsANap() throws {
        var day = try Self.night()
        try day.add(type, "2025-06-01T13:00:00+02:00", "2025-06-01T13:40:00+02:00", 3)
        let output = try day.compute(SleepHandler())
        #expect(output.figures["sleep"]?["asleepMinutes"] == 420.0)
        #expect(output.figures["naps"]?.array?.map { $0["asleepMinutes"].double } == [40])
    }
}
