import Changelog
import HTTP
import HealthModel
import ObserverReading
import PlacesStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// Places as conditions of a handler, from fixes in the store to its figures.
@Suite struct PlacesTests {
    private static let day = LocalDay(year: 2025, month: 3, day: 26)
    private static let home: Value = ["latitude": 52.5, "longitude": 13.4]
    private let zones: ZoneTimeline

    init() throws { zones = try ZoneTimeline(zone: FiguresRig.zone) }

    private func fix(_ hour: Double, of day: LocalDay = day, north metres: Double = 0) -> Record {
        Record(
            type: HealthType.locationIdentifier, source: "Phone", start: zones.hour(hour, of: day), length: .zero,
            value: .nan, unit: "",
            payload: #"{"latitude":\#(52.5 + metres / 111_195),"longitude":13.4,"horizontalAccuracy":10}"#)
    }

    /// At home from 8 to 17, elsewhere afterwards.
    private var records: [Record] {
        stride(from: 8.0, to: 17, by: 0.5).map { fix($0) }
            + stride(from: 17.0, to: 20, by: 0.5).map { fix($0, north: 900) }
    }

    private func places(_ rig: FiguresRig, _ day: LocalDay = day) throws -> [String: Double] {
        let places = try rig.figures(day)?["places"].array ?? []
        return Dictionary(
            uniqueKeysWithValues: places.map { ($0["place"].string ?? "", $0["minutes"].double ?? -1) })
    }

    @Test func aPlaceIsWatchedFromTheFirstFixOnAndForgottenAgain() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        try rig.add(records)
        _ = try rig.settle()
        #expect(try places(rig) == [:])

        // Fixes inside the place count, even those from before it was monitored.
        #expect(try rig.watch(["Home": Self.home]) == nil)
        _ = try rig.settle()
        #expect(try places(rig) == ["Home": 540])
        #expect(try rig.rows("conditions.places").values.map { $0["name"] } == ["Home"])
        #expect(try rig.rows("events.places").count == 2)
        // Every tap can see keys, so they must not contain names.
        #expect(try !rig.rows("").keys.contains { $0.contains("Home") })
        #expect(try rig.summaries()[Self.day]?["visits"].array?.count == 1)

        // The same place again changes nothing, and no day is computed.
        #expect(try rig.watch(["Home": Self.home]) == nil)
        #expect(try rig.settle() == [])
        // A different circle under the same name replaces it.
        let far: Value = ["latitude": .number(52.5 + 900 / 111_195), "longitude": 13.4, "radiusMeters": 50]
        #expect(try rig.watch(["Home": far]) == nil)
        _ = try rig.settle()
        #expect(try places(rig) == ["Home": 150])

        #expect(try rig.watch(["Home": .null]) == nil)
        _ = try rig.settle()
        #expect(try rig.figures(Self.day) == nil)
        #expect(try rig.rows("conditions.").isEmpty && rig.rows("events.").isEmpty)
    }

