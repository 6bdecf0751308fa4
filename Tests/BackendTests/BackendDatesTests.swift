import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// Queries with dates find the same rows by index as by a full scan, and no page misses anything while others write.
struct BackendDatesTests {
    typealias F = BackendFixture

    private struct Made {
        var id: String
        var start: Int64
        var end: Int64
        var type: String
        var isManual = false

        var json: String {
            """
            {"id":"\(id)","version":1,"type":"\(type)","startDate":"\(InstantText.iso8601(Instant(microseconds: start)))",
             "endDate":"\(InstantText.iso8601(Instant(microseconds: end)))","value":1,"sourceType":"\(isManual ? "manual" : "healthkit")"}
            """
        }
    }

    private static let origin: Int64 = 1_743_292_800_000_000

    /// Samples over twenty days: with our own ids, foreign ids and text ids, long and short, some before 1970, of one
    /// type and of several.
    private static func mixture(_ generator: inout SplitMix, _ count: Int, on storage: Storage = .file) -> [Made] {
        (0..<count).map { number in
            let hour: Int64 = 3_600_000_000
            var start = origin + Int64.random(in: 0..<(480 * hour), using: &generator)
            if number % 50 == 0 { start = -Int64.random(in: 0..<(48 * hour), using: &generator) }
            let second = Instant(microseconds: start).flooredSecond
            // Some begin exactly at the edge of a day.
            if number % 7 == 0 { start = second / 86_400 * 86_400_000_000 }
            let lengths: [Int64] = [
                0, 1, 500_000, 60_000_000, hour, hour + 1, hour + 1_000_000, 9 * hour, 100 * hour,
            ]
            let end = start + (lengths.randomElement(using: &generator) ?? 0)
            let prefix = SampleKeyPrefix(user: "anna", type: "T\(number % 3)", sourceName: "Watch")
            let own = SampleID(
                prefix, startSecond: Instant(microseconds: start).flooredSecond,
                endSecond: Instant(microseconds: end).flooredSecond, ordinal: number)
            let foreign = SampleID(high: generator.next(), low: generator.next())
            let id =
                number % 11 == 0 && storage == .file
                ? "text \(number)" : number % 3 == 0 ? foreign.description : own.description
            return Made(id: id, start: start, end: end, type: "T\(number % 3)", isManual: number % 13 == 0)
        }
    }

    private func ids(
        _ fixture: BackendFixture, _ query: [String: String], of list: String = "samples"
    ) throws -> [String] {
        var found: [String] = []
        var query = query
        repeat {
            let page = try fixture.get("/api/v1/" + list, query)
            found += (page[list].array ?? []).compactMap { $0["id"].string ?? $0["date"].string }
            query["cursor"] = page["nextCursor"].string
        } while query["cursor"] != nil
        return found
    }

