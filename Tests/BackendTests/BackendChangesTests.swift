import BackendStage
import Foundation
import HTTP
import HealthModel
import TestSupport
import Testing

/// `GET /api/v1/changes`: a client that follows it ends with what the tables hold.
struct BackendChangesTests {
    typealias F = BackendFixture

    private static func get(_ backend: Backend, _ path: String, _ query: [String: String]) throws -> Value {
        var request = F.request("GET", "/api/v1/" + path)
        request.query = query
        let answer = backend.handle(request)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    private static let lists = ["samples", "days", "workouts", "nights"]

    /// One request of random elements: new ones, newer, older and equal versions, deletions, and manual samples that
    /// displace others.
    private static func write(_ backend: Backend, _ random: inout SeededRandom, _ version: inout Int) throws {
        func id() -> String {
            let number = Int.random(in: 0..<80, using: &random)
            return number % 7 == 0 ? "text.\(number) &%ü" : F.id(number)
        }
        func next() -> Int {
            version += 1
            return Bool.random(using: &random) ? version : Int.random(in: 0...version, using: &random)
        }
        var answer: HTTPResponse
        switch Int.random(in: 0..<6, using: &random) {
        case 0...2:
            let samples = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                F.sample(
                    id(), version: next(), start: "2025-03-30T08:0\(Int.random(in: 0..<8, using: &random)):00Z",
                    sourceType: Int.random(in: 0..<3, using: &random) == 0 ? "manual" : "healthkit")
            }
            let gone = (0..<Int.random(in: 0..<4, using: &random)).map { _ in (id(), next()) }
            answer = backend.handle(
                F.request("POST", "/api/v1/sync/body", body: F.body(samples: samples, deleted: gone)))
        case 3:
            let date = "2025-03-1\(Int.random(in: 0..<10, using: &random))"
            let body =
                Int.random(in: 0..<4, using: &random) == 0
                ? #""deleted":[{"id":"\#(date)","version":\#(next())}]"#
                : #""days":[{"date":"\#(date)","version":\#(next()),"steps":\#(version)}]"#
            answer = backend.handle(F.request("POST", "/api/v1/sync/daily", body: #"{"userId":"anna",\#(body)}"#))
        case 4:
            let body = """
                {"userId":"anna","workouts":[{"id":"w\(id())","version":\(next()),"type":"running",
                 "startDate":"2025-03-30T08:00:00Z"}],"deleted":[{"id":"w\(id())","version":\(next())}]}
                """
            answer = backend.handle(F.request("POST", "/api/v1/sync/workouts", body: body))
        default:
            let body = """
                {"userId":"anna","samples":[\(F.sample(id(), version: next()))],"nights":[{"id":"n\(id())","version":\(next())}],
                 "deletedNights":[{"id":"n\(id())","version":\(next())}]}
                """
            answer = backend.handle(F.request("POST", "/api/v1/sync/sleep", body: body))
        }
        try #require(answer.status == 200, "\(answer.text)")
    }

    /// Writes come between pages, the backend is restarted, pages are asked for again, and the log may be so short that
    /// clients must begin again.
    @Test(arguments: [(1, 100_000), (2, 100_000), (3, 100_000), (4, 25), (5, 25), (6, 10)] as [(UInt64, Int64)])
    func aCopyEndsEqualToTheTables(_ seed: UInt64, _ kept: Int64) throws {
        var random = SeededRandom(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        func open() throws -> Backend {
            try Backend(
                databasePath: path, token: try #require(SecretToken("secret")), families: ["body"], changesKept: kept)
        }
        var backend = try open()
        var version = 0
        // Some begin with an empty database, some with rows, and one long after them.
        var copies = Self.lists.map { ChangesCopy($0) }
        for step in 0..<300 {
            for _ in 0..<Int.random(in: 0..<3, using: &random) { try Self.write(backend, &random, &version) }
            if step == 40 || step == 290 { copies += Self.lists.map { ChangesCopy($0) } }
            if Int.random(in: 0..<60, using: &random) == 0 {
                backend.close()
                backend = try open()
            }
            // Some clients keep up, and others are far behind.
            for index in copies.indices where Int.random(in: 0...index % 8, using: &random) == 0 {
                let before = copies[index].cursor
                for _ in 0..<3 where try !copies[index].ask(backend, limit: .random(in: 1..<15, using: &random)) {
                    break
                }
                // The answers are lost, and the pages asked for again later.
                if Int.random(in: 0..<4, using: &random) == 0 { copies[index].cursor = before }
            }
        }
        for index in copies.indices {
            while try copies[index].ask(backend, limit: .random(in: 1..<15, using: &random)) {}
            let copy = copies[index]
            let held = try Self.get(backend, "versions", ["user": "anna", "list": copy.list])
            let rows = zip(zip(held["ids"].strings, held["versions"].array ?? []), held["deleted"].array ?? [])
            #expect(copy.elements.count == held["ids"].array?.count)
            for ((id, version), deleted) in rows {
                #expect(copy.elements[id]?["version"] == version)
                #expect(copy.elements[id]?["deleted"].bool == (deleted == 1))
            }
            for element in try #require(Self.get(backend, copy.list, ["user": "anna"])[copy.list].array) {
                let change = try #require(copy.elements[element["id"].string ?? element["date"].string ?? ""])
                let reported =
                    copy.list == "samples" ? change.object?.filter { $0.key != "deleted" } : change["payload"].object
                #expect(reported == element.object)
            }
        }
        #expect(version > 400 && copies.contains { $0.restarts > 0 } == (kept < 100))
    }
}

/// A client's copy of one list, made of answers alone.
struct ChangesCopy {
    let list: String
    var cursor: String?
    /// What the last answers said of each id.
    var elements: [String: Value] = [:]
    /// The ids brought since it last began without a cursor.
    private var brought: Set<String> = []
    private var isBeginning = true
    var restarts = 0

    init(_ list: String) { self.list = list }

    /// Asks for one page; begins again when asked to.
    /// - Returns: whether there is more.
    mutating func ask(_ backend: Backend, limit: Int, user: String = "anna") throws -> Bool {
        let answer = BackendFixture.changes(
            backend, ["user": user, "list": list, "limit": "\(limit)", "cursor": cursor])
        if answer.status == 410 {
            (cursor, brought, isBeginning, restarts) = (nil, [], true, restarts + 1)
            return true
        }
        try #require(answer.status == 200, "\(answer.text)")
        let page = try Value(json: answer.body)
        let changes = try #require(page["changes"].array)
        #expect(changes.count <= limit && Set(changes.compactMap { $0["id"].string }).count == changes.count)
        for change in changes {
            let id = try #require(change["id"].string)
            elements[id] = change
            brought.insert(id)
        }
        cursor = try #require(page["next"].string as String?)
        let hasMore = try #require(page["hasMore"].bool as Bool?)
        if isBeginning, !hasMore {
            isBeginning = false
            elements = elements.filter { brought.contains($0.key) }
        }
        return hasMore
    }
}

extension BackendFixture {
    /// - Parameter query: nil values are left out.
    static func changes(_ backend: Backend, _ query: [String: String?]) -> HTTPResponse {
        var request = Self.request("GET", "/api/v1/changes")
        request.query = query.compactMapValues { $0 }
        return backend.handle(request)
    }
}
