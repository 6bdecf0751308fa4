import HTTP
import HealthModel
import SQLite
import Testing

/// The rule for versions: a higher version wins; at the same version, a tombstone wins; nothing else changes anything.
struct BackendVersionTests {
    typealias F = BackendFixture

    @Test(arguments: Storage.all) func createdThenKnownThenUpdated(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let id = F.id(1)
        #expect(try fixture.accepted("steps", F.body(samples: [F.sample(id)]))["created"].strings == [id])
        #expect(try fixture.accepted("steps", F.body(samples: [F.sample(id)]))["known"].strings == [id])
        let newer = F.body(samples: [F.sample(id, version: 3, value: 6)])
        #expect(try fixture.accepted("steps", newer)["updated"].strings == [id])

        let late = try fixture.accepted("steps", F.body(samples: [F.sample(id, version: 2, value: 7)]))
        #expect(late["known"].strings == [id])
        #expect(late["held"][id] == 3)
        let held = try #require(try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array?.first)
        #expect(held["value"].double == 6)
        #expect(held["version"] == 3)
        let stats = try fixture.stats()
        #expect(stats["counters"] == ["created": 1, "updated": 1, "known": 2, "refused": 0, "lost": 0])
        #expect(stats["acceptedTwice"] == (storage == .file ? 0 : .null))
    }

    @Test(arguments: Storage.all) func sameVersionOtherContentChangesNothing(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1), value: 99)]))
        let held = try fixture.get("/api/v1/samples", ["user": "anna"])["samples"].array?.first
        #expect(held?["value"].double == 5)
    }

    @Test(arguments: Storage.all, [(1, "known"), (2, "known"), (3, "updated")])
    func addAfterTombstone(on storage: Storage, _ sent: (version: Int, expected: String)) throws {
        let (version, expected) = sent
        let fixture = try BackendFixture(on: storage)
        let id = F.id(1)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(id)]))
        #expect(try fixture.accepted("steps", F.body(deleted: [(id, 2)]))["updated"].strings == [id])
        let type = "HKQuantityTypeIdentifierStepCount"
        #expect(try fixture.stats()["types"][type] == ["alive": 0, "deleted": 1])

        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(id, version: version)]))
        #expect(answer[expected].strings == [id])
        let alive: Value = expected == "updated" ? 1 : 0
        #expect(try fixture.stats()["types"][type]["alive"] == alive)
    }

    @Test func tombstoneWinsAtTheSameVersionAndForgetsTheValue() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1), version: 4)]))
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(1), 4)]))
        #expect(try fixture.get("/api/v1/samples", ["user": "anna"])["samples"] == [])
        let database = try Database(path: fixture.databasePath, mode: .readOnly)
        let row = try database.prepare("SELECT value, metadata, shift FROM sample_rows").firstRow {
            ($0.isNull(0), $0.isNull(1), $0.isNull(2))
        }
        let kept = try #require(row)
        #expect(kept == (true, true, false))
    }

    @Test(arguments: Storage.all) func tombstoneBeforeItsSample(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(1), 5)]))
        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1), version: 4)]))
        #expect(answer["known"].strings == [F.id(1)])
        #expect(answer["held"][F.id(1)] == 5)
    }

    @Test(arguments: Storage.all) func upperCaseIsTheSameUUID(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1).uppercased())]))
        #expect(answer["known"].strings == [F.id(1).uppercased()])
    }

    @Test(arguments: Storage.all) func usersDoNotShareIDs(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))], user: "anna"))
        let answer = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))], user: "ben"))
        #expect(answer["created"].strings == [F.id(1)])
    }

    @Test(arguments: Storage.all) func twoOfOneIDInOneRequest(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let body = F.body(samples: [F.sample(F.id(1), version: 2), F.sample(F.id(1), version: 1)])
        let answer = try fixture.accepted("steps", body)
        #expect(answer["counts"] == ["created": 1, "updated": 0, "known": 1, "refused": 0])
    }

    @Test func talliesAgreeWithTheRows() throws {
        let fixture = try BackendFixture()
        var generator = SplitMix(seed: 7)
        for _ in 0..<40 {
            let samples = (0..<10).map { _ in
                F.sample(
                    F.id(Int.random(in: 0..<30, using: &generator)), version: Int.random(in: 1..<20, using: &generator),
                    type: ["A", "B"].randomElement(using: &generator) ?? "A")
            }
            let gone = (0..<4).map { _ in
                (F.id(Int.random(in: 0..<30, using: &generator)), Int.random(in: 1..<20, using: &generator))
            }
            _ = try fixture.accepted("other", F.body(samples: samples, deleted: gone))
        }
        let database = try Database(path: fixture.databasePath, mode: .readOnly)
        var rows: [String: Value] = [:]
        try database.prepare(
            """
            SELECT coalesce(text, ''), sum(deleted = 0), sum(deleted)
            FROM sample_rows LEFT JOIN kinds ON kinds.id = kind LEFT JOIN texts ON texts.id = type GROUP BY 1
            """
        ).forEachRow { rows[$0.string(0)] = ["alive": .integer($0.int64(1)), "deleted": .integer($0.int64(2))] }
        let stats = try fixture.stats()
        #expect(stats["types"] == .object(rows))
        // A stored version is never replaced by a lower one, so none is accepted twice.
        #expect(stats["acceptedTwice"] == 0)
    }
}

/// Steele, Lea and Flood's SplitMix64: seeded, so that a failure can be reproduced.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}
