import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// A database from an earlier release is used unchanged.
struct BackendUpgradeTests {
    typealias F = BackendFixture

    /// The tables of schema 2, with rows of each kind: our own and foreign ids, fractional seconds, deletions, a manual
    /// sample and repeated metadata.
    private static let earlier = """
        CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES ('generation', 'abc'), ('schema', '2'), ('sequence', '7'), ('unnamed', 'me');
        CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
        INSERT INTO texts VALUES (1, 'me'), (2, 'HKQuantityTypeIdentifierStepCount'), (3, 'count'), (4, 'iPhone'), (5, 'phone'),
            (6, 'HKCategoryTypeIdentifierMindfulSession');
        CREATE TABLE samples(
            user INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
            type INTEGER NOT NULL, start INTEGER, "end" INTEGER, value REAL, unit INTEGER,
            source INTEGER, source_type INTEGER NOT NULL, uuid BLOB, device INTEGER, synced INTEGER,
            metadata TEXT, payload TEXT, PRIMARY KEY(user, id)) WITHOUT ROWID;
        CREATE UNIQUE INDEX samples_manual ON samples(user, type, start) WHERE source_type <> 0 AND deleted = 0;
        CREATE TABLE documents(
            user INTEGER NOT NULL, kind INTEGER NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
            deleted INTEGER NOT NULL, start INTEGER, device INTEGER, synced INTEGER, body TEXT, "end" INTEGER, date TEXT,
            PRIMARY KEY(user, kind, id)) WITHOUT ROWID;
        CREATE TABLE tallies(
            user INTEGER NOT NULL, type INTEGER NOT NULL, alive INTEGER NOT NULL, deleted INTEGER NOT NULL,
            PRIMARY KEY(user, type)) WITHOUT ROWID;
        INSERT INTO tallies VALUES (1, 2, 6, 1), (1, 6, 1, 0), (1, 0, 0, 1);
        CREATE TABLE counters(name TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO counters VALUES ('created', 9);
        INSERT INTO samples VALUES
            (1, 'text', 1, 0, 2, 1743322500250001, 1743322501250001, 7, 3, 4, 0, NULL, 5, 1743322600000000, NULL, NULL),
            (1, x'0195e61b1f4081239456000000000001', 10, 0, 2, 1743322000000000, 1743322060000000, 4.25, 3, 4, 0,
                x'000102030405060708090a0b0c0d0e0f', 5, 1743322600000000, '{"HKWasUserEntered":"1"}', '[1]'),
            (1, x'0195e61b1f4081239456000000000002', 11, 0, 2, 1743322000000001, 1743322000000002, NULL, 0, 0, 0, 'not-a-uuid', 5,
                1743322600000001, '{"HKWasUserEntered":"1"}', NULL),
            (1, x'0195e61b1f4081239456000000000003', 12, 0, 2, 1743322000000000, 1743322000000000, 1, 3, 4, 0, NULL, 5,
                1743322600000000, '{"HKWasUserEntered":"1"}', NULL),
            (1, x'0195e61b1f4081239456000000000004', 13, 1, 2, 1743322000000000, 1743322000500000, NULL, 0, 0, 0, NULL, 5,
                1743322600000000, NULL, NULL),
            (1, x'0195e61b1f4081239456000000000005', 14, 1, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 5, 1743322600000000, NULL, NULL),
            (1, x'4a1b4c2d00004000a000000000000001', 15, 0, 6, 1743322000000000, 1743322600000000, 1, 0, 4, 1, NULL, 0,
                1743322600000000, NULL, NULL),
            (1, x'ffffffffffffffffffffffffffffffff', 16, 0, 2, -62167219200000000, 253402300799999999, 1e300, 3, 4, 0, NULL, 0,
                1743322600000000, NULL, NULL),
            (1, x'00000000000000000000000000000000', 17, 0, 2, -1, 0, -0.5, 3, 4, 0, NULL, 0, 1743322600000000, '{"a":1}', NULL);
        """