    @Test(arguments: Storage.all, [1, 2, 3]) func aRangeHoldsWhatTouchesIt(on storage: Storage, seed: UInt64) throws {
        let fixture = try BackendFixture(audit: false, on: storage)
        var generator = SplitMix(seed: seed)
        var made = Self.mixture(&generator, 1200, on: storage)
        // If several manual samples have the same type and time, only one of them is stored.
        var moments: Set<String> = []
        made.removeAll { $0.isManual && !moments.insert("\($0.type) \($0.start)").inserted }
        for part in stride(from: 0, to: made.count, by: 300) {
            _ = try fixture.accepted("other", F.body(samples: made[part..<min(part + 300, made.count)].map(\.json)))
        }
        // Some samples move, and some are deleted.
        for number in stride(from: 0, to: 200, by: 9) where !made[number].isManual {
            made[number].start += 5 * 86_400_000_000
            made[number].end += 5 * 86_400_000_000
            let moved = made[number].json.replacing("\"version\":1", with: "\"version\":2")
            _ = try fixture.accepted("other", F.body(samples: [moved]))
        }
        let gone = made.removeLast()
        _ = try fixture.accepted("other", F.body(deleted: [(gone.id, 9)]))
        let all = try ids(fixture, ["user": "anna"])
        #expect(all.count == made.count)
        let byID = Dictionary(uniqueKeysWithValues: made.map { ($0.id, $0) })
        let day: Int64 = 86_400_000_000
        let ranges: [(Int64?, Int64?)] =
            (0..<25).map { _ in
                let from = Self.origin + Int64.random(in: -2..<22, using: &generator) * day
                return (from, from + Int64.random(in: 0..<3, using: &generator) * day)
            } + [(nil, Self.origin), (Self.origin + 3 * day, nil), (nil, -day), (-day, day), (nil, nil)]
        for (from, to) in ranges {
            var query = ["user": "anna", "limit": "100"]
            query["from"] = from.map { InstantText.iso8601(Instant(microseconds: $0)) }
            query["to"] = to.map { InstantText.iso8601(Instant(microseconds: $0)) }
            func expected(_ type: String?) -> [String] {
                all.filter { id in
                    guard let sample = byID[id] else { return false }
                    return (type == nil || sample.type == type) && sample.end >= from ?? .min
                        && sample.start <= to ?? .max
                }
            }
            #expect(try ids(fixture, query) == expected(nil), "\(query)")
            query["type"] = "T1"
            #expect(try ids(fixture, query) == expected("T1"), "\(query)")
        }
    }

    /// Each row is on exactly one page, even if pages are as small as possible and rows are added and removed between
    /// them.
    @Test func pagesHoldEachOnceWhateverIsWritten() throws {
        let fixture = try BackendFixture(audit: false)
        var generator = SplitMix(seed: 4)
        let made = Self.mixture(&generator, 300).filter { !$0.isManual }
        _ = try fixture.accepted("other", F.body(samples: made.map(\.json)))
        let range = ["user": "anna", "from": "2025-03-31", "to": "2025-04-05"]
        let before = try ids(fixture, range)
        try #require(before.count > 30)
        let gone = Set(before.enumerated().filter { $0.offset % 5 == 4 }.map(\.element))
        var found: [String] = []
        var query = range
        query["limit"] = "3"
        var round = 0
        repeat {
            let page = try fixture.get("/api/v1/samples", query)
            found += (page["samples"].array ?? []).compactMap { $0["id"].string }
            query["cursor"] = page["nextCursor"].string
            round += 1
            let new = Self.mixture(&generator, 3).filter { !$0.isManual }
            _ = try fixture.accepted("other", F.body(samples: new.map(\.json)))
            if round == 2 { _ = try fixture.accepted("other", F.body(deleted: gone.map { ($0, 9) })) }
        } while query["cursor"] != nil
        #expect(Set(found).count == found.count)
        #expect(Set(before).subtracting(gone).isSubset(of: found))
    }

    @Test(arguments: Storage.all) func nightsAndWorkoutsByIndexAreTheSame(on storage: Storage) throws {
        let fixture = try BackendFixture(audit: false, on: storage)
        var generator = SplitMix(seed: 5)
        var nights: [(id: String, start: Instant, end: Instant, date: String)] = []
        for number in 0..<200 {
            let start = Instant(seconds: 1_743_292_800 + Int64.random(in: 0..<(60 * 86_400), using: &generator))
            let end = start + .seconds(Int64.random(in: 60..<40_000, using: &generator))
            let date = LocalDay(number: Int(end.flooredSecond / 86_400))
            nights.append(("n\(1000 + number)", start, end, "\(date)"))
        }
        let elements = nights.map {
            #"{"id":"\#($0.id)","version":1,"start":"\#(InstantText.iso8601($0.start))","end":"\#(InstantText.iso8601($0.end))","date":"\#($0.date)"}"#
        }
        _ = try fixture.accepted("sleep", #"{"userId":"anna","nights":[\#(elements.joined(separator: ","))]}"#)
        for number in 0..<40 {
            let day = LocalDay(number: 20_178 + number)
            let byDate = ["user": "anna", "from": "\(day)", "to": "\(day)", "limit": "2"]
            #expect(try ids(fixture, byDate, of: "nights") == nights.filter { $0.date == "\(day)" }.map(\.id))
            let from = Instant(seconds: Int64(20_178 + number) * 86_400)
            let to = from + .seconds(30_000)
            let byTime = ["user": "anna", "from": InstantText.iso8601(from), "to": InstantText.iso8601(to)]
            #expect(
                try ids(fixture, byTime, of: "nights") == nights.filter { $0.end >= from && $0.start <= to }.map(\.id))
        }
    }

