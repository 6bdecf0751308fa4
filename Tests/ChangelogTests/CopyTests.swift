import Changelog
import Foundation
import HealthModel
import Protocol
import SQLite
import TestSupport
import Testing

/// Tests copies of a store in use, and how a copy is prepared to replace a store.
@Suite struct CopyTests {
    private let folder: TemporaryFolder
    private let store: StageDatabase
    private let changelog: KeyedChangelog

    init() throws {
        folder = try TemporaryFolder()
        let store = try StageDatabase(path: folder.path + "/state.sqlite")
        try store.transaction { try KeyedChangelog.createTables(in: store.database) }
        self.store = store
        changelog = try KeyedChangelog(store)
    }

    private func fill(_ range: Range<Int>) throws {
        try store.transaction {
            for number in range {
                let text = String(repeating: "x", count: 2000)
                try changelog.put(
                    key: "k\(number)", topic: "t", user: "me", day: number, body: ["n": .string(text)])
            }
        }
    }

    private func rows(_ database: Database) throws -> Int {
        try database.prepare("SELECT count(*) FROM changes").firstRow { $0.int(0) } ?? 0
    }

    /// Concurrent writers aren't held up, and their changes aren't in the copy.
    @Test func aCopyIsOneMomentWhileTheWriterGoesOn() throws {
        try fill(0..<6000)
        let reader = try Database(path: store.database.path, mode: .readOnly)
        let path = folder.path + "/copy.sqlite"
        var reported: [Int64] = []
        let bytes = try reader.copy(to: path) { left in
            reported.append(left)
            // A writer's commit in between doesn't make the copy start again.
            #expect(throws: Never.self) { try fill(reported.count * 5000..<reported.count * 5000 + 10) }
            return reported.count < 100
        }
        #expect(reported.count >= 2 && zip(reported, reported.dropFirst()).allSatisfy { $0 > $1 }, "\(reported)")
        let size = try FileManager.default.attributesOfItem(atPath: path)
        #expect(size[.size] as? Int64 == bytes && size[.posixPermissions] as? Int == 0o600)
        let copy = try Database(path: path, mode: .readOnly)
        #expect(try rows(copy) == 6000 && rows(store.database) > 6000)
        #expect(try copy.prepare("PRAGMA quick_check").firstRow { $0.string(0) } == "ok")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("copy") }
        #expect(left == ["copy.sqlite"])
    }

    @Test func aCopyThatIsEndedLeavesNothing() throws {
        try fill(0..<6000)
        let reader = try Database(path: store.database.path, mode: .readOnly)
        #expect(throws: SQLiteError.self) { try reader.copy(to: folder.path + "/copy.sqlite") { _ in false } }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("copy") }
        #expect(left == [])
    }

    @Test func renewedRowsKeepTheirOrderAndGoBeyondAllThatWasGivenOut() throws {
        try fill(0..<50)
        try store.transaction { _ = try changelog.remove(key: "k7") }
        let before = try KeyedChangelog.page(in: store.database, after: 0, until: .end, bytes: .max).rows
        let least = store.sequence + 1_000_000
        try store.transaction {
            try store.beginGeneration(least: least)
            try changelog.renew()
        }
        let after = try KeyedChangelog.page(in: store.database, after: 0, until: .end, bytes: .max).rows
        #expect(after.map(\.key) == before.map(\.key) && after.map(\.body) == before.map(\.body))
        #expect(after.allSatisfy { $0.sequence > least } && after.last?.sequence == store.sequence)
        #expect(after.first { $0.key == "k7" }?.body == nil)
        // Part of the changelog: the others keep their numbers.
        let last = try #require(after.last?.sequence)
        try store.transaction { try changelog.renew(after: after[2].sequence, through: after[4].sequence) }
        let rest = try KeyedChangelog.page(in: store.database, after: 0, until: .end, bytes: .max).rows
        #expect(rest.filter { $0.sequence > last }.map(\.key) == after[3...4].map(\.key))
        #expect(rest.count == after.count)
    }
}