    private func ask(_ backend: Backend, _ path: String, _ query: [String: String] = [:]) throws -> Value {
        var request = F.request("GET", path)
        request.query = query
        let answer = backend.handle(request)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    @Test func itsSamplesStayAsTheyWere() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        do { try Database(path: path).execute(Self.earlier) }
        for _ in 1...2 {
            let backend = try F.open(path)
            let samples = try #require(try ask(backend, "/api/v1/samples")["samples"].array)
            #expect(samples.map { $0["version"] } == [1, 17, 10, 11, 12, 15, 16])
            #expect(
                samples.map { $0["startDate"].string } == [
                    "2025-03-30T08:15:00.250001Z", "1969-12-31T23:59:59.999999Z", "2025-03-30T08:06:40Z",
                    "2025-03-30T08:06:40.000001Z", "2025-03-30T08:06:40Z", "2025-03-30T08:06:40Z",
                    "0000-01-01T00:00:00Z",
                ])
            #expect(
                samples.map { $0["endDate"].string } == [
                    "2025-03-30T08:15:01.250001Z", "1970-01-01T00:00:00Z", "2025-03-30T08:07:40Z",
                    "2025-03-30T08:06:40.000002Z", "2025-03-30T08:06:40Z", "2025-03-30T08:16:40Z",
                    "9999-12-31T23:59:59.999999Z",
                ])
            #expect(
                samples[2] == [
                    "id": "0195e61b-1f40-8123-9456-000000000001",
                    "healthkitUUID": "00010203-0405-0607-0809-0a0b0c0d0e0f",
                    "version": 10, "type": "HKQuantityTypeIdentifierStepCount", "startDate": "2025-03-30T08:06:40Z",
                    "endDate": "2025-03-30T08:07:40Z", "value": 4.25, "unit": "count", "source": "iPhone",
                    "sourceType": "healthkit", "metadata": ["HKWasUserEntered": "1"], "payload": [1],
                ])
            #expect(samples[3]["healthkitUUID"] == "not-a-uuid" && samples[3]["value"].isNull)
            #expect(samples[4]["metadata"] == ["HKWasUserEntered": "1"] && samples[5]["sourceType"] == "manual")
            let versions = try ask(backend, "/api/v1/versions", ["list": "samples", "contents": "2"])
            #expect(versions["versions"] == [1, 17, 10, 11, 12, 13, 14, 15, 16])
            #expect(versions["deleted"] == [0, 0, 0, 0, 0, 1, 1, 0, 0])
            // A tombstone keeps its times; one that arrived before its sample has none.
            let later = try ask(
                backend, "/api/v1/versions", ["list": "samples", "from": "2025-03-31", "to": "2025-03-31"])
            #expect(later["versions"] == [14, 16])
            let stats = try ask(backend, "/api/v1/stats", ["count": "rows"])
            #expect(stats["generation"] == "abc" && stats["sequence"] == 7 && stats["counters"]["lost"] == 0)
            #expect(stats["samples"] == ["alive": 7, "deleted": 2])
        }
        // Samples are still found by both keys.
        let backend = try F.open(path)
        let again = F.body(
            samples: [
                F.sample("0195E61B-1F40-8123-9456-000000000001", version: 10),
                F.sample(
                    F.id(1), version: 16, start: "2025-03-30T08:06:40Z", type: "HKCategoryTypeIdentifierMindfulSession",
                    sourceType: "manual"),
            ], deleted: [("0195e61b-1f40-8123-9456-000000000002", 11)], user: "me")
        let answer = try Value(json: backend.handle(F.request("POST", "/api/v1/sync/other", body: again)).body)
        #expect(answer["counts"] == ["created": 1, "updated": 1, "known": 1, "refused": 0])
        #expect(
            try ask(backend, "/api/v1/stats")["types"]["HKQuantityTypeIdentifierStepCount"] == [
                "alive": 5, "deleted": 2,
            ])
    }

    /// The old rows' space is reused, and the new rows are smaller.
    @Test func oneSampleTakesFewBytes() throws {
        let fixture = try BackendFixture(audit: false)
        let count = 20_000
        for part in 0..<4 {
            let samples = (0..<count / 4).map { number in
                let second = (number * 4 + part) * 60
                let start = Instant(seconds: 1_743_000_000 + Int64(second))
                let id = SampleID(
                    SampleKeyPrefix(user: "anna", type: "\(part)", sourceName: "Watch"),
                    startSecond: start.flooredSecond, endSecond: start.flooredSecond + 30, ordinal: 0)
                return """
                    {"id":"\(id)","version":\(1_795_371_533_539 + part * count + number),"type":"HKQuantityTypeIdentifier\(part)",
                    "startDate":"\(InstantText.iso8601(start))","endDate":"\(InstantText.iso8601(start + .seconds(30)))",
                    "value":\(60 + Double(number % 97) / 7),"unit":"count/min","source":"Anna’s Apple Watch",
                    "metadata":{"HKMetadataKeyHeartRateMotionContext":"\(number % 2)"}}
                    """
            }
            _ = try fixture.accepted("other", F.body(samples: samples))
        }
        fixture.backend.close()
        let size = try #require(FileManager.default.attributesOfItem(atPath: fixture.databasePath)[.size] as? Int)
        // Four indexes that stay empty for such samples take up one page each. The log has each of the latest changes.
        #expect(size < (70 + 17) * count + 5 * (16 << 10), "\(size / count) bytes a sample")
    }
}
