import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A store that follows another also receives samples in other ways, with UUIDs that the other one doesn't know.
@Suite struct FollowUUIDTests {
    private let there: StoreFixture
    private let here: StoreFixture

    init() throws {
        there = try StoreFixture()
        here = try StoreFixture(firstSequence: 500_000)
    }

    @discardableResult
    private func follow(_ page: SamplePage? = nil) throws -> FollowCounts {
        let samples = try page ?? there.changes().samples
        return try here.database.transaction {
            try here.writer.follow(samples, source: "test", plausibility: Record.plausibility)
        }
    }

    private func deleteHere(_ uuids: SampleID...) throws -> [RecordOutcome] {
        try here.database.transaction { try here.writer.outcomes(ofDeleting: uuids) }
    }

    private func uuidsHere() throws -> Set<SampleID?> { Set(try here.alive().map(\.uuid)) }

    /// The other store has the phone's sample from an export, and exports have no UUIDs.
    @Test func aUUIDThatOnlyThisStoreKnowsIsKept() throws {
        try here.add([Record(uuid: uuid(1))])
        try there.add([Record(version: "18.3")])
        #expect(try follow().changed == 1)
        #expect(try follow().known == 1)
        #expect(try here.alive().count == 1)
        #expect(try deleteHere(uuid(1)) == [.deleted])
        #expect(try here.alive().isEmpty)
    }

    @Test func whatIsDeletedThereComesBackWhenItIsSentHereAgain() throws {
        try here.add([Record(uuid: uuid(1))])
        try there.add([Record()])
        try follow()
        let ids = try there.alive().map(\.id)
        try there.database.transaction { _ = try there.writer.delete(ids: ids) }
        try follow()
        #expect(try here.alive().isEmpty)
        #expect(try here.add([Record(uuid: uuid(1))]).revived == 1)
        #expect(try uuidsHere() == [uuid(1)])
    }

    /// Both stores gave their sample the same id.
    @Test func aSampleWhoseIDAnotherSampleHasMovesAside() throws {
        try here.add([Record(value: 5, uuid: uuid(1))])
        try there.add([Record(value: 8, uuid: uuid(2))])
        #expect(try follow().changed == 1)
        #expect(try uuidsHere() == [uuid(1), uuid(2)])
        #expect(try here.alive().isSuperset(of: there.alive()))
        #expect(try here.add([Record(value: 5, uuid: uuid(1))]).known == 1)
        #expect(try follow().known == 1)
        #expect(try deleteHere(uuid(1), uuid(2)) == [.deleted, .deleted])
        #expect(try here.alive().isEmpty)
    }

    @Test func aDeletionThereReachesNoOtherSampleHere() throws {
        try here.add([Record(value: 5, uuid: uuid(1))])
        try there.add([Record(value: 8, uuid: uuid(2))])
        try there.database.transaction { _ = try there.writer.delete(uuids: [uuid(2)]) }
        #expect(try follow().known == 1)
        #expect(try uuidsHere() == [uuid(1)])
    }

    @Test func aSampleOfTheSameKeyIsFoundByItsUUID() throws {
        try here.add([Record(value: 10, uuid: uuid(1)), Record(value: 30, uuid: uuid(2))])
        try there.add([Record(value: 30, uuid: uuid(2))])
        try follow()
        #expect(try uuidsHere() == [uuid(1), uuid(2)])
        #expect(try here.alive().isSuperset(of: there.alive()))
        #expect(try Set(here.alive().map(\.value)) == [10, 30])
    }

    /// The two changes may also come in different pages.
    @Test(arguments: [true, false]) func rowsThatTradePlacesAreBothKept(_ isOnePage: Bool) throws {
        try there.add([Record(value: 10, uuid: uuid(1)), Record(value: 30, uuid: uuid(2))])
        try follow()
        var page = try there.changes().samples
        page.ids.swapAt(0, 1)
        for row in 0..<2 {
            try follow(page.filter { isOnePage || $0 == row })
            #expect(try uuidsHere() == [uuid(1), uuid(2)])
        }
        for row in try here.alive() {
            let number = try #require(page.ids.firstIndex(of: row.id))
            #expect(row.uuid == page.healthKitUUID[number] && row.value == page.value[number])
        }
    }

    /// The sample had come without the UUID under which it was deleted here.
    @Test func aDeletedUUIDThatIsLearntThereStaysDeleted() throws {
        try there.add([Record()])
        try follow()
        #expect(try deleteHere(uuid(1)) == [.added])
        try there.add([Record(uuid: uuid(1))])
        #expect(try follow().refused == 1)
        #expect(try here.alive().isEmpty)
        #expect(try here.add([Record(uuid: uuid(1))]).deleted == 1)
    }
}