    // MARK: ETags

    private func ask(_ backend: Backend, _ path: String, _ query: [String: String], known: String?) -> HTTPResponse {
        var request = F.request("GET", path)
        request.query = query
        request.headers["If-None-Match"] = known
        return backend.handle(request)
    }

    @Test(arguments: Storage.all) func whatIsKnownIsNotSentAgain(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        let body = F.body(samples: [F.sample(F.id(1))])
        _ = try fixture.accepted("steps", body)
        for (path, query) in [
            ("/api/v1/samples", ["user": "anna"]), ("/api/v1/days", [:]), ("/api/v1/nights", ["from": "2025-03-30"]),
            ("/api/v1/workouts", [:]), ("/api/v1/versions", ["list": "samples"]),
        ] {
            func ask(_ known: String?) -> HTTPResponse { self.ask(fixture.backend, path, query, known: known) }
            let first = ask(nil)
            let tag = try #require(first.headers["ETag"])
            #expect(first.status == 200 && tag.hasPrefix("\"") && tag.hasSuffix("\""))
            for known in [tag, "W/" + tag, "\"x\", \(tag)", "\"x\",\(tag) ,\"y\"", "*"] {
                let again = ask(known)
                #expect(again.status == 304 && again.body.isEmpty && again.headers["ETag"] == tag, "\(path) \(known)")
            }
            for known in ["", "\"x\"", String(tag.dropLast()), "x" + tag, String(tag.dropFirst().dropLast())] {
                #expect(ask(known) == first, "\(path) \(known)")
            }
            // Sending the same elements again doesn't change the tag; a change does.
            _ = try fixture.accepted("steps", body)
            #expect(ask(tag).status == 304)
        }
        let tag = try #require(ask(fixture.backend, "/api/v1/samples", [:], known: nil).headers["ETag"])
        _ = try fixture.accepted("steps", F.body(deleted: [(F.id(1), 7)]))
        let changed = ask(fixture.backend, "/api/v1/samples", [:], known: tag)
        #expect(changed.status == 200 && changed.headers["ETag"] != tag)
        #expect(ask(fixture.backend, "/api/v1/stats", [:], known: "*").status == 200)
    }

    @Test func eachQuestionHasItsOwnTag() throws {
        let fixture = try BackendFixture()
        _ = try fixture.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        let queries: [[String: String]] = [
            [:], ["user": "anna"], ["type": "T"], ["from": "2025-03-30"], ["to": "2025-03-30"], ["limit": "7"],
            ["cursor": F.id(1)], ["from": "2025-03-30", "zone": "Europe/Berlin"],
        ]
        var tags = queries.map { ask(fixture.backend, "/api/v1/samples", $0, known: nil).headers["ETag"] }
        tags.append(ask(fixture.backend, "/api/v1/days", [:], known: nil).headers["ETag"])
        tags.append(ask(fixture.backend, "/api/v1/versions", ["list": "samples"], known: nil).headers["ETag"])
        tags.append(
            ask(fixture.backend, "/api/v1/versions", ["list": "samples", "contents": "2"], known: nil).headers["ETag"])
        #expect(!tags.contains(nil) && Set(tags).count == tags.count)
        // A different database has a different tag.
        let other = try BackendFixture()
        _ = try other.accepted("steps", F.body(samples: [F.sample(F.id(1))]))
        #expect(ask(other.backend, "/api/v1/samples", [:], known: nil).headers["ETag"] != tags[0])
    }

