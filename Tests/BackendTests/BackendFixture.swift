import BackendStage
import Foundation
import HTTP
import HealthModel
import SQLite
import Synchronization
import TestSupport
import Testing

/// Where a backend under test keeps its elements.
enum Storage: String, Sendable, CaseIterable, CustomTestStringConvertible {
    case file, postgres

    /// The kinds of storage that are available on this machine.
    static let all: [Storage] = PostgresServer.isThere ? allCases : [.file]
    var testDescription: String { rawValue }
}

/// A backend with its own folder or schema, called without a network.
final class BackendFixture {
    let folder: TemporaryFolder
    let backend: Backend
    let storage: Storage
    /// Kept so that the server runs for as long as it is needed.
    let server: PostgresServer?
    let schema: String
    var databasePath: String { folder.path + "/state/backend.sqlite" }

    init(audit: Bool = true, on storage: Storage = .file) throws {
        self.storage = storage
        folder = try TemporaryFolder()
        schema = "s" + UUID().uuidString.lowercased().replacing("-", with: "_")
        if storage == .postgres {
            let server = try SharedServer.get()
            self.server = server
            backend = try Self.open(server, schema)
        } else {
            server = nil
            backend = try Self.open(folder.path + "/state/backend.sqlite", audit: audit)
        }
    }

    /// Another backend that uses the same tables.
    func another() throws -> Backend { try Self.open(try #require(server), schema) }

    private static func open(_ server: PostgresServer, _ schema: String) throws -> Backend {
        try Backend(
            postgresURL: server.url(), schema: schema, token: try #require(SecretToken("secret")), families: families,
            clock: { 1_700_000_000_000_000 }, notices: BackendNotices(failed: { print("the backend says: \($0)") }))
    }

    private static let families: Set = ["steps", "heart-rate", "sleep", "body"]

    static func open(_ path: String, audit: Bool = true) throws -> Backend {
        let token = try #require(SecretToken("secret"))
        return try Backend(
            databasePath: path, token: token, families: families, audit: audit,
            clock: { 1_700_000_000_000_000 })
    }

    func post(_ metric: String, _ body: String) -> HTTPResponse {
        backend.handle(Self.request("POST", "/api/v1/sync/" + metric, body: body))
    }

    /// The parsed answer to a request that must succeed.
    func accepted(_ metric: String, _ body: String) throws -> Value {
        let answer = post(metric, body)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    func get(_ path: String, _ query: [String: String] = [:]) throws -> Value {
        var request = Self.request("GET", path)
        request.query = query
        let answer = backend.handle(request)
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    func stats() throws -> Value { try get("/api/v1/stats") }

    static func request(_ method: String, _ path: String, body: String = "") -> HTTPRequest {
        HTTPRequest(
            method: method, path: path, headers: ["Authorization": "Bearer secret"], body: Array(body.utf8))
    }

    static func id(_ number: Int) -> String {
        "01977f3a-5c00-8abc-8def-" + String(repeating: "0", count: 12 - String(number).count) + String(number)
    }

    static func sample(
        _ id: String, version: Int = 1, value: Double = 5, start: String = "2025-03-30T08:15:00Z",
        type: String = "HKQuantityTypeIdentifierStepCount", sourceType: String = "healthkit"
    ) -> String {
        """
        {"id":"\(id)","version":\(version),"type":"\(type)","startDate":"\(start)","endDate":"2025-03-30T09:00:00.5Z",
         "value":\(value),"unit":"count","source":"Anna’s \\"Watch\\"","sourceType":"\(sourceType)","metadata":{"a":[1,null]}}
        """
    }

    static func body(samples: [String] = [], deleted: [(String, Int)] = [], user: String = "anna") -> String {
        let gone = deleted.map { #"{"id":"\#($0.0)","version":\#($0.1)}"# }
        return """
            {"userId":"\(user)","deviceId":"phone","syncedAt":"2025-03-30T10:00:00Z","samples":[\(samples.joined(separator: ","))],
             "deleted":[\(gone.joined(separator: ","))]}
            """
    }
}

extension Value {
    var strings: [String] { (array ?? []).compactMap(\.string) }
}

/// One server for all tests that need it at the same time.
private enum SharedServer {
    private struct Held { weak var server: PostgresServer? }
    private static let held = Mutex(Held())

    static func get() throws -> PostgresServer {
        try held.withLock { held in
            if let server = held.server { return server }
            let server = try PostgresServer(settings: ["max_connections=200"])
            held.server = server
            return server
        }
    }
}
