import Changelog
import Configuration
import Foundation
import HealthModel
import Protocol
import SQLite
import TestSupport
import Testing

/// Readers see a removed key as a tombstone, not as a row without content.
@Suite struct TombstoneTests {
    @Test func aRemovedKeyIsReadAsATombstone() throws {
        let folder = NSTemporaryDirectory() + "hb-\(UUID().uuidString)"
        try StateFolder.make(folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let stage = try StageDatabase(path: folder + "/state.sqlite")
        try stage.transaction { try KeyedChangelog.createTables(in: stage.database) }
        let changelog = try KeyedChangelog(stage)
        try stage.transaction {
            for key in ["day/me/1", "day/me/2"] {
                try changelog.put(key: key, topic: "daily.summary", user: "me", day: 1, body: ["steps": 1])
            }
            try changelog.remove(key: "day/me/1")
        }
        let page = try KeyedChangelog.page(in: stage.database, after: 0, until: .end)
        try #require(page.rows.map(\.key) == ["day/me/2", "day/me/1"])
        #expect(page.rows.map(\.body) == [["steps": 1], Value?.none])
        #expect(page.rows.map { $0.wireValue["deleted"] } == [false, true])
        #expect(page.rows.map { KeyedChangelog.Row(wireValue: $0.wireValue) } == page.rows)
    }
}
