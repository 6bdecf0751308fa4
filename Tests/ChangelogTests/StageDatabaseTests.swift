import Changelog
import Foundation
import HealthModel
import Protocol
import SQLite
import TestSupport
import Testing

@Suite struct StageDatabaseTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path + "/state.sqlite" }

    init() throws { folder = try TemporaryFolder() }

    @Test func beginsAtOneAndRises() throws {
        let store = try StageDatabase(path: path)
        #expect(store.sequence == 1)
        try store.transaction { _ = store.nextSequence() }
        let reached = store.sequence
        let again = try StageDatabase(path: path)
        #expect(again.sequence == reached && again.store == store.store)
        #expect(again.epoch == store.epoch + 1)
        #expect(again.generations == store.generations)
    }

    @Test func sequencesOfARolledBackStepAreNotGivenOutTwice() throws {
        struct Stop: Error {}
        let store = try StageDatabase(path: path)
        let before = store.sequence
        #expect(throws: Stop.self) {
            try store.transaction {
                _ = store.nextSequence()
                throw Stop()
            }
        }
        let next = try store.transaction { store.nextSequence() }
        #expect(next > before + 1)
        #expect(try StageDatabase(path: path).sequence == next)
    }

    @Test func whoWasTakenOverWritesNothing() throws {
        let first = try StageDatabase(path: path)
        try first.transaction { try first.database.execute("CREATE TABLE notes(text TEXT)") }
        let second = try StageDatabase(path: path)
        var wasFenced = false
        do {
            try first.transaction { try first.database.execute("INSERT INTO notes VALUES ('late')") }
        } catch ChangelogError.fenced(let where_, let ours, let theirs) {
            wasFenced = where_ == path && ours == first.epoch && theirs == second.epoch
        }
        #expect(wasFenced)
        #expect(!first.isInTransaction)
        let count = try second.database.prepare("SELECT count(*) FROM notes").firstRow { $0.int(0) }
        #expect(count == 0)
        try second.transaction { try second.database.execute("INSERT INTO notes VALUES ('ours')") }
    }

    @Test func aNewerFileIsRefused() throws {
        _ = try StageDatabase(path: path)
        try Database(path: path).execute("UPDATE meta SET value = 99 WHERE key = 'schema'")
        let error = #expect(throws: ChangelogError.self) { try StageDatabase(path: path) }
        #expect(error?.description.contains("newer release") == true)
        // The file stays as it was.
        let version = try Database(path: path).prepare("SELECT value FROM meta WHERE key = 'schema'").firstRow {
            $0.int(0)
        }
        #expect(version == 99)
    }

    @Test func onlyItsOwnerMayRead() throws {
        let before = umask(0)
        defer { umask(before) }
        _ = try StageDatabase(path: path)
        let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(rights == 0o600)
    }

    @Test func judgesAnchors() throws {
        let store = try StageDatabase(path: path)
        let old = store.head
        try store.transaction { for _ in 0..<10 { _ = store.nextSequence() } }
        func judge(_ store: StageDatabase, _ generation: String?, _ sequence: SequenceNumber, in id: String? = nil)
            throws -> AnchorVerdict
        {
            let id = generation.map { _ in id ?? store.store }
            return try store.judge(
                PullPlace(store: id, generation: generation, after: AnchorVector(base: sequence)))
        }
        #expect(try judge(store, nil, 0) == .good)
        #expect(try judge(store, nil, 5) == .reset)
        #expect(try judge(store, old.generation, store.sequence) == .good)
        #expect(try judge(store, old.generation, store.sequence + 1) == .lostRows)
        #expect(try judge(store, "lost with its rows", 1) == .lostRows)
        #expect(try judge(store, "forgotten", 0) == .reset)
        #expect(try judge(store, old.generation, 1, in: "another store") == .reset)

        let reached = store.sequence
        try store.transaction { try store.beginGeneration() }
        // It begins further on than a copy of the store can have got meanwhile.
        let first = try #require(store.generations.last?.first)
        #expect(first == reached + StageDatabase.stride)
        // Whoever has everything still lacks nothing.
        #expect(store.head.distance(from: reached) == 0 && store.head.distance(from: reached.previous) == 1)
        #expect(try judge(store, old.generation, reached) == .good)
        #expect(try judge(store, old.generation, first) == .reset)
        #expect(try judge(store, store.head.generation, first) == .good)
        // Others may have seen the numbers between the last one and the first new one before the store lost those rows.
        #expect(try judge(store, old.generation, reached + 1) == .reset)
        try store.transaction { try store.beginGeneration() }
        #expect(store.generations.count == 3 && store.sequence == first + StageDatabase.stride)
        #expect(try judge(store, old.generation, reached) == .good)

        let seen = try StageDatabase.readHead(in: Database(path: path, mode: .readOnly))
        #expect(seen.head == store.head && seen.generations == store.generations)
    }

    @Test func aStoreThatBeginsAgainTakesNoOlderAnchor() throws {
        let store = try StageDatabase(path: path)
        try store.transaction { for _ in 0..<10 { _ = store.nextSequence() } }
        let old = store.head
        let least = old.sequence + 1_000_000
        try store.transaction { try store.beginGeneration(least: least, .beginsAgain) }
        #expect(store.sequence == least + StageDatabase.stride && store.head.gap == nil)
        func verdict(_ sequence: SequenceNumber) throws -> AnchorVerdict {
            try store.judge(PullPlace(of: old, after: sequence))
        }
        #expect(try verdict(old.sequence) == .reset)
        #expect(try verdict(old.first) == .reset)
        // A consumer that has read nothing yet has nothing to read again, and the store's first row is still the same.
        #expect(try verdict(old.first.previous) == .good)
        #expect(store.head.first == old.first)
        try store.transaction { try store.beginGeneration() }
        #expect(try verdict(old.sequence) == .reset)
    }

    /// Its own numbers don't show it that rows are lost, once it has given out as many again.
    @Test func anOlderCopyThatHasGoneOnKnowsThatOthersSawMore() throws {
        let files = FileManager.default
        let store = try StageDatabase(path: path)
        try store.transaction { for _ in 0..<10 { _ = store.nextSequence() } }
        let parted = store.head
        try store.database.checkpoint()
        let copy = folder.path + "/copy.sqlite"
        try files.copyItem(atPath: path, toPath: copy)
        // The same process writes on, and then another.
        try store.transaction { for _ in 0..<10 { _ = store.nextSequence() } }
        let later = try StageDatabase(path: path)
        // Who only opens a store isn't an incarnation of it.
        #expect(later.head == store.head)
        try later.transaction { _ = later.nextSequence() }
        #expect(later.head.incarnation != store.head.incarnation)

        let old = try StageDatabase(path: copy)
        func verdict(_ head: StoreHead) throws -> AnchorVerdict {
            var place = PullPlace(of: head, after: head.sequence)
            place.incarnation = head.incarnation
            return try old.judge(place)
        }
        #expect(old.head == parted)
        try old.transaction { for _ in 0..<100 { _ = old.nextSequence() } }
        #expect(try verdict(parted) == .good && verdict(old.head) == .good)
        #expect(try verdict(store.head) == .lostRows && verdict(later.head) == .lostRows)
        let head = try StageDatabase.readHead(in: Database(path: copy, mode: .readOnly)).head
        #expect(head == old.head)
        try old.transaction { try old.beginGeneration() }
        #expect(try verdict(parted) == .good && verdict(later.head) == .reset)
        // A consumer that has read nothing has nothing to lose.
        #expect(try old.judge(PullPlace(store: old.store, generation: parted.generation, incarnation: "?")) == .good)
    }

    @Test func anEarlierReleasesAnchorsAndFilesHaveNoIncarnation() throws {
        let head = try StageDatabase(path: path).head
        try Database(path: path).execute("DROP TABLE incarnations")
        #expect(try StageDatabase.readHead(in: Database(path: path, mode: .readOnly)).head.incarnation == nil)
        let store = try StageDatabase(path: path)
        #expect(store.head.incarnation == nil && store.head.sequence == head.sequence)
        try store.transaction { _ = store.nextSequence() }
        #expect(store.head.incarnation != nil)
        #expect(try store.judge(PullPlace(of: head, after: store.sequence)) == .good)
    }

    @Test func aStoreOfAnEarlierReleaseKeepsItsAnchors() throws {
        let head = try StageDatabase(path: path).head
        try Database(path: path).execute("ALTER TABLE generations DROP COLUMN after")
        let before = try StageDatabase.readHead(in: Database(path: path))
        let store = try StageDatabase(path: path)
        #expect(before.generations == store.generations && store.head == head)
        try store.transaction { try store.beginGeneration() }
        #expect(try store.judge(PullPlace(of: head, after: head.sequence)) == .good)
    }

    @Test func isRaisedAboveWhatADestinationHolds() throws {
        let store = try StageDatabase(path: path)
        try store.transaction { try store.raise(above: 5_000_000_000_000) }
        #expect(try StageDatabase(path: path).sequence == 5_000_000_000_000)
        let again = try StageDatabase(path: path)
        #expect(again.head.distance(from: 1) == 0 && again.head.distance(from: .beginning) == 1)
        // It never goes back.
        try again.transaction { try again.raise(above: 7) }
        #expect(try again.transaction { again.nextSequence() } == 5_000_000_000_001)
        #expect(again.generations == store.generations)
    }

    @Test func keepsTheLastOfManyNumbers() throws {
        let store = try StageDatabase(path: path)
        let before = store.sequence
        try store.transaction { for _ in 1...5 { _ = store.nextSequence() } }
        #expect(store.sequence == before + 5)
        #expect(try StageDatabase(path: path).sequence == before + 5)
    }
}
