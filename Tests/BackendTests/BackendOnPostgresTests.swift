import BackendStage
import Foundation
import HTTP
import HealthModel
import PostgreSQL
import TestSupport
import Testing

/// Tests what is specific to PostgreSQL: several backends on the same tables, and a server that goes away.
@Suite(.inTurn, .enabled(if: PostgresServer.isThere, Comment(rawValue: PostgresServer.hint)))
struct BackendOnPostgresTests {
    typealias F = BackendFixture

    private func ask(_ backend: Backend, _ path: String, _ query: [String: String] = [:]) throws -> Value {
        var request = F.request("GET", path)
        request.query = query
        let answer = backend.handle(request)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    private func post(_ backend: Backend, _ metric: String, _ body: String) -> HTTPResponse {
        backend.handle(F.request("POST", "/api/v1/sync/" + metric, body: body))
    }

    @Test func twoAtOnceEndWithTheRightRows() async throws {
        let fixture = try F(on: .postgres)
        let backends = [fixture.backend, try fixture.another(), try fixture.another()]
        // The same ids in different versions, in a different order at each backend; there are manual samples, deletions
        // and days among them.
        let answers = await withTaskGroup(of: [HTTPResponse].self) { group in
            for (number, backend) in backends.enumerated() {
                group.addTask { Self.deliver(to: backend, seed: UInt64(number)) }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(answers.allSatisfy { $0.status == 200 }, "\(answers.first { $0.status != 200 }?.text ?? "")")
        let values = try answers.map { try Value(json: $0.body) }
        // Each change has its own sequence number.
        let changes = values.filter { ($0["counts"]["created"].int ?? 0) + ($0["counts"]["updated"].int ?? 0) > 0 }
        let sequences = changes.compactMap { $0["sequence"].int }
        #expect(Set(sequences).count == sequences.count && sequences.max() == Int64(sequences.count))
        let stats = try ask(backends[1], "/api/v1/stats", ["count": "rows"])
        #expect(stats["sequence"].int == sequences.max() && stats["counters"]["lost"] == 0)
        for counter in ["created", "updated", "known", "refused"] {
            let sum = values.reduce(Int64(0)) { $0 + ($1["counts"][counter].int ?? 0) }
            #expect(stats["counters"][counter].int == sum, "\(counter)")
        }
        // When they are delivered one after another to a backend that uses a file, the result is the same.
        let alone = try F()
        for number in backends.indices { _ = Self.deliver(to: alone.backend, seed: UInt64(number)) }
        for (path, query) in [
            ("/api/v1/samples", [:]), ("/api/v1/days", [:]), ("/api/v1/versions", ["list": "samples"]),
            ("/api/v1/versions", ["list": "days"]),
        ] {
            let (here, there) = (try ask(backends[2], path, query), try ask(alone.backend, path, query))
            for member in ["samples", "days", "ids", "versions", "deleted"] {
                #expect(here[member] == there[member], "\(path) \(member)")
            }
        }
        #expect(stats["samples"] == (try alone.stats()["samples"]))
    }

    private static func deliver(to backend: Backend, seed: UInt64) -> [HTTPResponse] {
        var generator = SplitMix(seed: seed)
        return (0..<30).flatMap { _ in
            func version() -> Int { .random(in: 1..<50, using: &generator) }
            // A version of an id has the same content, whoever sends it.
            let samples = (0..<20).map { _ in
                let (number, version) = (Int.random(in: 0..<60, using: &generator), version())
                return F.sample(F.id(number), version: version, value: Double(number * 100 + version))
            }
            let gone = (0..<3).map { _ in (F.id(.random(in: 0..<60, using: &generator)), version()) }
            let days = (0..<3).map { _ in
                let version = version()
                return
                    #"{"date":"2025-03-\#(Int.random(in: 10..<30, using: &generator))","version":\#(version),"steps":\#(version)}"#
            }
            return [
                backend.handle(
                    F.request("POST", "/api/v1/sync/steps", body: F.body(samples: samples, deleted: gone))),
                backend.handle(
                    F.request(
                        "POST", "/api/v1/sync/daily",
                        body: #"{"userId":"anna","days":[\#(days.joined(separator: ","))]}"#)),
            ]
        }
    }

    @Test func oneManualEventWhoeverTakesIt() async throws {
        let fixture = try F(on: .postgres)
        let backends = [fixture.backend, try fixture.another()]
        _ = try ask(backends[0], "/api/v1/stats")
        _ = try ask(backends[1], "/api/v1/stats")
        await withTaskGroup(of: Void.self) { group in
            for (number, backend) in backends.enumerated() {
                group.addTask {
                    for minute in 0..<20 {
                        let sample = F.sample(
                            F.id(1000 + number * 100 + minute), start: "2025-03-30T07:\(10 + minute):00Z",
                            sourceType: "manual")
                        _ = self.post(backend, "body", F.body(samples: [sample]))
                    }
                }
            }
        }
        #expect(try ask(backends[0], "/api/v1/stats")["counters"]["created"] == 20)
        #expect(try ask(backends[1], "/api/v1/samples")["samples"].array?.count == 20)
    }

    @Test func whatOneHasTakenTheOtherReports() throws {
        let fixture = try F(on: .postgres)
        let other = try fixture.another()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        var request = F.request("GET", "/api/v1/samples")
        let first = fixture.backend.handle(request)
        #expect(other.handle(request) == first)
        request.headers["If-None-Match"] = first.headers["ETag"]
        #expect(other.handle(request).status == 304)
        #expect(post(other, "steps", F.body(samples: [F.sample(F.id(2))])).status == 200)
        #expect(fixture.backend.handle(request).status == 200)
        #expect(try fixture.stats()["samples"]["alive"] == 2)
    }

    @Test func anOlderCopyOrMissingRowsBeginANewGeneration() throws {
        let fixture = try F(on: .postgres)
        let body = F.body(samples: (1...4).map { F.sample(F.id($0)) })
        let generation = try #require(try fixture.accepted("steps", body)["generation"].string)
        var request = F.request("POST", "/api/v1/sync/steps", body: body)
        request.headers["Healthbus-Seen"] = "\(generation) 1"
        #expect(try Value(json: fixture.backend.handle(request).body)["generation"].string == generation)
        request.headers["Healthbus-Seen"] = "\(generation) 40"
        let fresh = try Value(json: fixture.backend.handle(request).body)
        #expect(fresh["generation"].string != generation && fresh["sequence"] == 40)
        #expect(try fixture.another().handle(request).text.contains(fresh["generation"].string ?? "-"))
        // Then rows are removed behind the backend's back.
        let connection = try PostgresConnection(
            url: try #require(fixture.server).url(), timeout: 30, program: "test")
        try connection.execute("DELETE FROM \(fixture.schema).samples WHERE version = 1 AND id < '\(F.id(3))'")
        #expect(try fixture.stats()["generation"] == fresh["generation"])
        let counted = try fixture.get("/api/v1/stats", ["count": "rows"])
        #expect(counted["generation"] != fresh["generation"] && counted["counters"]["lost"] == 2)
        #expect(counted["samples"]["alive"] == 2)
        #expect(
            try fixture.accepted("steps", body)["counts"] == ["created": 2, "updated": 0, "known": 2, "refused": 0])
        #expect(try fixture.get("/api/v1/stats", ["count": "rows"])["counters"]["lost"] == 2)
    }

    /// A table, index or row that somebody has dropped comes back when rows are counted, and also after an error.
    @Test(
        arguments: [
            ("DROP TABLE SCHEMA.samples CASCADE", 1), ("DROP TABLE SCHEMA.documents CASCADE", 1),
            ("DROP TABLE SCHEMA.meta", 0), ("DROP TABLE SCHEMA.answered", 0), ("DELETE FROM SCHEMA.answered", 0),
            ("DROP INDEX SCHEMA.samples_apart", 0), ("ALTER TABLE SCHEMA.answered DROP CONSTRAINT answered_pkey", 0),
        ], [true, false])
    func aDroppedPartComesBack(_ drop: (statement: String, lost: Int64), _ counts: Bool) throws {
        let fixture = try F(on: .postgres)
        let samples = F.body(samples: [F.sample(F.id(1))])
        let day = #"{"userId":"me","days":[{"date":"2025-03-30","version":3,"steps":7}]}"#
        let generation = try fixture.accepted("steps", samples)["generation"]
        _ = try fixture.accepted("daily", day)
        let connection = try PostgresConnection(url: try #require(fixture.server).url(), timeout: 30, program: "test")
        try connection.execute(drop.statement.replacing("SCHEMA", with: fixture.schema))
        if counts {
            _ = try fixture.get("/api/v1/stats", ["count": "rows"])
        } else if [fixture.post("steps", samples), fixture.post("daily", day)].contains(where: { $0.status != 200 }) {
            #expect(fixture.post("steps", samples).status == 200, "only the first request meets the error")
        }
        let again = try fixture.accepted("steps", samples)
        _ = try fixture.accepted("daily", day)
        let fresh = drop.lost > 0 || drop.statement.contains("meta")
        #expect((again["generation"] != generation) == fresh)
        let stats = try fixture.get("/api/v1/stats", ["count": "rows"])
        #expect(stats["samples"]["alive"] == 1 && stats["days"]["alive"] == 1)
        #expect(stats["counters"]["lost"] == .integer(drop.lost) && (stats["counters"]["known"].int ?? 0) > 0)
        let index = try connection.execute("SELECT to_regclass($1) IS NOT NULL", ["\(fixture.schema).samples_apart"])
        #expect(index.bool(0, 0))
    }

    @Test func aServerThatWasKilledIsFoundAgain() throws {
        let server = try PostgresServer()
        let backend = try Backend(
            postgresURL: server.url(), schema: "healthbus", token: try #require(SecretToken("secret")),
            families: ["steps"])
        #expect(post(backend, "steps", F.body(samples: [F.sample(F.id(1))])).status == 200)
        try server.kill()
        let refused = post(backend, "steps", F.body(samples: [F.sample(F.id(2))]))
        #expect(refused.status == 503 && refused.text.contains("send it again later"))
        #expect(backend.handle(F.request("GET", "/api/v1/stats")).status == 503)
        #expect(backend.keepsWhatItTakes)
        try server.restart()
        #expect(post(backend, "steps", F.body(samples: [F.sample(F.id(2))])).status == 200)
        #expect(try ask(backend, "/api/v1/stats")["samples"]["alive"] == 2)
    }

    @Test func whatPostgreSQLHasNoFormForIsRefused() throws {
        let fixture = try F(on: .postgres)
        let good = F.sample(F.id(1))
        let bad = [
            F.sample("text"), good.replacing(F.id(1), with: F.id(2)).replacing("[1,null]", with: #""a\u0000b""#),
            good.replacing(F.id(1), with: F.id(3)).replacing(#""unit":"count""#, with: #""healthkitUUID":"x""#),
        ]
        let answer = try fixture.accepted("steps", F.body(samples: bad + [good]))
        #expect(answer["counts"] == ["created": 1, "updated": 0, "known": 0, "refused": 3])
        #expect(Set((answer["refused"].array ?? []).compactMap { $0["index"].int }) == [0, 1, 2])
        // A number is out of range. It isn't known which element contains it, so nothing from the request is kept.
        let huge = good.replacing(F.id(1), with: F.id(4)).replacing("[1,null]", with: "1e999999")
        let refused = fixture.post("steps", F.body(samples: [huge, F.sample(F.id(5))]))
        #expect(refused.status == 400, "\(refused.text)")
        #expect(fixture.post("steps", #"{"userId":"a\u0000","samples":[]}"#).status == 400)
        #expect(try fixture.stats()["samples"]["alive"] == 1)
    }

    @Test(arguments: ["healthbus", "postgresql://"]) func anUnreadableURL(_ url: String) throws {
        let token = try #require(SecretToken("secret"))
        #expect(throws: (any Error).self) {
            try Backend(postgresURL: url, schema: "Bad Name", token: token, families: [])
        }
    }
}
