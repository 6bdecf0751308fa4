import Changelog
import Configuration
import HandlerKit
import HealthImport
import HealthModel
import HealthStore
import MessageBus
import ObserverReading
import ObserverStage
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing
import WorkoutsStage

/// From an import to a workout's event: the observer, its store and the workouts handler.
@Suite struct WorkoutPathTests {
    private static let zone = "Europe/Berlin"
    private static let key = "event/me/"
    private let observer: StageRig<ObserverStage>
    private let handler: StageRig<HandlerStage>

    init() throws {
        observer = try StageRig { ObserverStage(instance: "observer", zone: Self.zone, defaultUser: "me") }
        let manifest = try Checkout.manifest("workouts")
        handler = try StageRig {
            HandlerStage(
                instance: "workouts", manifest: manifest, configuration: [:], handler: WorkoutsHandler(),
                namedTypes: [], observer: "observer")
        }
    }

    /// Imports one export, as its reader passes it on.
    private func importExport(
        _ id: String, birth: LocalDay? = LocalDay(year: 1985, month: 6, day: 1), exported: Instant = 0,
        records: RecordBatch, routes: [WorkoutRoute] = []
    ) throws {
        try observer.hear("control.observer", ["command": "import", "id": .string(id), "path": "/x.zip"])
        let adopt = try #require(
            observer.effects.last { if case .adopt? = $0.request as? ObserverEffect { true } else { false } })
        try observer.reply(adopt, FileStep.adopted(id: id))
        let read = try #require(
            observer.effects.last { if case .read? = $0.request as? ObserverEffect { true } else { false } })
        let info = ExportInfo(date: exported, locale: "de_DE", dateOfBirth: birth)
        var events: [ImportEvent] = [.found(.info(info)), .found(.records(records))]
        events += routes.map { .found(.route($0)) }
        for event in events + [.finished(ReadSummary())] { try observer.reply(read, event) }
    }

    /// Lets the handler catch up with the observer.
    private func catchUp() throws {
        let head = observer.store.head
        try handler.hear(
            "sync.workouts", ["head": Value(head), "released": .integer(head.sequence.value)])
        let source = try ObserverSource(database: observer.store.database)
        for _ in 0..<100 {
            guard let pull = handler.pulls.first else { return }
            var pages: [Value] = []
            try source.answer(.object(pull.query), head: head) { members, _ in
                pages.append(.object(members.merging(["head": Value(head)]) { own, _ in own }))
            }
            try handler.answer(pull, .pages(pages))
        }
        Issue.record("pulls without end")
    }

    private func events() throws -> [Value] {
        try handler.rows().filter { $0.key.hasPrefix(Self.key) }.values.compactMap { $0.body?["event"] }
            .sorted { ($0["startDate"].string ?? "") < ($1["startDate"].string ?? "") }
    }

    private func summary(_ day: String) throws -> Value {
        try handler.rows()["figures/me/\(day)"]?.body?["figures"] ?? .null
    }

    private static func instant(_ text: String) throws -> Instant { try #require(InstantText.parse(text)) }

    private struct Row {
        var type = HealthType.workoutIdentifier
        var start: String
        var end: String?
        var value = Double.nan
        var payload = ""
        var uuid: SampleID?
    }

    private func batch(_ rows: [Row]) throws -> RecordBatch {
        var batch = RecordBatch()
        batch.origins = [Origin(sourceName: "Watch")]
        for row in rows {
            let index = batch.types.firstIndex(of: row.type) ?? batch.types.count
            if index == batch.types.count {
                batch.types.append(row.type)
                batch.units.append(HealthType.named(row.type).unit)
            }
            batch.type.append(Int32(index))
            batch.unit.append(Int32(index))
            batch.origin.append(0)
            batch.start.append(try Self.instant(row.start).microseconds)
            batch.end.append(try Self.instant(row.end ?? row.start).microseconds)
            batch.value.append(row.value)
            batch.created.append(0)
            batch.flags.append([])
            batch.metadata.append("")
            batch.payload.append(row.payload)
            batch.healthKitUUID.append(row.uuid)
            batch.line.append(1)
        }
        return batch
    }

    private static let run = #"{"activity":"HKWorkoutActivityTypeRunning","route":"/workout-routes/a.gpx"}"#

    private func workout(_ payload: String = run) -> Row {
        Row(start: "2025-06-01T08:00:00Z", end: "2025-06-01T09:00:00Z", payload: payload)
    }

    /// A path due north, one step per point, in the pieces that a reader would return.
    private func route(_ count: Int, step: Double = 1e-5) throws -> [WorkoutRoute] {
        let start = try Self.instant("2025-06-01T08:00:00Z")
        let end = try Self.instant("2025-06-01T09:00:00Z")
        let all = 0..<count
        return all.filter { $0 % WorkoutRoute.pointLimit == 0 }.map { first in
            let places = first..<min(first + WorkoutRoute.pointLimit, count)
            var route = WorkoutRoute(
                path: "/workout-routes/a.gpx", workout: .init(start: start, end: end, sourceName: "Watch"),
                firstPoint: first)
            route.isLast = places.upperBound == count
            route.time = places.map { start + .milliseconds($0 * 100) }
            route.latitude = places.map { 40 + Double($0) * step }
            let none = places.map { _ in Double.nan }
            (route.longitude, route.elevation) = (places.map { _ in 13 }, places.map { _ in 34 })
            (route.speed, route.course, route.horizontalAccuracy, route.verticalAccuracy) = (none, none, none, none)
            return route
        }
    }

    @Test func aRouteIsJoinedOnceAndChangesWhenItIsReplaced() throws {
        let records = try batch([workout()])
        try importExport("00000000-1", records: records, routes: route(9000))
        try catchUp()
        let first = try #require(try events().first)
        #expect(first["route"]["points"] == 9000)
        #expect(abs((first["route"]["distanceMeters"].double ?? 0) - 10_006.4) < 1)
        #expect((first["route"]["track"]["latitude"].array?.count ?? 0) >= 2)
        #expect(try summary("2025-06-01")["workouts"].array?.first?["route"]["track"] == .null)
        #expect(try summary("2025-06-01")["workouts"].array?.first?["route"]["points"] == 9000)

        // After the same export is imported again, no sample has a new version, and the track is still there.
        let before = try versions()
        try importExport("00000000-2", records: records, routes: route(9000))
        #expect(try versions() == before)
        try catchUp()
        #expect(try events() == [first])

        // A shorter route replaces the first.
        try importExport("00000000-3", records: records, routes: route(100))
        #expect(try versions() != before)
        try catchUp()
        #expect(try events().first?["route"]["points"] == 100)
        #expect(
            try HealthStoreReader(database: observer.store.database).route(user: "me", path: "/workout-routes/a.gpx")
                .count == 1)

        // A route that breaks off early says nothing about the whole.
        var broken = try route(50)
        broken[0].isLast = false
        try importExport("00000000-4", records: records, routes: broken)
        try catchUp()
        #expect(try events().first?["route"]["points"] == 100)
    }

    /// Exports may be imported in any order: the route of the newest one counts.
    @Test func theRouteOfAnOlderExportReplacesNothing() throws {
        let records = try batch([workout()])
        try importExport("00000000-1", exported: 20, records: records, routes: route(100))
        let before = try versions()
        try importExport("00000000-2", exported: 10, records: records, routes: route(9000))
        #expect(try versions() == before)
        try catchUp()
        #expect(try events().first?["route"]["points"] == 100)
        let path = "/workout-routes/a.gpx"
        #expect(try HealthStoreReader(database: observer.store.database).route(user: "me", path: path).count == 1)
        try importExport("00000000-3", exported: 30, records: records, routes: route(50))
        try catchUp()
        #expect(try events().first?["route"]["points"] == 50)
    }

    private func versions() throws -> [Int64] {
        var versions: [Int64] = []
        try observer.store.database.prepare("SELECT seq FROM samples ORDER BY seq").forEachRow {
            versions.append($0.int64(0))
        }
        return versions
    }

    /// Of two workouts with the same source, start and end, the route belongs to the one that names it.
    @Test func theNamedWorkoutGetsTheRoute() throws {
        let other = #"{"activity":"HKWorkoutActivityTypeYoga","route":"/workout-routes/b.gpx"}"#
        try importExport("00000000-1", records: batch([workout(other), workout()]), routes: route(100))
        try catchUp()
        let byType = Dictionary(uniqueKeysWithValues: try events().map { ($0["type"].string ?? "", $0["route"]) })
        #expect(byType["yoga"] == .null && byType["running"]?["points"] == 100)
    }

    private func heart(_ minutes: Range<Int>, _ value: Double, day: String = "2025-06-01T08:") -> [Row] {
        minutes.map { minute in
            Row(
                type: "HKQuantityTypeIdentifierHeartRate", start: "\(day)\(minute < 10 ? "0" : "")\(minute):00Z",
                value: value)
        }
    }

    private let resting = Row(
        type: "HKQuantityTypeIdentifierRestingHeartRate", start: "2025-06-01T05:00:00Z", value: 60)

    /// At age 40 the maximum is 180; with a resting heart rate of 60, the zones meet at 132, 144, 156 and 168.
    @Test func theDateOfBirthAndLateHeartRatesChangeTheZones() throws {
        func seconds() throws -> [Double] {
            (try events().first?["heartRateZones"].array ?? []).compactMap { $0["seconds"].double }
        }
        try importExport("00000000-1", birth: nil, records: batch([workout(), resting] + heart(0..<10, 150)))
        try catchUp()
        #expect(try events().first?["heartRateZones"] == .null)
        #expect(try events().first?["heartRate"]["average"] == 150.0)
        // Only the date of birth is new.
        try importExport("00000000-2", exported: 10, records: batch([]))
        try catchUp()
        #expect(try seconds() == [0, 0, 600, 0, 0])
        #expect(try events().first?["heartRateZones"].array?[2]["from"] == 144.0)
        // The date of birth in an older export doesn't count, and a restarted handler still knows the newer date.
        try importExport(
            "00000000-3", birth: LocalDay(year: 1950, month: 1, day: 1), exported: 5,
            records: batch(heart(10..<12, 170)))
        try handler.restart()
        try catchUp()
        #expect(try seconds() == [0, 0, 600, 0, 120])
        try importExport("00000000-4", birth: LocalDay(year: 1955, month: 6, day: 2), exported: 11, records: batch([]))
        try catchUp()
        // At age 69 the maximum is 151, so the zones meet at 114.6, 123.7, 132.8 and 141.9.
        #expect(try seconds() == [0, 0, 0, 0, 720])
    }

    /// A workout belongs to the day on which it starts; this one has heart rate on both sides of midnight.
    @Test func aWorkoutOverMidnightHasItsHeart() throws {
        let late = Row(start: "2025-06-01T21:30:00Z", end: "2025-06-01T22:30:00Z", payload: #"{"activity":"running"}"#)
        let before = heart(50..<60, 135, day: "2025-06-01T21:")
        try importExport("00000000-1", records: batch([late, resting] + before))
        try catchUp()
        // Midnight in Berlin is 22:00 UTC; these samples arrive separately, and belong to the next day.
        try importExport("00000000-2", records: batch(heart(0..<10, 170, day: "2025-06-01T22:")))
        try catchUp()
        let zones = try events().first?["heartRateZones"].array ?? []
        #expect(zones.compactMap { $0["seconds"].double } == [0, 600, 0, 0, 600])
        #expect(try summary("2025-06-01")["workouts"].array?.count == 1 && summary("2025-06-02") == .null)
    }

    /// An edit is a delete and an add: the day lists only the new workout, and only that is delivered.
    @Test func anEditedWorkoutIsOne() throws {
        let old = SampleID(high: 0xAAAA_0000_0000_4000, low: 1 << 63 | 1)
        let new = SampleID(high: 0xAAAA_0000_0000_4000, low: 1 << 63 | 2)
        var row = workout(#"{"activity":"running","totalEnergyKilocalories":300}"#)
        row.uuid = old
        try importExport("00000000-1", records: batch([row]))
        try catchUp()
        try observer.turn { turn in
            let stage = try turn.write()
            let writer = try HealthStoreWriter(database: stage.database, user: "me", sequences: stage)
            #expect(try writer.delete(uuids: [old]) == 1)
            row.uuid = new
            row.payload = #"{"activity":"walking","totalEnergyKilocalories":100}"#
            _ = try writer.ingest(batch([row]), session: ImportSession(source: "edit")) { _ in { _, _, _ in nil } }
        }
        try catchUp()
        let rows = try handler.rows().filter { $0.key.hasPrefix(Self.key) }
        #expect(rows.count == 2 && rows.values.count { $0.body == nil } == 1)
        #expect(try events().map { $0["healthkitUUID"].string } == [new.description])
        let listed = try summary("2025-06-01")
        #expect(listed["workouts"].array?.map { $0["activity"] } == ["walking"])
        // The energy burned in a workout is recorded in the samples associated with it.
        #expect(listed.object?.keys.sorted() == ["workouts"])
    }
}
