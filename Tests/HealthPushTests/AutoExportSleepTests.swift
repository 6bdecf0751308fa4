import HealthModel
import HealthPush
import Testing

struct AutoExportSleepTests {
    @Test(arguments: [
        ("Core", 3), ("Deep", 4), ("REM", 5), ("Awake", 2), ("In Bed", 0), ("Asleep", 1), ("Unspecified", 1),
        ("InBed", 0),
        ("AsleepCore", 3), ("asleepREM", 5), ("HKCategoryValueSleepAnalysisAsleepDeep", 4),
    ])
    func aStageIsASample(value: String, raw: Double) throws {
        let changes = try pushed(
            metric: "sleep_analysis", "hr",
            #"{"startDate":"2026-09-01 23:10:00 +0200","endDate":"2026-09-01 23:40:00 +0200","qty":0.5,"date":null,"#
                + #""value":"\#(value)","source":"Anna’s Apple Watch"}"#, aggregation: "Days")
        let row = try #require(changes.rows.first)
        #expect(row.type == "HKCategoryTypeIdentifierSleepAnalysis" && row.value == raw && row.unit.isEmpty)
        #expect(row.start == "2026-09-01T21:10:00Z" && row.end == "2026-09-01T21:40:00Z")
        #expect(row.payload.isEmpty && row.created == 0 && row.source == "Anna’s Apple Watch")
    }

    @Test func aStageInAnotherLanguageIsKeptApart() throws {
        let changes = try pushed(
            metric: "sleep_analysis", "hr",
            #"{"startDate":"2026-09-01 23:10:00 +0200","endDate":"2026-09-01 23:40:00 +0200","qty":0.5,"value":"Tief"}"#
        )
        #expect(changes.rows.isEmpty && changes.items == 1)
        #expect(changes.reasons.first?.contains("another language") == true)
        #expect(changes.quarantined[0].raw.hasPrefix(#"{"name":"sleep_analysis","units":"hr","data":[{"startDate""#))
    }

    @Test func aNightIsOneStatistic() throws {
        let changes = try pushed(
            metric: "sleep_analysis", "hr",
            #"{"asleep":0,"core":3.5,"rem":1.25,"deep":0.75,"awake":0.1,"inBed":8,"date":"2026-09-02 00:23:47 +0200","#
                + #""sleepStart":"2026-09-02 00:23:47 +0200","sleepEnd":"2026-09-02 08:00:00 +0200","#
                + #""inBedStart":"2026-09-02 00:00:00 +0200","source":"iPhone|Watch"}"#)
        let row = try #require(changes.rows.first)
        #expect(row.type == "HKCategoryTypeIdentifierSleepAnalysis.statistics" && row.value == nil)
        #expect(row.start == "2026-09-01T22:23:47Z" && row.end == "2026-09-02T06:00:00Z")
        #expect(row.created == testNow.flooredSecond && row.source == "iPhone|Watch")
        #expect(
            row.body == [
                "asleepSeconds": 19_800, "unspecifiedSeconds": 0, "coreSeconds": 12_600, "deepSeconds": 2700,
                "remSeconds": 4500, "awakeSeconds": 360, "inBedSeconds": 28_800, "inBedStart": "2026-09-01T22:00:00Z",
            ])
    }

    /// Before the app supported stages, `asleep` meant all sleep; newer versions use `totalSleep`.
    @Test func allSleepIsWhatEachVersionCallsIt() throws {
        let times = #""sleepStart":"2026-09-02 00:00:00 +0200","sleepEnd":"2026-09-02 08:00:00 +0200""#
        let old = try pushed(
            metric: "sleep_analysis", "hr",
            #"{\#(times),"asleep":7,"inBed":8,"sleepSource":"Watch","inBedSource":"iPhone"}"#)
        #expect(old.rows[0].body["asleepSeconds"] == 25_200 && old.rows[0].source == "Watch")
        #expect(old.rows[0].body["inBedSource"] == "iPhone" && old.rows[0].body["inBedStart"].isNull)
        let new = try pushed(
            metric: "sleep_analysis", "min", #"{\#(times),"totalSleep":430,"core":300,"deep":60,"rem":70,"asleep":0}"#)
        #expect(new.rows[0].body["asleepSeconds"] == 25_800 && new.rows[0].body["coreSeconds"] == 18_000)
    }

    @Test func aNightWithoutTimesAndHoursOfNoLifeAreKeptApart() throws {
        let none = try pushed(metric: "sleep_analysis", "hr", #"{"asleep":7,"date":"2026-09-02"}"#)
        #expect(none.rows.isEmpty && none.reasons == ["there is no start of the sleep, or no end"])
        let wild = try pushed(
            metric: "sleep_analysis", "hr",
            #"{"asleep":7,"inBed":808742334249947,"inBedStart":"2026-09-02 00:00:00 +0200","inBedEnd":"2026-09-02 08:00:00 +0200"}"#
        )
        #expect(wild.rows[0].start == "2026-09-01T22:00:00Z" && wild.rows[0].body["inBedSeconds"].isNull)
        #expect(wild.rows[0].body["leftOut"] == ["inBedSeconds": 808_742_334_249_947])
    }
}
