import BackendStage
import Changelog
import Foundation
import Glibc
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// Anything committed survives a power loss, in each kind of store that the programs open.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct DurabilityTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "healthbus-durability-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func end() throws { try FileManager.default.removeItem(atPath: folder) }

    /// Every store that is written to is opened with `synchronous` set to FULL, which is 2.
    @Test func everyStoreSyncsEachCommit() throws {
        let plain = try Database(path: folder + "/plain.sqlite")
        let stage = try StageDatabase(path: folder + "/stage.sqlite")
        for database in [plain, stage.database] {
            #expect(try database.prepare("PRAGMA synchronous").firstRow { $0.int(0) } == 2, "\(database.path)")
            #expect(try database.prepare("PRAGMA journal_mode").firstRow { $0.string(0) } == "wal", "\(database.path)")
        }
        try end()
    }

    /// A stage's rows, sequence and anchor: a process that has pulled the rows must find them again.
    @Test func aStagesCommitOutlivesAPowerLoss() async throws {
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            let before = folder + "/state.sqlite"
            // A store is first created under a temporary name; by the time it has its own name, its content is on disk.
            _ = try StageDatabase(path: before)
            try FileManager.default.copyItem(atPath: before, toPath: before + ".synced")
            SyncedDisk.install()
            let store = try StageDatabase(path: before)
            try store.transaction { try KeyedChangelog.createTables(in: store.database) }
            let changelog = try KeyedChangelog(store)
            for number in 0..<20 {
                _ = try store.transaction {
                    try changelog.put(
                        key: "\(number)", topic: "figures.steps", user: "me", day: nil, body: .integer(Int64(number)))
                }
                let after = folder + "/after-\(number).sqlite"
                try SyncedDisk.revive(before, as: after)
                let revived = try StageDatabase(path: after)
                let rows = try revived.database.prepare("SELECT count(*) FROM changes").firstRow { $0.int(0) }
                guard rows == number + 1, revived.sequence == store.sequence else { exit(9) }
            }
            exit(0)
        }
        try end()
    }

    /// Once the backend has answered a request, the uploader's anchor has moved past it.
    @Test func whatTheBackendHasAcceptedOutlivesAPowerLoss() async throws {
        await #expect(processExitsWith: .success) { [folder = folder as String] in
            SyncedDisk.install()
            func open(_ path: String) throws -> Backend {
                guard let token = SecretToken("secret") else { exit(8) }
                return try Backend(
                    databasePath: path, token: token, families: ["steps"], audit: false,
                    clock: { 1_700_000_000_000_000 })
            }
            func samples(_ backend: Backend) throws -> Int {
                let answer = backend.handle(
                    HTTPRequest(
                        path: "/api/v1/samples", query: ["user": "anna"], headers: ["Authorization": "Bearer secret"]))
                return try Value(json: answer.body)["samples"].array?.count ?? -1
            }
            let before = folder + "/backend.sqlite"
            let backend = try open(before)
            for number in 10..<20 {
                let body = """
                    {"userId":"anna","samples":[{"id":"01977f3a-5c00-8abc-8def-0000000000\(number)","version":1,
                     "type":"HKQuantityTypeIdentifierStepCount","startDate":"2025-03-30T08:15:00Z",
                     "endDate":"2025-03-30T09:00:00Z","value":5,"unit":"count"}]}
                    """
                let answer = backend.handle(
                    HTTPRequest(
                        method: "POST", path: "/api/v1/sync/steps", headers: ["Authorization": "Bearer secret"],
                        body: Array(body.utf8)))
                guard answer.status == 200 else { exit(7) }
                let after = folder + "/after-\(number).sqlite"
                try SyncedDisk.revive(before, as: after)
                guard try samples(open(after)) == number - 9 else { exit(9) }
            }
            exit(0)
        }
        try end()
    }
}
