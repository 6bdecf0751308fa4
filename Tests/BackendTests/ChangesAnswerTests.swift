import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// What an answer to `GET /api/v1/changes` has, and which cursors are refused.
struct ChangesAnswerTests {
    typealias F = BackendFixture

    @Test func aChangeIsTheElementOrWhatIsKnownOfADeletion() throws {
        let fixture = try F()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1)), F.sample(F.id(2))]))
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(2), 2), (F.id(3), 7)]))
        _ = try fixture.accepted("daily", #"{"userId":"anna","days":[{"date":"2025-03-30","version":4,"steps":612}]}"#)
        let page = try fixture.get("/api/v1/changes")
        #expect(
            Set(try #require(page.object).keys) == [
                "user", "serverTime", "next", "hasMore", "zones", "characteristics", "changes",
            ])
        #expect(page["user"] == "anna" && page["hasMore"] == false && page["zones"].isNull)
        var sample = try #require(try fixture.get("/api/v1/samples")["samples"].array?.first?.object)
        sample["deleted"] = false
        #expect(
            page["changes"] == [
                .object(sample),
                [
                    "id": .string(F.id(2)), "version": 2, "deleted": true, "type": "HKQuantityTypeIdentifierStepCount",
                    "startDate": "2025-03-30T08:15:00Z", "endDate": "2025-03-30T09:00:00.5Z",
                ],
                [
                    "id": .string(F.id(3)), "version": 7, "deleted": true, "type": .null, "startDate": .null,
                    "endDate": .null,
                ],
            ])
        let days = try fixture.get("/api/v1/changes", ["list": "days"])
        #expect(
            days["changes"] == [
                [
                    "id": "2025-03-30", "version": 4, "deleted": false, "type": "day",
                    "payload": ["date": "2025-03-30", "version": 4, "steps": 612],
                ]
            ])
        _ = try fixture.accepted("daily", #"{"userId":"anna","deleted":[{"id":"2025-03-30","version":5}]}"#)
        let later = try fixture.get("/api/v1/changes", ["list": "days", "since": days["next"].string ?? ""])
        #expect(later["changes"] == [["id": "2025-03-30", "version": 5, "deleted": true, "type": "day"]])
        // A repeat changes nothing.
        _ = try fixture.accepted("daily", #"{"userId":"anna","deleted":[{"id":"2025-03-30","version":5}]}"#)
        let none = try fixture.get("/api/v1/changes", ["list": "days", "cursor": later["next"].string ?? ""])
        #expect(none["changes"] == [] && none["hasMore"] == false && none["next"] == later["next"])
    }

    @Test func aCursorIsRefusedWhereItWouldMissSomething() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        func open() throws -> Backend {
            try Backend(
                databasePath: path, token: try #require(SecretToken("secret")), families: ["steps"], changesKept: 3)
        }
        let backend = try open()
        func post(_ number: Int, seen: String? = nil) {
            var request = F.request("POST", "/api/v1/sync/steps", body: F.body(samples: [F.sample(F.id(number))]))
            request.headers["Healthbus-Seen"] = seen
            #expect(backend.handle(request).status == 200)
        }
        func status(_ cursor: String?, list: String = "samples", user: String = "anna", limit: String = "9") throws
            -> Int
        {
            let answer = F.changes(backend, ["user": user, "list": list, "cursor": cursor, "limit": limit])
            if answer.status == 410 {
                #expect(try Value(json: answer.body)["hint"].string?.contains("begin again") == true)
            }
            return answer.status
        }
        func next(_ cursor: String?, limit: String = "9") throws -> String {
            let answer = F.changes(backend, ["user": "anna", "cursor": cursor, "limit": limit])
            return try #require(try Value(json: answer.body)["next"].string)
        }
        let empty = try next(nil)
        post(1)
        post(2)
        #expect(try status(empty) == 200)
        let (all, half) = (try next(nil), try next(nil, limit: "1"))
        for number in 3...5 { post(number) }
        #expect(try status(all) == 200)
        #expect(try status(all, user: "bob") == 410)
        #expect(try status(all, list: "days") == 410)
        #expect(try status("x" + all) == 410)
        let parts = all.split(separator: ".")
        // A place that an older copy of the database hasn't reached.
        #expect(try status("\(parts[0]).6.\(parts[2])") == 410)
        for cursor in ["", "x", "..", "\(parts[0]).-1.\(parts[2])", all + ".zz", all + ".", all + ".41.41"] {
            #expect(try status(cursor) == 400, "\(cursor)")
        }
        for query in [["limit": "0"], ["limit": "20001"], ["list": "x"], ["curser": all]] {
            #expect(F.changes(backend, query).status == 400)
        }
        // One more, and the log no longer reaches back to either: one was done, the other still reading rows.
        let now = try next(all)
        post(6)
        for old in [empty, all, half] { #expect(try status(old) == 410) }
        #expect(try status(now) == 200)
        // A new generation.
        post(7, seen: "\(parts[0]) 40")
        #expect(try status(now) == 410)
        #expect(try status(nil) == 200)
        let rows = try Database(path: path, mode: .readOnly).prepare("SELECT count(*) FROM change_log").firstRow {
            $0.int(0)
        }
        #expect(rows == 4)
    }

    /// An older copy of the file has grown past the place of a client, whom nobody informed.
    @Test func aPlaceInALostFutureIsRefused() throws {
        let folder = try TemporaryFolder()
        let (path, copy) = (folder.path + "/backend.sqlite", folder.path + "/copy.sqlite")
        func write(_ path: String, _ numbers: ClosedRange<Int>) throws -> String {
            let backend = try F.open(path)
            for number in numbers {
                let body = F.body(samples: [F.sample(F.id(number))])
                #expect(backend.handle(F.request("POST", "/api/v1/sync/steps", body: body)).status == 200)
            }
            let answer = F.changes(backend, [:])
            backend.close()
            return try #require(Value(json: answer.body)["next"].string as String?)
        }
        let before = try write(path, 1...2)
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let lost = try write(path, 3...4)
        _ = try write(copy, 5...7)
        let backend = try F.open(copy)
        #expect(F.changes(backend, ["cursor": lost]).status == 410)
        #expect(F.changes(backend, ["cursor": before]).status == 200)
    }

    @Test func pagesAreBoundedInBytes() throws {
        let fixture = try F()
        let text = String(repeating: "x", count: 700_000)
        for number in 1...5 {
            _ = try fixture.accepted(
                "sleep", #"{"userId":"anna","nights":[{"id":"n\#(number)","version":1,"a":"\#(text)"}]}"#)
        }
        let first = try fixture.get("/api/v1/changes", ["list": "nights"])
        #expect(first["changes"].array?.count == 3 && first["hasMore"] == true)
        let rest = try fixture.get("/api/v1/changes", ["list": "nights", "cursor": first["next"].string ?? ""])
        #expect(rest["changes"].array?.count == 2 && rest["hasMore"] == false)
        for number in 1...5 {
            _ = try fixture.accepted(
                "sleep", #"{"userId":"anna","nights":[{"id":"n\#(number)","version":2,"a":"\#(text)"}]}"#)
        }
        let changed = try fixture.get("/api/v1/changes", ["list": "nights", "cursor": rest["next"].string ?? ""])
        #expect(changed["changes"].array?.count == 3 && changed["hasMore"] == true)
    }

    @Test func itIsAskedLikeTheOtherLists() throws {
        let fixture = try F()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        var request = F.request("GET", "/api/v1/changes")
        let first = fixture.backend.handle(request)
        request.headers["If-None-Match"] = first.headers["ETag"]
        #expect(fixture.backend.handle(request).status == 304)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(2))]))
        #expect(fixture.backend.handle(request).status == 200)
        request.headers["Authorization"] = nil
        #expect(fixture.backend.handle(request).status == 401)
        #expect(fixture.backend.handle(F.request("POST", "/api/v1/changes")).status == 405)
        // Nothing is held for this user yet.
        let none = try fixture.get("/api/v1/changes", ["user": "bob"])
        #expect(none["user"] == "bob" && none["changes"] == [] && none["hasMore"] == false)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(3))], user: "bob"))
        let some = try fixture.get("/api/v1/changes", ["user": "bob", "cursor": none["next"].string ?? ""])
        #expect(some["changes"].array?.map { $0["id"] } == [.string(F.id(3))])
    }

    @Test(.enabled(if: PostgresServer.isThere)) func onPostgreSQLItSaysWhereToAsk() throws {
        let answer = F.changes(try F(on: .postgres).backend, [:])
        #expect(answer.status == 501 && answer.text.contains("docs/sync.md"))
    }

    /// The tables of schema 4, which had no log of changes.
    private static let earlier = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES ('generation', 'abc'), ('schema', '4'), ('sequence', '7'), ('unnamed', 'me');
        CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        INSERT INTO texts VALUES (1, 'me'), (2, 'HKQuantityTypeIdentifierStepCount'), (3, 'count'), (4, 'iPhone'), (5, 'phone');
        CREATE TABLE tallies(
            user INTEGER NOT NULL, type INTEGER NOT NULL, alive INTEGER NOT NULL, deleted INTEGER NOT NULL,
            PRIMARY KEY(user, type)) WITHOUT ROWID;
        INSERT INTO tallies VALUES (1, 2, 1, 1);
        CREATE TABLE counters(name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO counters VALUES ('created', 3);
        CREATE TABLE accepted(
            user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
            deleted INTEGER NOT NULL, count INTEGER NOT NULL,
            PRIMARY KEY(user, kind, id, version, deleted)) WITHOUT ROWID;
        CREATE TABLE sample_rows(
            user INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
            kind INTEGER NOT NULL, shift INTEGER, duration INTEGER, value REAL, batch INTEGER NOT NULL,
            metadata, payload TEXT, uuid BLOB, moment TEXT, start INTEGER, PRIMARY KEY(user, id)) WITHOUT ROWID;
        CREATE UNIQUE INDEX samples_moment ON sample_rows(user, moment) WHERE moment IS NOT NULL;
        CREATE INDEX samples_start ON sample_rows(user, start) WHERE start IS NOT NULL;
        CREATE INDEX samples_long ON sample_rows(user, start, duration)
            WHERE start IS NOT NULL AND (duration > 3600 OR duration < -3600000000);
        CREATE TABLE kinds(
            id INTEGER PRIMARY KEY, type INTEGER NOT NULL, unit INTEGER NOT NULL, source INTEGER NOT NULL,
            manual INTEGER NOT NULL, bare INTEGER, UNIQUE(type, unit, source, manual));
        INSERT INTO kinds VALUES (1, 2, 0, 0, 0, NULL), (2, 2, 3, 4, 0, 1);
        CREATE TABLE batches(id INTEGER PRIMARY KEY, device INTEGER NOT NULL, synced INTEGER NOT NULL);
        INSERT INTO batches VALUES (1, 5, 1743322600000000);
        INSERT INTO sample_rows VALUES
            (1, x'0195e61b1f4081239456000000000001', 10, 0, 2, 0, 60, 4.25, 1, NULL, NULL, NULL, NULL, NULL),
            (1, x'0195e61b1f4081239456000000000002', 11, 1, 1, 0, 60, NULL, 1, NULL, NULL, NULL, NULL, NULL);
        CREATE TABLE documents(
            user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
            deleted INTEGER NOT NULL, start INTEGER, device INTEGER, synced INTEGER, body TEXT, "end" INTEGER, date TEXT,
            PRIMARY KEY(user, kind, id));
        CREATE INDEX documents_times ON documents(user, kind, start, "end", date);
        CREATE INDEX documents_held ON documents(user, kind, deleted);
        INSERT INTO documents VALUES (1, 0, '2025-03-30', 4, 0, NULL, 5, 0, '{"date":"2025-03-30","version":4}', NULL, NULL);
        """

    @Test func aFileOfTheReleaseBeforeIsFollowedFromItsRows() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        do { try Database(path: path).execute(Self.earlier) }
        var (samples, days) = (ChangesCopy("samples"), ChangesCopy("days"))
        for round in 1...2 {
            let backend = try F.open(path)
            while try samples.ask(backend, limit: 1, user: "me") {}
            while try days.ask(backend, limit: 1, user: "me") {}
            #expect(samples.elements.count == 1 + round && days.elements.count == 1)
            #expect(samples.elements["0195e61b-1f40-8123-9456-000000000001"]?["deleted"].bool == (round == 2))
            #expect(samples.elements["0195e61b-1f40-8123-9456-000000000002"]?["deleted"] == true)
            let body = F.body(
                samples: [F.sample(F.id(9))], deleted: [("0195e61b-1f40-8123-9456-000000000001", 12)], user: "me")
            #expect(backend.handle(F.request("POST", "/api/v1/sync/steps", body: body)).status == 200)
            backend.close()
        }
        #expect(samples.restarts == 0)
    }
}
