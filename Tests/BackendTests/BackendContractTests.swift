import BackendStage
import Foundation
import HTTP
import HealthModel
import TestSupport
import Testing

/// Tests paths, status codes, refusals, documents and queries.
struct BackendContractTests {
    typealias F = BackendFixture

    @Test(
        arguments: Storage.all,
        [
            ("POST", "/api/v1/sync/steps", "{", 400), ("POST", "/api/v1/sync/steps", "{}", 400),
            ("POST", "/api/v1/sync/steps", "[]", 400), ("POST", "/api/v1/sync/steps", #"{"samples":{}}"#, 400),
            ("POST", "/api/v1/sync/steps", #"{"samples":[]} x"#, 400),
            ("POST", "/api/v1/sync/steps", #"{"samples":[1,]}"#, 400),
            ("POST", "/api/v1/sync/steps", #"{"workouts":[]}"#, 400),
            ("POST", "/api/v1/sync/workouts", #"{"samples":[]}"#, 400),
            ("POST", "/api/v1/sync/nothing", "{}", 404), ("GET", "/api/v1/sync/steps", "", 405),
            ("POST", "/api/v1/stats", "", 405), ("GET", "/", "", 404),
            ("POST", "/api/v1/sync/steps", #"{"samples":[]}"#, 200),
            ("POST", "/api/v1/sync/steps", #"{"userId":7,"samples":[]}"#, 400),
            // The end of the year 9999, and a moment later.
            ("POST", "/api/v1/sync/steps", #"{"syncedAt":253402300799,"samples":[]}"#, 200),
            ("POST", "/api/v1/sync/steps", #"{"syncedAt":253402300800,"samples":[]}"#, 400),
            ("GET", "/api/v1/samples", "", 200),
        ])
    func status(on storage: Storage, _ asked: (method: String, path: String, body: String, status: Int)) throws {
        let fixture = try BackendFixture(on: storage)
        #expect(fixture.backend.handle(F.request(asked.method, asked.path, body: asked.body)).status == asked.status)
    }

    @Test(arguments: [nil, "", "Bearer", "Bearer secre", "Bearer secret2", "Bearer xsecret", "Basic secret", "secret"])
    func wrongToken(_ field: String?) throws {
        let fixture = try BackendFixture()
        var request = F.request("GET", "/api/v1/stats")
        request.headers["Authorization"] = field
        let answer = fixture.backend.handle(request)
        #expect(answer.status == 401)
        #expect(answer.headers["WWW-Authenticate"] == "Bearer")
    }

    @Test(arguments: Storage.all) func tooManyElements(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let body = #"{"samples":["# + repeatElement("{}", count: 20_001).joined(separator: ",") + "]}"
        #expect(fixture.post("steps", body).status == 413)
    }

    @Test(
        arguments: Storage.all,
        [
            (#"{"version":1,"type":"t"}"#, "id is missing"), ("7", "id is missing"), (#"{"id":7}"#, "id is missing"),
            (#"{"id":"\#(F.id(9))","version":1.5}"#, "version isn't an integer"),
            (#"{"id":"\#(F.id(9))"}"#, "type is missing"),
            (
                #"{"id":"\#(F.id(9))","type":"t","startDate":"2025-02-30T00:00:00Z"}"#,
                "startDate isn't an ISO 8601 date"
            ),
            (
                #"{"id":"\#(F.id(9))","type":"t","startDate":"2025-03-01T00:00:01Z","endDate":"2025-03-01T00:00:00Z"}"#,
                "endDate is before startDate"
            ),
            (
                #"{"id":"\#(F.id(9))","type":"t","startDate":"2025-03-01T00:00:00Z","endDate":"2025-03-01T00:00:00Z","value":"5"}"#,
                "value isn't a number"
            ),
        ])
    func refused(on storage: Storage, _ sent: (element: String, reason: String)) throws {
        let (element, reason) = sent
        let fixture = try BackendFixture(on: storage)
        let alone = fixture.post("steps", F.body(samples: [element]))
        #expect(alone.status == 422)
        #expect(try Value(json: alone.body)["refused"].array?.first?["reason"].string == reason)

        // If there is also a valid element, the request succeeds, and the answer identifies the invalid one by its
        // index.
        let mixed = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1)), element]))
        #expect(mixed["created"].strings == [F.id(1)])
        #expect(mixed["refused"].array?.first?["index"] == 1)
    }

    @Test(arguments: Storage.all) func manualEventsOfOneTypeAndTimeAreOne(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func manual(_ id: String, _ version: Int, _ value: Double) -> String {
            F.body(samples: [F.sample(id, version: version, value: value, sourceType: "manual")])
        }
        #expect(try fixture.accepted("body", manual(F.id(21), 1, 1))["created"].strings == [F.id(21)])
        #expect(try fixture.accepted("body", manual(F.id(22), 1, 2))["known"].strings == [F.id(22)])
        #expect(try fixture.accepted("body", manual(F.id(23), 2, 3))["created"].strings == [F.id(23)])
        let held = try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array ?? []
        #expect(held.map { $0["id"].string } == [F.id(23)])
        #expect(held.map { $0["value"].double } == [3])

        // Two samples from HealthKit with the same time remain separate.
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1)), F.sample(F.id(2))]))
        #expect(try fixture.stats()["samples"]["alive"] == 3)

        // So do manual events of another type, or of another person.
        let height = F.sample(F.id(24), type: "HKQuantityTypeIdentifierHeight", sourceType: "manual")
        #expect(try fixture.accepted("body", F.body(samples: [height]))["created"].strings == [F.id(24)])
        let bens = F.body(samples: [F.sample(F.id(25), sourceType: "manual")], user: "ben")
        #expect(try fixture.accepted("body", bens)["created"].strings == [F.id(25)])
    }

    @Test(arguments: Storage.all) func manualEventThatComesBackOntoAnother(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func send(_ id: String, _ version: Int) throws -> Value {
            try fixture.accepted("body", F.body(samples: [F.sample(id, version: version, sourceType: "manual")]))
        }
        _ = try send(F.id(21), 1)
        _ = try fixture.accepted("body", F.body(deleted: [(F.id(21), 2)]))
        #expect(try send(F.id(22), 1)["created"].strings == [F.id(22)])
        #expect(try send(F.id(21), 3)["updated"].strings == [F.id(21)])
        #expect(try fixture.stats()["samples"] == ["alive": 1, "deleted": 1])
        // The other one is newer, and what this one was before no longer counts either.
        _ = try send(F.id(22), 5)
        let elsewhere = F.sample(F.id(23), version: 2, start: "2025-03-30T07:00:00Z", sourceType: "manual")
        _ = try fixture.accepted("body", F.body(samples: [elsewhere]))
        #expect(try send(F.id(23), 4)["updated"].strings == [F.id(23)])
        let held = try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array ?? []
        #expect(held.map { $0["id"].string } == [F.id(22)])
        #expect(try fixture.stats()["samples"] == ["alive": 1, "deleted": 2])
    }

    /// An event whose end is changed is deleted, and added under another id; if its end is changed back, it gets its
    /// first id again. Deletions and replacements may arrive in any order and in any number of requests.
    @Test(arguments: Storage.all) func theOrderOfReplacementsMakesNoDifference(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let (first, second) = (F.id(21), F.id(22))
        let life = [(first, 1, false), (first, 2, true), (second, 3, false), (second, 4, true), (first, 5, false)]
        for (length, perRequest, versions, deleted) in [
            (3, 1, [2, 3], [1, 0]), (3, 2, [2, 3], [1, 0]), (3, 3, [2, 3], [1, 0]), (5, 2, [5, 4], [0, 1]),
        ] as [(Int, Int, [Int64], [Int64])] {
            for (number, order) in Self.orders(Array(life.prefix(length))).enumerated() {
                let user = "\(length)-\(perRequest)-\(number)"
                for begin in stride(from: 0, to: length, by: perRequest) {
                    let sent = order[begin..<min(begin + perRequest, length)]
                    let samples = sent.filter { !$0.2 }.map { F.sample($0.0, version: $0.1, sourceType: "manual") }
                    let gone = sent.filter { $0.2 }.map { ($0.0, $0.1) }
                    _ = try fixture.accepted("body", F.body(samples: samples, deleted: gone, user: user))
                }
                let held = try fixture.get("/api/v1/versions", ["user": user, "list": "samples"])
                #expect(held["ids"].strings == [first, second], "\(order)")
                #expect((held["versions"].array ?? []).compactMap(\.int) == versions, "\(order)")
                #expect((held["deleted"].array ?? []).compactMap(\.int) == deleted, "\(order)")
                let stats = try fixture.get("/api/v1/stats", ["user": user])
                #expect(stats["samples"] == ["alive": 1, "deleted": 1], "\(order)")
            }
        }
        #expect(try fixture.get("/api/v1/stats", ["count": "rows"])["counters"]["lost"] == 0)
    }

    /// Each order of some elements.
    private static func orders<Element>(_ elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.indices.flatMap { index in
            var rest = elements
            let element = rest.remove(at: index)
            return orders(rest).map { [element] + $0 }
        }
    }

    /// An event whose end is changed is deleted, and added under another id: both may come in one request.
    @Test(arguments: Storage.all) func aManualEventReplacesADeletedOneInOneRequest(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func event(_ id: String, _ version: Int) -> String { F.sample(id, version: version, sourceType: "manual") }
        _ = try fixture.accepted("body", F.body(samples: [event(F.id(21), 1)]))
        _ = try fixture.accepted("body", F.body(samples: [event(F.id(22), 3)], deleted: [(F.id(21), 2)]))
        let held = try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array ?? []
        #expect(held.map { $0["id"].string } == [F.id(22)])
        _ = try fixture.accepted("body", F.body(deleted: [(F.id(22), 4)]))
        #expect(try fixture.stats()["samples"] == ["alive": 0, "deleted": 2])
    }

    @Test(arguments: Storage.all) func workoutsOfOneSecondStayTwo(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func workout(_ id: String, _ version: Int = 1) -> String {
            """
            {"id":"\(id)","type":"running","startDate":"2025-10-11T10:00:00Z","endDate":"2025-10-11T10:30:00Z",
             "duration":1800,"distance":null,"activeEnergy":400,"metadata":{},"version":\(version)}
            """
        }
        let both = try fixture.accepted(
            "workouts", #"{"workouts":[\#(workout("a")),\#(workout("b"))],"syncedAt":1760178720}"#)
        #expect(both["created"].strings == ["a", "b"])
        #expect(try fixture.accepted("workouts", #"{"workouts":[\#(workout("a"))]}"#)["known"].strings == ["a"])
        _ = try fixture.accepted("workouts", #"{"deleted":[{"id":"a","version":2}]}"#)
        #expect(try fixture.accepted("workouts", #"{"workouts":[\#(workout("a", 2))]}"#)["known"].strings == ["a"])
        let held = try fixture.get("/api/v1/workouts")["workouts"].array ?? []
        #expect(held.map { $0["id"].string } == ["b"])
        #expect(held.first?["duration"].double == 1800)
        #expect(try fixture.stats()["workouts"] == ["alive": 1, "deleted": 1])
    }

    @Test(arguments: Storage.all) func daysAreKeyedByUserAndDate(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func day(_ date: String, _ version: Int, final: Bool) -> String {
            #"{"date":"\#(date)","version":\#(version),"revision":\#(version),"final":\#(final),"steps":9}"#
        }
        let body =
            #"{"userId":"anna","days":[\#(day("2025-03-29", 1, final: true)),\#(day("2025-03-30", 1, final: false))]}"#
        #expect(try fixture.accepted("daily", body)["created"].strings == ["2025-03-29", "2025-03-30"])
        let later =
            #"{"userId":"anna","days":[\#(day("2025-03-30", 2, final: true)),\#(day("2025-13-01", 1, final: true))]}"#
        let answer = try fixture.accepted("daily", later)
        #expect(answer["updated"].strings == ["2025-03-30"])
        #expect(answer["refused"].array?.count == 1)
        let held = try fixture.get("/api/v1/days", ["user": "anna", "from": "2025-03-30", "to": "2025-03-31"])["days"]
        #expect(held.array?.map { $0["final"].bool } == [true])
        #expect(try fixture.get("/api/v1/days", ["user": "ben"])["days"] == [])
    }

    @Test(arguments: Storage.all) func pagesOfSamples(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let samples = (0..<25).map { F.sample(F.id($0), type: $0 % 5 == 0 ? "B" : "A") }
        // In PostgreSQL an id is a UUID.
        let text = storage == .file ? "sixteen-letters!" : "00000000-0000-0000-0000-000000000001"
        _ = try fixture.accepted("other", F.body(samples: samples + [F.sample(text, type: "A")]))
        var found: [String] = []
        var cursor: String?
        repeat {
            var query = ["user": "anna", "type": "A", "limit": "7"]
            query["cursor"] = cursor
            let page = try fixture.get("/api/v1/samples", query)
            found += (page["samples"].array ?? []).compactMap { $0["id"].string }
            cursor = page["nextCursor"].string
        } while cursor != nil
        #expect(found == [text] + (0..<25).filter { $0 % 5 != 0 }.map { F.id($0) })
        #expect(try fixture.get("/api/v1/samples", ["user": "anna", "from": "2025-03-31"])["samples"] == [])
        #expect(try fixture.get("/api/v1/samples", ["user": "anna", "to": "2025-03-30"])["samples"].array?.count == 26)
        for (to, count) in [("2025-03-30T08:15:00Z", 26), ("2025-03-30T08:14:59Z", 0)] {
            #expect(try fixture.get("/api/v1/samples", ["user": "anna", "to": to])["samples"].array?.count == count)
        }
    }

    @Test(arguments: Storage.all) func whatComesBackIsWhatWasSent(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let answer = try fixture.accepted("other", F.body(samples: [F.sample(F.id(1), value: 0.1 + 0.2)]))
        // Every answer has the server's time, so that a client can see how far its own clock is off.
        #expect(answer["serverTime"] == "2023-11-14T22:13:20Z")
        #expect(try fixture.stats()["serverTime"] == answer["serverTime"])
        let held = try #require(try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array?.first)
        #expect(held["value"].double == 0.1 + 0.2)
        #expect(held["source"] == "Anna’s \"Watch\"")
        #expect(held["metadata"] == ["a": [1, .null]])
        #expect(held["startDate"] == "2025-03-30T08:15:00Z")
        #expect(held["endDate"] == "2025-03-30T09:00:00.5Z")
        #expect(held["healthkitUUID"] == .null)
    }

    @Test(arguments: Storage.all) func theDeviceMayBeUnknown(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        func send(_ id: Int, _ device: String) -> HTTPResponse {
            let body = F.body(samples: [F.sample(F.id(id))])
            return fixture.post("steps", body.replacing(#""deviceId":"phone","#, with: device))
        }
        #expect(send(1, "").status == 200 && send(2, #""deviceId":null,"#).status == 200)
        #expect(send(3, #""deviceId":7,"#).status == 400)
        #expect(try fixture.stats()["samples"]["alive"] == 2)
    }

    @Test func anotherProcessSeesWhatWasAnswered() throws {
        let fixture = try BackendFixture()
        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        // The first backend is still open, as after a kill, so nothing has been flushed by closing it.
        let second = try F.open(fixture.databasePath)
        let stats = try Value(json: second.handle(F.request("GET", "/api/v1/stats")).body)
        #expect(stats["samples"]["alive"] == 1)
        #expect(stats["generation"] == answer["generation"])
        #expect(stats["generation"].string?.isEmpty == false)
        second.close()
        #expect(second.handle(F.request("GET", "/api/v1/stats")).status == 503)
    }

    @Test func onlyTheOwnerReads() throws {
        let fixture = try BackendFixture()
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(fixture.databasePath) == 0o600)
        #expect(try mode(fixture.folder.path + "/state") == 0o700)
    }

    @Test(arguments: Storage.all) func aFailedTransactionLeavesNothing(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        // A body that is malformed only at its very end: nothing that precedes it is kept.
        #expect(fixture.post("steps", String(F.body(samples: [F.sample(F.id(1))]).dropLast())).status == 400)
        #expect(try fixture.stats()["samples"]["alive"] == 0)
    }
}
