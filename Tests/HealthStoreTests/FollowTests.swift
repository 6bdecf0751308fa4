import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A store that takes in the changes of another store ends up with the same rows.
@Suite struct FollowTests {
    private let there: StoreFixture
    private let here: StoreFixture

    init() throws {
        there = try StoreFixture()
        // This store has its own sequence numbers.
        here = try StoreFixture(firstSequence: 500_000)
    }

    @discardableResult
    private func follow(after: SequenceNumber = .beginning, rows: Int = 100_000) throws -> FollowCounts {
        let page = try there.reader.anchored(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: after)),
            limits: PullLimits(rows: rows, bytes: 100_000_000))
        return try here.database.transaction {
            try here.writer.follow(page.samples, source: "test", plausibility: Record.plausibility)
        }
    }

    /// Adds records in the way that a store without any checks would.
    private func addUnchecked(_ records: Record...) throws {
        try there.database.transaction {
            _ = try there.writer.ingest(
                Record.batch(records), session: ImportSession(source: "test"), plausibility: { _ in { _, _, _ in nil } }
            )
        }
    }

    private func retry() throws -> Int {
        let entries = try here.reader.quarantine()
        return try here.database.transaction {
            try here.writer.retryQuarantined(entries, plausibility: { _ in { _, _, _ in nil } })
        }
    }

    private func delete(_ store: StoreFixture, _ uuids: SampleID...) throws {
        try store.database.transaction { _ = try store.writer.delete(uuids: uuids) }
    }

    private func isSame() throws -> Bool { try here.alive() == there.alive() }

    @Test func everyColumnComesAcrossAndARepeatWritesNothing() throws {
        try there.add([
            Record(
                version: "18.3", product: "Watch6,1", device: "name:Apple Watch", created: 1_700_000_100,
                uuid: uuid(1)),
            Record(start: 1_700_000_100.25, length: 0, value: 3, flags: 1, metadata: #"{"HKTimeZone":"Asia/Tokyo"}"#),
            Record(type: "HKWorkoutTypeIdentifier", value: .nan, unit: "", payload: #"{"duration":"30"}"#),
            // Two samples with the same key.
            Record(start: 1_700_000_300, value: 5), Record(start: 1_700_000_300, value: 6),
        ])
        #expect(try follow().changed == 5)
        #expect(try here.alive().count == 5)
        #expect(try isSame())
        let head = try here.head()
        #expect(try follow() == FollowCounts(known: 5))
        #expect(try here.head() == head)
    }

    @Test func manyRowsGoIntoBlocksAndAreFoundThere() throws {
        try there.add(
            (0..<3000).map {
                Record(start: 1_700_000_000 + 60 * Double($0), value: Double($0 % 9), uuid: uuid(UInt64($0)))
            })
        #expect(try follow().changed == 3000)
        let (head, before) = (try there.head(), try here.head())
        try delete(there, uuid(7))
        let later = #"{"HKMetadataKeySyncVersion":"2"}"#
        try there.add([Record(start: 1_700_000_480, value: 99, metadata: later, uuid: uuid(8))])
        // The former content, which has a tombstone of its own, was never here.
        #expect(try follow(after: head) == FollowCounts(changed: 2, known: 1))
        #expect(try isSame())
        #expect(try here.head() - before == 3)
        #expect(try follow() == FollowCounts(changed: 0, known: 3001))
    }

    /// The absence of a sample may be temporary, so it mustn't be deleted for good here.
    @Test func whatComesBackThereComesBackHere() throws {
        try there.add([Record(uuid: uuid(1)), Record(start: 1_700_001_000, uuid: uuid(2))])
        try follow()
        try delete(there, uuid(1))
        #expect(try follow().changed == 1)
        #expect(try here.alive().count == 1)
        // This is the case in a store where the sample has come back after being missing from an export.
        let page = try there.changes().samples
        var revived = page.filter { page.flags[$0].contains(.deleted) }
        revived.flags = [[]]
        try here.database.transaction {
            _ = try here.writer.follow(revived, source: "test", plausibility: Record.plausibility)
        }
        #expect(try here.alive().count == 2)
        #expect(try follow().changed == 1)
        #expect(try isSame())
    }

    @Test func whatWasDeletedHereStaysDeleted() throws {
        try there.add([Record(uuid: uuid(1)), Record(start: 1_700_001_000, uuid: uuid(2))])
        // One sample is deleted before it arrives, and the other afterwards.
        try delete(here, uuid(1))
        try follow()
        try delete(here, uuid(2))
        #expect(try follow() == FollowCounts(refused: 2))
        #expect(try here.alive().isEmpty)
    }

    @Test func aSampleThatHadComeAnotherWayIsOne() throws {
        try here.add([Record(), Record(start: 1_700_001_000, value: 4, uuid: uuid(2))])
        try there.add([
            Record(), Record(start: 1_700_001_000, value: 3), Record(start: 1_700_001_000, value: 4, uuid: uuid(2)),
        ])
        try follow()
        #expect(try isSame())
    }

    /// A new row between two rows with the same key moves an id to different content.
    @Test func idsThatMoveThereMoveHere() throws {
        try there.add([Record(value: 10, uuid: uuid(1)), Record(value: 30, uuid: uuid(3))])
        try follow()
        let head = try there.head()
        try there.add([Record(value: 5, uuid: uuid(2))])
        try follow(after: head)
        #expect(try here.alive().count == 3)
        #expect(try isSame())
    }

    /// A sample that the other stack's version had put into quarantine, and then a file brings it: the quarantine's count
    /// is that of its entries.
    @Test func whatAFileRestoresIsCountedAsTheQuarantineHasIt() throws {
        try there.add([Record(uuid: uuid(1))])
        try follow()
        let later = #"{"HKMetadataKeySyncVersion":"2"}"#
        try addUnchecked(Record(value: -5, metadata: later, uuid: uuid(1)))
        #expect(try follow() == FollowCounts(known: 1, refused: 1, quarantined: 1))
        // It can't be true in the file either: it is quarantined again, but isn't new there.
        let again = try here.add([Record(value: -5, uuid: uuid(1))])
        #expect(again.quarantined == 1 && again.newlyQuarantined == 0 && again.revived == 0)
        #expect(try here.reader.quarantineCount() == 1)
    }

    @Test func whatAFileRestoresLeavesTheQuarantine() throws {
        try there.add([Record(uuid: uuid(1))])
        try follow()
        let later = #"{"HKMetadataKeySyncVersion":"2"}"#
        try addUnchecked(Record(value: -5, metadata: later, uuid: uuid(1)))
        #expect(try follow() == FollowCounts(known: 1, refused: 1, quarantined: 1))
        let restored = try here.add([Record(uuid: uuid(1))])
        #expect(restored.revived == 1 && restored.quarantined == 0 && restored.newlyQuarantined == -1)
        #expect(try here.reader.quarantineCount() == 0 && here.alive().count == 1)
    }

    /// Input channels round times differently. The same UUID means the same sample, whichever came first.
    @Test(arguments: [-1.0, 1]) func aSecondMoreOrLessMakesNoOtherSample(_ shift: Double) throws {
        try here.add([Record(start: 1_700_000_000 + shift, uuid: uuid(1))])
        try there.add([Record(uuid: uuid(1))])
        #expect(try follow() == FollowCounts(changed: 1))
        #expect(try here.alive().count == 1)
        #expect(try isSame())
        #expect(try follow() == FollowCounts(known: 1))
        try here.add([Record(start: 1_700_000_000 + shift, uuid: uuid(1))])
        #expect(try here.alive().count == 1)
        try delete(there, uuid(1))
        try follow()
        #expect(try here.alive().isEmpty)
    }

    /// The sample stored here arrived without a UUID, and a different sample has that UUID.
    @Test func aUUIDThatIsLearntLaterJoinsTwo() throws {
        try there.add([Record()])
        try follow()
        try here.add([Record(start: 1_700_000_001, uuid: uuid(1))])
        #expect(try here.alive().count == 2)
        try there.add([Record(uuid: uuid(1))])
        try follow()
        #expect(try isSame())
        #expect(try here.alive().count == 1)
    }

    @Test func whatWasDeletedThereBeforeItCameGoesHereToo() throws {
        try here.add([Record(start: 1_700_000_001, uuid: uuid(1))])
        try there.add([Record(uuid: uuid(1))])
        try delete(there, uuid(1))
        #expect(try follow().changed == 1)
        #expect(try here.alive().isEmpty)
    }

    /// An import looks up the rows of a key one after another, and stops at the first missing one.
    @Test func aDeletedSampleThatNeverCameLeavesNoGap() throws {
        try there.add([Record(value: 5, uuid: uuid(1)), Record(value: 6)])
        try delete(there, uuid(1))
        #expect(try follow() == FollowCounts(changed: 1, known: 1))
        #expect(try isSame())
        try here.add([Record(value: 6)])
        #expect(try isSame())
        #expect(try here.alive().count == 1)
    }

    @Test func whatCannotBeTrueIsKeptApart() throws {
        try addUnchecked(Record(value: -1), Record(start: 1_700_001_000))
        #expect(try follow() == FollowCounts(changed: 1, refused: 1, quarantined: 1))
        #expect(try here.alive().count == 1 && here.reader.quarantineCount() == 1)
        #expect(try follow() == FollowCounts(known: 1, refused: 1))
    }

    private static let later = #"{"HKMetadataKeySyncVersion":"2"}"#

    @Test func aCorrectionOfWhatWasKeptApartCounts() throws {
        try addUnchecked(Record(value: -1, uuid: uuid(1)))
        try follow()
        try there.add([Record(value: 5, metadata: Self.later, uuid: uuid(1))])
        #expect(try follow() == FollowCounts(changed: 1, known: 1, quarantined: -1))
        #expect(try isSame())
        #expect(try here.alive().count == 1 && here.reader.quarantineCount() == 0)
    }

    /// Any consumer that had the sample learns that it is gone.
    @Test func aCorrectionThatCannotBeTrueIsKeptApart() throws {
        try there.add([Record(value: 10, uuid: uuid(1))])
        try follow()
        let head = try here.head()
        try addUnchecked(Record(value: -3, metadata: Self.later, uuid: uuid(1)))
        #expect(try follow() == FollowCounts(known: 1, refused: 1, quarantined: 1))
        let flags = try here.changes().samples.flags
        #expect(try here.alive().isEmpty && flags == [.deleted, .deleted] && here.head() > head)
        #expect(try follow() == FollowCounts(known: 1, refused: 1))
        #expect(try here.reader.quarantinedRecords(limit: 10).map(\.sample?.value) == [-3])
        #expect(try retry() == 1)
        #expect(try isSame())
        #expect(try here.alive().count == 1 && here.reader.quarantineCount() == 0)
    }

    @Test func whatIsDroppedHereStaysOut() throws {
        try there.add([Record(value: 10, uuid: uuid(1))])
        try follow()
        try addUnchecked(Record(value: -3, metadata: Self.later, uuid: uuid(1)))
        try follow()
        let entries = try here.reader.quarantine()
        try here.database.transaction { try here.writer.dropQuarantined(entries) }
        #expect(try follow() == FollowCounts(known: 1, refused: 1))
        #expect(try here.reader.quarantineCount() == 0)
    }

    @Test func whatIsDeletedThereCannotComeBackFromTheQuarantine() throws {
        try addUnchecked(Record(value: -1, uuid: uuid(1)))
        try follow()
        try delete(there, uuid(1))
        #expect(try follow() == FollowCounts(changed: 1, quarantined: -1))
        #expect(try retry() == 0)
        #expect(try here.alive().isEmpty && here.reader.quarantineCount() == 0)
    }

    @Test func namesForWhichThereIsNoRoomAreKeptAsText() throws {
        try here.add((0..<1000).map { Record(type: "Made\($0)", unit: "u\($0)") })
        try there.add([
            Record(type: "Another", uuid: uuid(1)), Record(start: 1_700_001_000, unit: "odd", uuid: uuid(2)),
        ])
        #expect(try follow() == FollowCounts(refused: 2, quarantined: 2))
        let entries = try here.reader.quarantine()
        #expect(entries.count == 2 && entries.allSatisfy { $0.raw.hasPrefix("<Record type=") })
        #expect(try follow() == FollowCounts(refused: 2))
        try delete(there, uuid(1), uuid(2))
        #expect(try follow() == FollowCounts(known: 2, quarantined: -2))
        #expect(try here.reader.quarantineCount() == 0)
    }
}

extension FollowCounts {
    fileprivate init(changed: Int = 0, known: Int = 0, refused: Int = 0, quarantined: Int = 0) {
        self.init()
        (self.changed, self.known, self.refused) = (changed, known, refused)
        self.quarantined = quarantined
    }
}
