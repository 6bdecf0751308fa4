import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// The sequence number, which increases with every change, and what happens when a caller has seen a higher one than
/// the backend has.
struct BackendIdentityTests {
    typealias F = BackendFixture

    private func post(_ backend: Backend, _ body: String, seen: String? = nil) throws -> Value {
        var request = F.request("POST", "/api/v1/sync/steps", body: body)
        request.headers["Healthbus-Seen"] = seen
        let answer = backend.handle(request)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    @Test func theSequenceRisesWithWhatChangesAndIsKept() throws {
        let fixture = try BackendFixture()
        #expect(try fixture.stats()["sequence"] == 0)
        let one = F.body(samples: [F.sample(F.id(1)), F.sample(F.id(2))])
        let first = try fixture.accepted("steps", one)
        #expect(first["sequence"] == 1)
        // A repeated request, an empty one and a refused one change nothing.
        #expect(try fixture.accepted("steps", one)["sequence"] == 1)
        #expect(try fixture.accepted("steps", F.body())["sequence"] == 1)
        #expect(fixture.post("steps", F.body(samples: [#"{"id":"a"}"#])).text.contains(#""sequence":1,"#))
        #expect(try fixture.accepted("steps", F.body(deleted: [(F.id(1), 2)]))["sequence"] == 2)
        #expect(try fixture.accepted("daily", #"{"days":[{"date":"2025-03-30","version":1}]}"#)["sequence"] == 3)
        let again = try F.open(fixture.databasePath)
        let stats = try Value(json: again.handle(F.request("GET", "/api/v1/stats")).body)
        #expect(stats["sequence"] == 3 && stats["generation"] == first["generation"])
    }

    @Test func anOlderCopyBeginsANewGeneration() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        let copy = fixture.folder.path + "/copy.sqlite"
        let saved = try Database(path: fixture.databasePath)
        try saved.execute("VACUUM INTO '\(copy)'")
        let newest = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(2))]))
        let generation = try #require(newest["generation"].string)
        #expect(newest["sequence"] == 2)

        let restored = try F.open(copy)
        let answer = try post(restored, F.body(samples: [F.sample(F.id(3))]), seen: "\(generation) 2")
        let next = try #require(answer["generation"].string)
        #expect(next != generation && !next.isEmpty)
        // The sequence continues from the number that was seen, and the content of the request is kept.
        #expect(answer["sequence"] == 3 && answer["counts"]["created"] == 1)
        // The new generation is committed, and only once: a caller that still knows only the old one doesn't start yet
        // another.
        let reopened = try F.open(copy)
        #expect(try post(reopened, F.body(), seen: "\(generation) 2")["generation"].string == next)
        #expect(try post(reopened, F.body(), seen: "\(next) 3")["generation"].string == next)
        #expect(try post(reopened, F.body(), seen: "\(next) 4")["generation"].string != next)
    }

    @Test(arguments: [
        "", " ", "GENERATION", "GENERATION ", " 99", "GENERATION 99 ", "GENERATION  99", "GENERATION x",
        "GENERATION -1", "GENERATION 99.0", "GENERATION 9223372036854775807", "GENERATION 99999999999999999999",
        "GENERATION 1", "other 99",
    ])
    func whatSaysNothingIsIgnored(_ seen: String) throws {
        let fixture = try BackendFixture()
        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        let generation = try #require(answer["generation"].string)
        let said = seen.replacingOccurrences(of: "GENERATION", with: generation)
        #expect(try post(fixture.backend, F.body(), seen: said)["generation"].string == generation)
    }

    @Test func onlyWhoHasTheTokenIsBelieved() throws {
        let fixture = try BackendFixture()
        let generation = try #require(try fixture.stats()["generation"].string)
        var request = F.request("POST", "/api/v1/sync/steps", body: F.body())
        request.headers["Healthbus-Seen"] = "\(generation) 99"
        request.headers["Authorization"] = "Bearer wrong"
        #expect(fixture.backend.handle(request).status == 401)
        #expect(try fixture.stats()["generation"].string == generation)
    }
}
