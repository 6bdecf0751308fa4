import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// Tests data that is removed behind the backend's back.
struct BackendLossTests {
    typealias F = BackendFixture

    /// Anything committed to a file that no longer has a path is lost when the process ends.
    @Test(arguments: ["/state", "/state/backend.sqlite"])
    func aDatabaseThatIsAwayAcceptsNothing(_ gone: String) throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        #expect(fixture.backend.keepsWhatItTakes)
        let (place, aside) = (fixture.folder.path + gone, fixture.folder.path + "/aside")
        try FileManager.default.moveItem(atPath: place, toPath: aside)
        #expect(!fixture.backend.keepsWhatItTakes)
        let refused = fixture.post("steps", F.body(samples: [F.sample(F.id(2))]))
        #expect(refused.status == 503 && refused.text.contains("removed or replaced"), "\(refused.text)")
        #expect(fixture.backend.handle(F.request("GET", "/api/v1/stats")).status == 503)
        // Putting a different file in its place doesn't help.
        if gone.hasSuffix("sqlite") {
            try Data().write(to: URL(fileURLWithPath: place))
            #expect(fixture.post("steps", F.body(samples: [F.sample(F.id(2))])).status == 503)
            try FileManager.default.removeItem(atPath: place)
        }
        try FileManager.default.moveItem(atPath: aside, toPath: place)
        #expect(fixture.backend.keepsWhatItTakes)
        #expect(fixture.post("steps", F.body(samples: [F.sample(F.id(3))])).status == 200)
    }

    private func counted(_ fixture: F) throws -> Value { try fixture.get("/api/v1/stats", ["count": "rows"]) }

    /// Other callers' rows don't hide the loss: there must be one row for each element ever created.
    @Test func removedRowsBeginANewGenerationOnceTheyAreCounted() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: (1...4).map { F.sample(F.id($0)) }))
        _ = try fixture.accepted("steps", F.body(samples: (1...9).map { F.sample(F.id($0)) }, user: "ben"))
        _ = try fixture.accepted("daily", #"{"userId":"anna","days":[{"date":"2025-03-30","version":1}]}"#)
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(1), 2), (F.id(40), 1)]))
        let before = try counted(fixture)
        #expect(try before == fixture.stats())
        let database = try Database(path: fixture.databasePath)
        try database.execute(
            "DELETE FROM sample_rows WHERE user = (SELECT id FROM texts WHERE text = 'anna') AND deleted = 0; DELETE FROM documents"
        )
        // The totals that are updated on arrival don't show the loss.
        #expect(try fixture.stats()["generation"] == before["generation"])
        let after = try counted(fixture)
        #expect(after["generation"] != before["generation"] && after["sequence"] == before["sequence"])
        #expect(after["samples"] == ["alive": 9, "deleted": 2] && after["counters"]["lost"] == 4)
        #expect(try counted(fixture) == after)
        // Once the data is delivered again, it is all there, and nothing is missing any more.
        _ = try fixture.accepted("steps", F.body(samples: (1...4).map { F.sample(F.id($0)) }))
        _ = try fixture.accepted("daily", #"{"userId":"anna","days":[{"date":"2025-03-30","version":1}]}"#)
        let again = try counted(fixture)
        #expect(again["generation"] == after["generation"] && again["samples"] == ["alive": 12, "deleted": 2])
        #expect(again["acceptedTwice"] == 0)
        #expect(try Value(json: F.open(fixture.databasePath).handle(F.request("GET", "/api/v1/stats")).body) == again)
    }

    /// Contents are reported; `healthbus verify` computes the same value from the stack's own data.
    @Test func contentsAreReported() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1)), F.sample(F.id(2), value: 6)]))
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(2), 2)]))
        func contents(_ list: String) throws -> [Int64] {
            let answer = try fixture.get("/api/v1/versions", ["list": list, "contents": "2", "user": "anna"])
            return (answer["contents"].array ?? []).compactMap(\.int)
        }
        func number(_ value: Double) throws -> Int64 {
            ContentNumber.sample(
                type: ContentNumber.text("HKQuantityTypeIdentifierStepCount"),
                start: try #require(InstantText.parse("2025-03-30T08:15:00Z")),
                end: try #require(InstantText.parse("2025-03-30T09:00:00.5Z")), value: value,
                source: ContentNumber.text("Anna’s \"Watch\""))
        }
        #expect(try contents("samples") == [number(5), 0])
        _ = try fixture.accepted(
            "daily", #"{"userId":"anna","days":[{"version":1, "steps":7.50,"date":"2025-03-30"}]}"#)
        #expect(
            try contents("days")
                == [ContentNumber.document(json: #"{"date":"2025-03-30","steps":7.5,"version":1}"#.utf8)])
        let database = try Database(path: fixture.databasePath)
        try database.execute("UPDATE sample_rows SET value = 5.25; UPDATE documents SET body = replace(body, '7', '8')")
        #expect(try contents("samples") == [number(5.25), 0])
        #expect(
            try contents("days")
                == [ContentNumber.document(json: #"{"date":"2025-03-30","steps":8.5,"version":1}"#.utf8)])
        try database.execute("UPDATE documents SET body = '{'")
        #expect(try contents("days") == [0])
        #expect(try fixture.get("/api/v1/versions", ["list": "days", "user": "anna"])["contents"].isNull)
    }

    @Test func zeroHasOneNumber() {
        func number(_ value: Double?) -> Int64 {
            ContentNumber.sample(type: 1, start: 2, end: 3, value: value, source: 4)
        }
        #expect(number(0) == number(-0.0) && number(nil) == number(.nan) && number(0) != number(nil))
        #expect(number(1) != number(2) && number(1) >= 0)
    }
}
