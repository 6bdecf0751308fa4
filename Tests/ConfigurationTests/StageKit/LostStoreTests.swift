import Changelog
import Configuration
import Foundation
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

/// A consumer, and an upstream whose store was lost and created again.
@Suite struct LostStoreTests {
    @Test func aNewStoreBehindTheAnchorIsAsked() throws {
        let folder = NSTemporaryDirectory() + "hb-\(UUID().uuidString)"
        try StateFolder.make(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let database = try StageDatabase(path: folder + "/state.sqlite")
        try database.transaction {
            try KeyedChangelog.createTables(in: database.database)
            try Upstream.createTables(in: database.database)
        }
        let turn = Turn(
            now: 0, monotonic: 0, log: .silent, stage: database, changelog: try KeyedChangelog(database),
            identifiers: Turn.Identifiers())
        let old = StoreHead(store: "old", generation: "a", sequence: 100)
        let new = StoreHead(store: "new", generation: "b", sequence: 50)
        let upstream = Upstream("observer", query: .spans(.allExcept([])))

        upstream.hear(old, limit: AnchorVector(base: 100), turn)
        upstream.pump(turn)
        let first = try #require(turn.takePulls().first)
        #expect(first.query["store"] == "old")
        let page: Value = ["head": Value(old), "through": 100]
        let taken = try upstream.accept(
            PullAnswer(pull: first, result: .pages([page])), turn, reset: { _ in }, apply: { _ in })
        #expect(taken)
        #expect(turn.takePulls().isEmpty)

        upstream.hear(new, limit: AnchorVector(base: 50), turn)
        upstream.pump(turn)
        let second = try #require(turn.takePulls().first)
        #expect(second.query["store"] == "old")
        var resets = 0
        _ = try upstream.accept(
            PullAnswer(pull: second, result: .reset(new)), turn, reset: { _ in resets += 1 }, apply: { _ in })
        #expect(resets == 1)

        upstream.hear(new, limit: AnchorVector(base: 50), turn)
        upstream.pump(turn)
        let third = try #require(turn.takePulls().first)
        #expect(third.query["store"] == "new")
        #expect(third.query["after"] == 0)
        turn.rollback()
    }
}
