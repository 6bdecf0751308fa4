import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// Lists of stored elements by user, time and version.
struct BackendListsTests {
    typealias F = BackendFixture

    private func night(_ id: String, _ start: String, _ end: String, date: String, version: Int = 1) -> String {
        #"{"id":"\#(id)","version":\#(version),"start":"\#(start)","end":"\#(end)","date":"\#(date)","main":true}"#
    }

    private func ids(_ fixture: BackendFixture, _ list: String, _ query: [String: String]) throws -> [String] {
        let page = try fixture.get("/api/v1/" + list, query.merging(["user": "anna"]) { $1 })
        return (page[list].array ?? []).compactMap { $0["id"].string ?? $0["date"].string }
    }

    private func sendNights(_ fixture: BackendFixture) throws {
        let nights = [
            night("a", "2025-03-28T22:30:00Z", "2025-03-29T05:30:00Z", date: "2025-03-29"),
            night("b", "2025-03-29T22:10:00Z", "2025-03-30T05:00:00Z", date: "2025-03-30"),
            // A nap on the same day.
            night("c", "2025-03-30T11:00:00Z", "2025-03-30T11:40:00Z", date: "2025-03-30"),
            #"{"id":"d","version":1}"#,
        ]
        _ = try fixture.accepted("sleep", #"{"userId":"anna","nights":[\#(nights.joined(separator: ","))]}"#)
    }

    @Test func nightsAreFoundByTheDayTheyBelongTo() throws {
        let fixture = try BackendFixture()
        try sendNights(fixture)
        #expect(try ids(fixture, "nights", ["from": "2025-03-30", "to": "2025-03-30"]) == ["b", "c"])
        #expect(try ids(fixture, "nights", ["from": "2025-03-30"]) == ["b", "c"])
        #expect(try ids(fixture, "nights", ["to": "2025-03-29"]) == ["a"])
        // Queries by time return everything that overlaps the range.
        #expect(
            try ids(fixture, "nights", ["from": "2025-03-29T05:00:00Z", "to": "2025-03-29T22:10:00Z"]) == ["a", "b"])
        #expect(try ids(fixture, "nights", ["from": "2025-03-30T05:00:01Z"]) == ["c"])
        #expect(try ids(fixture, "nights", [:]) == ["a", "b", "c", "d"])
        // A night whose time has changed is found at the new time.
        let moved = night("c", "2025-04-01T11:00:00Z", "2025-04-01T11:40:00Z", date: "2025-04-01", version: 2)
        _ = try fixture.accepted("sleep", #"{"userId":"anna","nights":[\#(moved)]}"#)
        #expect(try ids(fixture, "nights", ["from": "2025-04-01"]) == ["c"])
        #expect(try ids(fixture, "nights", ["from": "2025-03-30", "to": "2025-03-30"]) == ["b"])
    }

    @Test func datesCanBeMeantInAZone() throws {
        let fixture = try BackendFixture()
        // 00:30 to 01:30 on 30 March in Berlin, where the clocks go forward that night.
        let workout =
            #"{"id":"w","version":1,"type":"running","startDate":"2025-03-29T23:30:00Z","endDate":"2025-03-30T00:30:00Z"}"#
        _ = try fixture.accepted("workouts", #"{"userId":"anna","workouts":[\#(workout)]}"#)
        let sample = F.sample(F.id(1), start: "2025-03-30T08:15:00Z")
        _ = try fixture.accepted("steps", F.body(samples: [sample]))
        #expect(try ids(fixture, "workouts", ["to": "2025-03-29"]) == ["w"])
        #expect(try ids(fixture, "workouts", ["to": "2025-03-29", "zone": "Europe/Berlin"]) == [])
        #expect(
            try ids(fixture, "workouts", ["from": "2025-03-30", "to": "2025-03-30", "zone": "Europe/Berlin"]) == ["w"])
        #expect(try ids(fixture, "workouts", ["from": "2025-03-30"]) == ["w"], "its end is of that day")
        #expect(try ids(fixture, "samples", ["from": "2025-03-30", "zone": "Pacific/Auckland"]) == [F.id(1)])
        #expect(try ids(fixture, "samples", ["from": "2025-03-31", "zone": "Pacific/Auckland"]) == [])
        #expect(try ids(fixture, "samples", ["to": "2025-03-29", "zone": "Pacific/Honolulu"]) == [F.id(1)])
        _ = try fixture.accepted(
            "daily", #"{"userId":"anna","days":[{"date":"2025-03-29","version":1},{"date":"2025-03-30","version":1}]}"#)
        #expect(try ids(fixture, "days", ["from": "2025-03-29T23:30:00Z"]) == ["2025-03-29", "2025-03-30"])
        #expect(try ids(fixture, "days", ["from": "2025-03-29T23:30:00Z", "zone": "Europe/Berlin"]) == ["2025-03-30"])
        var request = F.request("GET", "/api/v1/workouts")
        request.query = ["from": "2025-03-30", "zone": "Berlin"]
        #expect(fixture.backend.handle(request).status == 400)
    }

    @Test func whoeverNamesNobodyMeansTheOnlyOne() throws {
        let fixture = try BackendFixture()
        #expect(try fixture.get("/api/v1/samples")["samples"] == [])
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))], user: "anna"))
        // There is only one user, so it needn't be named.
        #expect(try fixture.get("/api/v1/samples")["samples"].array?.count == 1)
        _ = try fixture.accepted("steps", #"{"samples":[\#(F.sample(F.id(2))),\#(F.sample(F.id(3)))]}"#)
        // If there are several users, the default is the one whose data is imported, to whom elements without a user
        // also belong.
        #expect(try fixture.get("/api/v1/samples")["samples"].array?.count == 2)
        #expect(try fixture.get("/api/v1/samples", ["user": "me"])["samples"].array?.count == 2)
        #expect(try fixture.get("/api/v1/samples", ["user": "default"])["samples"] == [])
    }

    /// A database as the first release created it: nights had no times, there was no sequence, and the user was
    /// `default` if none was named.
    private func olderDatabase(_ path: String, user: String) throws {
        let database = try Database(path: path)
        try database.execute(
            """
            CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
            INSERT INTO meta VALUES ('generation', 'abc'), ('schema', '1');
            CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
            INSERT INTO texts VALUES (1, '\(user)');
            CREATE TABLE samples(
                user INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
                type INTEGER NOT NULL, start INTEGER, "end" INTEGER, value REAL, unit INTEGER,
                source INTEGER, source_type INTEGER NOT NULL, uuid BLOB, device INTEGER, synced INTEGER,
                metadata TEXT, payload TEXT, PRIMARY KEY(user, id)) WITHOUT ROWID;
            CREATE TABLE documents(
                user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
                deleted INTEGER NOT NULL, start INTEGER, device INTEGER, synced INTEGER, body TEXT,
                PRIMARY KEY(user, kind, id)) WITHOUT ROWID;
            INSERT INTO documents VALUES
                (1, 0, '2025-03-30', 1, 0, NULL, 0, 0, '{"date":"2025-03-30","version":1}'),
                (1, 1, 'w', 1, 0, 1743288600000000, 0, 0,
                 '{"id":"w","startDate":"2025-03-29T22:50:00Z","endDate":"2025-03-30T00:30:00Z","type":"running"}'),
                (1, 2, 'a', 1, 0, NULL, 0, 0, '\(night("a", "2025-03-28T22:30:00Z", "2025-03-29T05:30:00Z", date: "2025-03-29"))'),
                (1, 2, 'b', 1, 0, NULL, 0, 0, '\(night("b", "2025-03-29T22:10:00Z", "2025-03-30T05:00:00Z", date: "2025-03-30"))'),
                (1, 2, 'c', 2, 1, NULL, 0, 0, NULL);
            """)
    }

    @Test func anEarlierReleasesNightsGetTheirTimes() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        try olderDatabase(path, user: "anna")
        for _ in 1...2 {
            let backend = try F.open(path)
            func ids(_ list: String, _ query: [String: String]) throws -> [String] {
                var request = F.request("GET", "/api/v1/" + list)
                request.query = query
                let page = try Value(json: backend.handle(request).body)
                return (page[list].array ?? []).compactMap { $0["id"].string ?? $0["date"].string }
            }
            #expect(try ids("nights", ["from": "2025-03-30", "to": "2025-03-30"]) == ["b"])
            #expect(try ids("nights", ["to": "2025-03-29T05:00:00Z"]) == ["a"])
            #expect(try ids("nights", [:]) == ["a", "b"])
            #expect(try ids("workouts", ["from": "2025-03-30"]) == ["w"])
            #expect(try ids("days", ["from": "2025-03-30"]) == ["2025-03-30"])
            let stats = try Value(json: backend.handle(F.request("GET", "/api/v1/stats")).body)
            #expect(stats["generation"] == "abc" && stats["sequence"] == 0)
        }
    }

    @Test func whatAnEarlierReleaseKeptUnderDefaultStaysOne() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        try olderDatabase(path, user: "default")
        let backend = try F.open(path)
        let body = #"{"days":[{"date":"2025-03-30","version":1},{"date":"2025-03-31","version":1}]}"#
        let answer = try Value(json: backend.handle(F.request("POST", "/api/v1/sync/daily", body: body)).body)
        #expect(answer["known"].strings == ["2025-03-30"] && answer["created"].strings == ["2025-03-31"])
    }

    @Test func aNewerDatabaseIsLeftAsItIs() throws {
        let fixture = try BackendFixture()
        fixture.backend.close()
        let database = try Database(path: fixture.databasePath)
        try database.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
        #expect(throws: BackendError.self) { try F.open(fixture.databasePath) }
        #expect(try database.prepare("SELECT value FROM meta WHERE key = 'schema'").firstRow { $0.string(0) } == "99")
    }

    // MARK: Versions

    @Test func versionsComeInPagesWithTombstones() throws {
        let fixture = try BackendFixture()
        let samples = (0..<25).map { F.sample(F.id($0), version: $0 + 1) }
        _ = try fixture.accepted("other", F.body(samples: samples + [F.sample("sixteen-letters!", version: 7)]))
        _ = try fixture.accepted("other", F.body(deleted: [(F.id(3), 100), (F.id(99), 5)]))
        var rows: [[Value]] = []
        var cursor: String?
        var pages = 0
        repeat {
            var query = ["user": "anna", "list": "samples", "limit": "7"]
            query["cursor"] = cursor
            let page = try fixture.get("/api/v1/versions", query)
            #expect(page["generation"] == (try fixture.stats()["generation"]) && page["sequence"] == 2)
            #expect(page["contents"].isNull)
            let ids = page["ids"].array ?? []
            let (versions, deleted) = (page["versions"].array ?? [], page["deleted"].array ?? [])
            try #require(ids.count <= 7 && ids.count == versions.count && ids.count == deleted.count)
            rows += ids.indices.map { [ids[$0], versions[$0], deleted[$0]] }
            cursor = page["nextCursor"].string
            pages += 1
        } while cursor != nil
        var expected: [[Value]] = [["sixteen-letters!", 7, 0]]
        for number in 0..<25 {
            expected.append([
                .string(F.id(number)), number == 3 ? 100 : .integer(Int64(number + 1)), number == 3 ? 1 : 0,
            ])
        }
        expected.append([.string(F.id(99)), 5, 1])
        #expect(rows == expected && pages == 4)
        #expect(try fixture.get("/api/v1/versions", ["user": "ben", "list": "samples"])["ids"] == [])
    }

    @Test func equalSamplesHaveEqualContents() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted(
            "other",
            F.body(samples: [
                F.sample(F.id(1), version: 1), F.sample(F.id(2), version: 9), F.sample(F.id(3), value: 6),
                F.sample(F.id(4), start: "2025-03-30T08:15:01Z"), F.sample(F.id(5), type: "other"), F.sample(F.id(6)),
            ]))
        _ = try fixture.accepted("other", F.body(deleted: [(F.id(6), 2)]))
        let page = try fixture.get("/api/v1/versions", ["list": "samples", "contents": "2"])
        // Earlier releases send the request in this form.
        #expect(try fixture.get("/api/v1/versions", ["list": "samples", "contents": "1"]) == page)
        let contents = (page["contents"].array ?? []).compactMap(\.int)
        try #require(contents.count == 6)
        #expect(contents[0] == contents[1] && contents.allSatisfy { $0 >= 0 })
        #expect(Set(contents[1...]).count == 5 && contents[5] == 0)
    }

    @Test func versionsOfDocumentsAndOfATime() throws {
        let fixture = try BackendFixture()
        try sendNights(fixture)
        _ = try fixture.accepted("sleep", #"{"userId":"anna","deletedNights":[{"id":"a","version":5}]}"#)
        func ids(_ query: [String: String]) throws -> [String] {
            try fixture.get("/api/v1/versions", query.merging(["user": "anna"]) { $1 })["ids"].strings
        }
        #expect(try ids(["list": "nights"]) == ["a", "b", "c", "d"])
        #expect(try ids(["list": "nights", "limit": "2", "cursor": "b"]) == ["c", "d"])
        // A tombstone keeps its day; one that has no day is in every range.
        #expect(try ids(["list": "nights", "to": "2025-03-29"]) == ["a", "d"])
        _ = try fixture.accepted("daily", #"{"userId":"anna","days":[{"date":"2025-03-30","version":3}]}"#)
        #expect(try ids(["list": "days"]) == ["2025-03-30"] && ids(["list": "days", "from": "2025-03-31"]) == [])
        #expect(try ids(["list": "workouts"]) == [])
        for query in [
            [:], ["list": "steps"], ["list": "samples", "limit": "20001"], ["list": "samples", "cursor": ""],
        ] {
            var request = F.request("GET", "/api/v1/versions")
            request.query = query
            let answer = fixture.backend.handle(request)
            #expect(answer.status == 400 && !answer.text.contains("the body"), "\(query): \(answer.text)")
        }
        #expect(fixture.backend.handle(F.request("POST", "/api/v1/versions")).status == 405)
    }
}
