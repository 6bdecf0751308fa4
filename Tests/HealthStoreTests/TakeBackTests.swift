import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// The origin of each sample is noted, so that samples with only one origin can be taken back.
@Suite struct TakeBackTests {
    private func life(_ range: ClosedRange<Int>) -> [Record] {
        range.map { Record(start: 1_700_000_000 + Double($0) * 100, value: Double($0)) }
    }

    private func session(_ bringer: Bringer?) -> ImportSession { ImportSession(source: "test", bringer: bringer) }

    private func alive(_ store: StoreFixture) throws -> [Int] {
        try store.alive().compactMap(\.value).map { Int($0) }.sorted()
    }

    /// Takes everything back, in small steps, each in its own transaction.
    private func takeBack(_ store: StoreFixture, _ choice: BringerChoice) throws -> TakeBackCounts {
        var counts = TakeBackCounts()
        guard var progress = try store.writer.beginTakingBack(choice) else {
            Issue.record("nothing is noted of \(choice)")
            return counts
        }
        for _ in 0..<1000 where !progress.isDone {
            counts += try store.database.transaction { try store.writer.takeBack(&progress, limit: 3) }
        }
        #expect(progress.isDone)
        return counts
    }

    private func count(_ store: StoreFixture, _ choice: BringerChoice, limit: Int = 3) throws -> TakeBackCounts {
        var progress = try #require(try store.writer.beginTakingBack(choice))
        var counts = TakeBackCounts()
        while !progress.isDone { counts += try store.writer.countBrought(&progress, limit: limit) }
        return counts
    }

    private func counts(_ taken: Int, _ kept: Int) -> TakeBackCounts {
        var counts = TakeBackCounts()
        if taken > 0 { counts.taken[Record().type] = taken }
        if kept > 0 { counts.kept[Record().type] = kept }
        return counts
    }

    @Test(arguments: [2, .max]) func whatTwoBroughtStaysAndWhatOneBroughtGoes(_ leastInBlock: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        try store.add(life(1...10), session(.importing(id: "a")))
        try store.add(life(6...15), session(.importing(id: "b")))
        let before = try store.head()
        #expect(try count(store, .importing(id: "a")) == counts(5, 5))
        #expect(try store.head() == before, "counting changes nothing")
        #expect(try takeBack(store, .importing(id: "a")) == counts(5, 5))
        #expect(try alive(store) == Array(6...15))
        #expect(try store.reader.heads().first?.deleted == 5)
        let spans = try store.reader.spans(.samples, PullWindow(SequenceWindow(after: before)))
        #expect(spans.added == 0 && spans.deleted == 5)
        // The other samples have only the other origin.
        #expect(try takeBack(store, .importing(id: "b")) == counts(10, 0))
        #expect(try alive(store).isEmpty)
        // When the samples are added later, they come back, and this is noted.
        #expect(try store.add(life(1...3), session(.importing(id: "c"))).revived == 3)
        #expect(try alive(store) == [1, 2, 3])
        #expect(try takeBack(store, .importing(id: "c")) == counts(3, 0))
    }

    @Test func aDeviceIsAllItsWaysAndOneUser() throws {
        let store = try StoreFixture()
        try store.add(life(1...2), session(.device("phone", way: "/v1/samples")))
        try store.add(life(3...4), session(.device("phone", way: "app")))
        try store.add(life(4...6), session(.device("tablet", way: "app")))
        let other = try HealthStoreWriter(database: store.database, user: "berta", sequences: store.sequences)
        try store.database.transaction {
            _ = try other.ingest(
                Record.batch(life(1...9)), session: session(.device("phone", way: "app")),
                plausibility: Record.plausibility)
        }
        #expect(try takeBack(store, .device("phone")) == counts(3, 1))
        #expect(try store.alive().filter { $0.user == "anna" }.count == 3)
        #expect(try store.alive().filter { $0.user == "berta" }.count == 9)
        #expect(try store.writer.beginTakingBack(.device("watch")) == nil)
    }

