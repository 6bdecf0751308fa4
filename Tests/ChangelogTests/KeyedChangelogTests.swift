import Changelog
import HealthModel
import Protocol
import SQLite
import TestSupport
import Testing

@Suite struct KeyedChangelogTests {
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

    private func put(_ key: String, _ body: Value, day: Int? = 1, topic: String = "figures.a") throws -> Bool {
        try store.transaction { try changelog.put(key: key, topic: topic, user: "me", day: day, body: body) }
    }

    private func all(after: SequenceNumber = 0, topic: String = "") throws -> [KeyedChangelog.Row] {
        try KeyedChangelog.page(
            in: store.database, after: after, until: store.sequence, topic: topic, bytes: .max
        ).rows
    }

    @Test func equalContentIsSilent() throws {
        #expect(try put("k", ["n": 1]))
        let reached = store.sequence
        #expect(try !put("k", ["n": 1]))
        #expect(store.sequence == reached)
        #expect(try put("k", ["n": 2]))
        #expect(store.sequence > reached)
        #expect(try all().map(\.body) == [["n": 2]])
    }

    @Test func aRowThatMovesToAnotherDayHasChanged() throws {
        #expect(try put("event/me/1", ["n": 1], day: 4))
        let reached = store.sequence
        #expect(try put("event/me/1", ["n": 1], day: 5))
        let row = try #require(try all(after: reached).first)
        #expect(row.day == 5)
        #expect(try changelog.rows(user: "me", days: 4...4).isEmpty)
        #expect(try changelog.rows(user: "me", days: 5...5).map(\.key) == ["event/me/1"])
        #expect(try put("event/me/1", ["n": 1], day: 5, topic: "events.b"))
        #expect(try put("event/me/1", ["n": 1], day: nil, topic: "events.b"))
        #expect(try !put("event/me/1", ["n": 1], day: nil, topic: "events.b"))
    }

    @Test func tombstonesStayAndTravel() throws {
        #expect(try put("k", ["n": 1]))
        #expect(try store.transaction { try changelog.remove(key: "k") })
        #expect(try !store.transaction { try changelog.remove(key: "k") })
        #expect(try !store.transaction { try changelog.remove(key: "unknown") })
        let row = try #require(try all().first)
        #expect(row.body == nil && row.day == 1 && row.topic == "figures.a")
        let travelled = try #require(KeyedChangelog.Row(wireValue: row.wireValue))
        #expect(travelled == row)
        // No value, as distinct from the value null.
        #expect(travelled.body == nil)
        #expect(try changelog.rows(user: "me", days: 0...9).isEmpty)
        // Then the row is restored.
        #expect(try put("k", ["n": 1]))
        #expect(try all().map(\.body) == [["n": 1]])
    }

    /// However much data there is, the size of a page is limited, because it is sent as a message. The row that exceeds
    /// the limit is the last one on its page.
    @Test func aPageEndsAtItsSize() throws {
        let text = Value.string(String(repeating: "x", count: 1000))
        for number in 0..<200 { _ = try put("k\(number)", ["text": text]) }
        let page = try KeyedChangelog.page(in: store.database, after: 0, until: store.sequence)
        #expect((40...49).contains(page.rows.count))
        #expect(page.through == page.rows.last?.sequence)
        let next = try KeyedChangelog.page(in: store.database, after: page.through, until: store.sequence)
        #expect(next.rows.first?.sequence == page.through + 1)
    }

    @Test func livingRowsTravelWhole() throws {
        _ = try put("k", ["n": .null, "list": [1, "x"]], day: nil)
        let row = try #require(try all().first)
        #expect(KeyedChangelog.Row(wireValue: row.wireValue) == row)
        #expect(KeyedChangelog.Row(wireValue: ["key": "k"]) == nil)
    }

    /// A page may end anywhere; together, the pages contain the same rows in the same order.
    @Test(arguments: [1, 100, 500, 4096, 1 << 20])
    func pagesOfAnySizeGiveTheSame(_ bytes: Int) throws {
        var random = SeededRandom(seed: 3)
        try store.transaction {
            for _ in 0..<300 {
                let number = Int.random(in: 0..<120, using: &random)
                try changelog.put(
                    key: "k\(number)", topic: number.isMultiple(of: 3) ? "events.a" : "figures.a", user: "me",
                    day: number,
                    body: ["text": .string(String(repeating: "x", count: Int.random(in: 0..<200, using: &random)))])
                if number % 7 == 0 { try changelog.remove(key: "k\(number)") }
            }
        }
        for topic in ["", "events.", "figures.", "nothing."] {
            let whole = try all(topic: topic)
            var rows: [KeyedChangelog.Row] = []
            var after: SequenceNumber = 0
            var pages = 0
            while after < store.sequence {
                let page = try KeyedChangelog.page(
                    in: store.database, after: after, until: store.sequence, topic: topic, bytes: bytes)
                #expect(page.through > after)
                #expect(page.rows.allSatisfy { $0.sequence > after && $0.sequence <= page.through })
                rows += page.rows
                after = page.through
                pages += 1
            }
            #expect(rows == whole)
            if bytes == 1, !whole.isEmpty { #expect(pages >= whole.count) }
        }
    }

    @Test func holdsEachKeyOnce() throws {
        for number in 0..<50 { _ = try put("k", ["n": .integer(Int64(number))]) }
        #expect(try all().count == 1)
    }
}