    @Test func headIsAnsweredAsGet() throws {
        let fixture = try BackendFixture()
        let backend = fixture.backend
        let server = try HTTPServer(gate: { backend.refusal(of: $0) }) { backend.handle($0) }
        defer { server.stop() }
        let client = try HTTPClient(base: "http://127.0.0.1:\(server.port)")
        func ask(_ method: String, _ path: String) throws -> HTTPResponse {
            try client.send(HTTPRequest(method: method, path: path, headers: ["Authorization": "Bearer secret"]))
        }
        for path in ["/api/v1/samples", "/api/v1/days", "/api/v1/stats"] {
            let head = try ask("HEAD", path)
            let get = try ask("GET", path)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.headers["Content-Length"] == String(get.body.count))
            #expect(head.headers["ETag"] == get.headers["ETag"])
        }
        #expect(try ask("HEAD", "/api/v1/sync/steps").status == 405)
        #expect(try ask("DELETE", "/api/v1/days").headers["Allow"] == "GET, HEAD")
    }

    @Test(arguments: Storage.all) func aMisspeltParameterIsSaidToBeSo(on storage: Storage) throws {
        let fixture = try BackendFixture(on: storage)
        for (path, query) in [
            ("samples", ["form": "2025-03-30"]), ("days", ["From": "2025-03-30"]), ("nights", ["type": "T"]),
            ("workouts", ["": "x"]),
        ] {
            let answer = ask(fixture.backend, "/api/v1/" + path, query, known: nil)
            #expect(answer.status == 400 && answer.text.contains("use user, from, to, zone, limit, cursor"))
        }
        #expect(ask(fixture.backend, "/api/v1/samples", ["type": "T"], known: nil).status == 200)
        // Requests as a newer release may send them to this one.
        #expect(ask(fixture.backend, "/api/v1/versions", ["list": "days", "new": "1"], known: nil).status == 200)
        #expect(ask(fixture.backend, "/api/v1/stats", ["new": "1"], known: nil).status == 200)
    }

    // MARK: Upgrade

    /// With schema 3, a database found samples only by their ids.
    @Test func whatAnEarlierReleaseKeptIsFoundByItsTime() throws {
        let fixture = try BackendFixture(audit: false)
        var generator = SplitMix(seed: 6)
        let made = Self.mixture(&generator, 400)
        _ = try fixture.accepted("other", F.body(samples: made.map(\.json)))
        let range = ["user": "anna", "from": "2025-04-02", "to": "2025-04-03"]
        let before = try ids(fixture, range)
        #expect(!before.isEmpty)
        fixture.backend.close()
        func starts() throws -> [String] {
            var rows: [String] = []
            try Database(path: fixture.databasePath, mode: .readOnly).prepare(
                "SELECT hex(id), start FROM sample_rows WHERE start IS NOT NULL ORDER BY id"
            ).forEachRow { rows.append("\($0.string(0)) \($0.int64(1))") }
            return rows
        }
        let kept = try starts()
        do {
            try Database(path: fixture.databasePath).execute(
                """
                DROP VIEW samples; DROP VIEW sources; DROP INDEX samples_start; DROP INDEX samples_long;
                DROP INDEX documents_times; ALTER TABLE sample_rows DROP COLUMN start;
                ALTER TABLE sample_rows RENAME TO samples; UPDATE meta SET value = '3' WHERE key = 'schema'
                """)
        }
        let backend = try F.open(fixture.databasePath)
        #expect(try starts() == kept)
        var request = F.request("GET", "/api/v1/samples")
        request.query = range
        let page = try Value(json: backend.handle(request).body)
        #expect((page["samples"].array ?? []).compactMap { $0["id"].string } == before)
    }
}