    /// Samples without an origin count as coming from someone else; so do samples stored before origins were noted.
    @Test func whatNobodyIsKnownToHaveBroughtStays() throws {
        let store = try StoreFixture()
        try store.add(life(1...4), session(nil))
        try store.add(life(1...6), session(.importing(id: "a")))
        #expect(try count(store, .importing(id: "a")) == counts(2, 4))

        try store.database.transaction {
            try store.database.execute("DROP TABLE brought")
            try store.database.execute("DROP TABLE bringers")
            try store.database.execute("DROP TABLE brought_since")
            try store.database.execute("UPDATE store_schema SET version = 5")
            try HealthStoreSchema.create(in: store.database)
        }
        store.writer = try HealthStoreWriter(
            database: store.database, user: "anna", sequences: store.sequences, leastInBlock: 2)
        #expect(try store.writer.beginTakingBack(.importing(id: "a")) == nil)
        try store.add(life(5...8), session(.importing(id: "b")))
        #expect(try takeBack(store, .importing(id: "b")) == counts(2, 2))
        #expect(try alive(store) == Array(1...6))
    }

    /// A row that has since gained details has a new sequence number, but is still the same row.
    @Test func aRowThatChangedIsStillTheRowThatWasBrought() throws {
        let store = try StoreFixture()
        try store.add(life(1...4), session(.importing(id: "a")))
        var better = life(2...2)
        better[0].metadata = #"{"HKExternalUUID":"x"}"#
        #expect(try store.add(better, session(.device("phone", way: "app"))).joined == 1)
        #expect(try takeBack(store, .importing(id: "a")) == counts(3, 1))
        #expect(try alive(store) == [2])
    }

    /// Concurrent changes are neither lost nor taken back.
    @Test func whatComesMeanwhileCounts() throws {
        let store = try StoreFixture()
        try store.add(life(1...9), session(.importing(id: "a")))
        var progress = try #require(try store.writer.beginTakingBack(.importing(id: "a")))
        _ = try store.database.transaction { try store.writer.takeBack(&progress, limit: 3) }
        #expect(try alive(store) == Array(4...9))
        try store.add(life(2...2) + life(8...8), session(.device("phone", way: "app")))
        while !progress.isDone {
            _ = try store.database.transaction { try store.writer.takeBack(&progress, limit: 3) }
        }
        #expect(try alive(store) == [2, 8])
    }

    @Test func aPieceThatIsPassedOverIsBroughtToo() throws {
        let store = try StoreFixture()
        var batch = Record.batch(life(1...5))
        let hash = PieceHash(high: 1, low: 2)
        batch.pieceEnds = [.init(rows: 5, hash: hash)]
        try store.database.transaction {
            _ = try store.writer.ingest(
                batch, session: session(.importing(id: "a")), plausibility: Record.plausibility)
        }
        let second = session(.importing(id: "b"))
        let known = try store.database.transaction { try store.writer.claim([hash], session: second) }
        #expect(known?.total.known == 5)
        #expect(try takeBack(store, .importing(id: "a")) == counts(0, 5))
        #expect(try takeBack(store, .importing(id: "b")) == counts(5, 0))
        #expect(try store.writer.knownPieces().isEmpty, "it must be read again")
    }

    @Test func manyRowsTakeFewBytes() throws {
        let store = try StoreFixture()
        let session = session(.importing(id: "a"))
        for first in stride(from: 1, through: 9001, by: 500) { try store.add(life(first...first + 499), session) }
        let (rows, bytes) = try #require(
            try store.database.prepare("SELECT count(*), sum(length(content)) FROM brought").firstRow {
                ($0.int(0), $0.int(1))
            })
        #expect(rows <= 5 && bytes < 400, "\(rows) rows, \(bytes) bytes")
        #expect(try count(store, .importing(id: "a"), limit: 1000).taken.values.first == 9500)
        // Every second sample, so that the samples are stored as bitmaps.
        let other = ImportSession(source: "test", bringer: .importing(id: "b"))
        try store.add(life(1...9500).filter { Int($0.value) % 2 == 0 }, other)
        #expect(try count(store, .importing(id: "a"), limit: 1000) == counts(4750, 4750))
        #expect(try count(store, .importing(id: "b"), limit: 1000) == counts(0, 4750))
    }
}