    @Test func whatIsWatchedSurvivesARestartAndVisitsGoOn() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        #expect(try rig.watch(["Home": Self.home]) == nil)
        try rig.add([fix(20), fix(20.5), fix(21)])
        _ = try rig.settle()
        #expect(try rig.figures(Self.day)?["visits"].array?.first?["departure"].isNull == true)
        // What comes while the plugin isn't running isn't missed.
        let next = Self.day.adding(days: 1)
        try rig.add([fix(7, of: next), fix(8, of: next, north: 900), fix(9, of: next, north: 900)])
        try rig.restart()
        #expect(rig.log.fields(of: .conditionsWatched) == [["count": "0"], ["count": "1"]])
        #expect(!rig.log.contains("conditions.reconciled"))
        _ = try rig.settle()
        #expect(try rig.figures(Self.day)?["visits"].array?.first?["departure"] == "continues")
        #expect(try places(rig) == ["Home": 240] && places(rig, next) == ["Home": 480])
        #expect(try rig.figures(next)?["places"].array?.first?["visits"] == 0)
    }

    /// Conditions that vanish, as when Core Location forgets them behind an app's back, are registered again and
    /// counted.
    @Test func whatVanishedIsRegisteredAgainAtTheNextStart() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        _ = try rig.watch(["Home": Self.home, "Park": ["latitude": 52.6, "longitude": 13.4]])
        try rig.add(records)
        _ = try rig.settle()
        try rig.restart {
            try $0.execute("DELETE FROM registered_conditions; DELETE FROM changes WHERE key LIKE 'figures/%'")
        }
        #expect(rig.log.fields(of: .conditionsWatched).last == ["count": "2"])
        #expect(rig.log.fields(of: .conditionsReconciled) == [["count": "2", "again": "2", "gone": "0"]])
        _ = try rig.settle()
        #expect(try places(rig) == ["Home": 540])
        let park = try #require(try rig.rows("conditions.").first { $0.value["name"] == "Park" }?.key)
        // Conditions that are registered but no longer wanted are no longer watched.
        try rig.restart { try $0.execute("DELETE FROM changes WHERE key = '\(park)'") }
        #expect(rig.log.fields(of: .conditionsReconciled).last == ["count": "1", "again": "0", "gone": "1"])
    }

    @Test func twentyAreAllThatAnIPhoneWatches() throws {
        let rig = try FiguresRig("places", PlacesHandler(), options: ["limit": 20])
        let names = (1...21).map { "Place \($0)" }
        let all = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.home) })
        let why = "at most 20 are watched for a person; remove another one first"
        #expect(try rig.watch(all) == why)
        #expect(try rig.rows("conditions.").isEmpty)
        #expect(
            try rig.watch(all.filter { $0.key != "Place 21" }) == nil)
        #expect(try rig.watch(["Place 21": Self.home]) == why)
        // One place is removed and another is added, so there are still twenty.
        #expect(
            try rig.watch(["Place 21": Self.home, "Place 1": .null])
                == nil)
    }

    @Test func whatIsRefusedSaysNeitherNameNorPlace() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        let wrong: Value = ["latitude": 98.7654, "longitude": 13.4]
        let why = try #require(try rig.watch(["Secret": wrong, "Home": Self.home]))
        #expect(!why.contains("Secret") && !why.contains("98"), "\(why)")
        #expect(try rig.rows("conditions.").isEmpty)
        #expect(try rig.watch(["Home": Self.home], user: "nobody") != nil)
        #expect(try FiguresRig("steps", PlainHandler()).watch(["Home": Self.home]) != nil)
    }

    private struct PlainHandler: DayHandler {
        let version = 1
        func compute(_ input: DayInput) throws -> DayOutput { DayOutput() }
    }

    /// A late fix affects its day and the neighbouring days, and no others.
    @Test func aLateFixComputesItsDayAndItsNeighbours() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        _ = try rig.watch(["Home": Self.home])
        try rig.add((0..<9).flatMap { index in [9.0, 10, 11].map { fix($0, of: Self.day.adding(days: index)) } })
        _ = try rig.settle()
        let middle = Self.day.adding(days: 4)
        try rig.add([fix(15, of: middle)])
        #expect(Set(try rig.settle()) == [middle, middle.adding(days: 1)])
        try rig.add([fix(3, of: middle)])
        #expect(Set(try rig.settle()) == [middle.adding(days: -1), middle, middle.adding(days: 1)])
    }

    /// Fixes go from a program's request to the store, where only plugins with the right to fixes can read them.
    @Test func pushedFixesAreReadByWhomTheyAreMeantFor() throws {
        let rig = try IngestRig()
        let fixes = (0..<3).map {
            #"{"type": "CLLocation", "start": \#(1_743_000_000 + $0 * 600), "source": "Phone", "#
                + #""location": {"latitude": 52.5, "longitude": 13.4, "horizontalAccuracy": 9}}"#
        }
        let body = "{\"samples\": [\(fixes.joined(separator: ", "))]}"
        for outcome in ["added", "known"] {
            let answer = try rig.send("POST", "/v1/samples", body: body)
            let reported = try Value(json: answer.body)
            #expect(answer.status == 200 && reported[outcome] == 3, "\(reported.json())")
        }
        func read(_ consumer: String, locators: [String]?) throws -> [String] {
            try rig.observer.store.transaction {
                let access = Value(KeptAccess(locked: false, denied: [], locators: locators)).json()
                let write = try rig.observer.store.database.prepare(
                    "INSERT OR REPLACE INTO delivery VALUES ('access', ?)")
                write.bind(1, access)
                try write.run()
            }
            var payloads: [String] = []
            let slice = SliceRequest(
                user: "anna", types: .allExcept([]), asOf: AnchorVector(base: .end),
                from: Instant(seconds: 1_743_000_000), to: Instant(seconds: 1_743_100_000),
                detailed: .list([HealthType.locationIdentifier]), payloads: [], during: [:])
            try ObserverSource(database: rig.observer.store.database).answer(
                Question(.slice(slice), PullPlace()), for: consumer, head: rig.observer.store.head
            ) { page, _ in
                let samples = (page as? SlicePage)?.samples ?? SamplePage()
                payloads += samples.ids.indices.map { samples.payload[$0] }
            }
            return payloads
        }
        #expect(try read("places", locators: ["places"]).count == 3)
        #expect(try read("places", locators: ["places"]).first?.contains("52.5") == true)
        #expect(try read("uploader", locators: ["places"]) == [])
        // A person's own tools read everything, and so does every consumer by default.
        #expect(try read("cli-1", locators: nil).count == 3)
    }

    @Test func aFixThatIsDeletedIsNoLongerCounted() throws {
        let rig = try FiguresRig("places", PlacesHandler())
        _ = try rig.watch(["Home": Self.home])
        let uuid = SampleID(high: 0x0197_7F3A_5C00_8ABC, low: 0x9DEF_0123_4567_89AB)
        var last = fix(10)
        last.uuid = uuid
        try rig.add([fix(8), fix(9), last])
        _ = try rig.settle()
        #expect(try places(rig) == ["Home": 120])
        try rig.delete(uuid)
        _ = try rig.settle()
        #expect(try places(rig) == ["Home": 60])
    }
}
