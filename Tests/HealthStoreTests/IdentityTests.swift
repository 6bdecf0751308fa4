import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

@Suite struct IdentityTests {
    @Test func equalRecordsOfOneSessionAreTwoSamples() throws {
        let store = try StoreFixture()
        let counts = try store.add([Record(), Record(), Record()])
        #expect(counts.added == 3)
        #expect(Set(try store.alive().map(\.id)).count == 3)
    }

    @Test func equalRecordsOfTwoSessionsAreOne() throws {
        let store = try StoreFixture()
        #expect(try store.add([Record(), Record()]).added == 2)
        let head = try store.head()
        let again = try store.add([Record(), Record()])
        #expect(again.known == 2)
        #expect(again.added == 0)
        #expect(try store.head() == head)
        #expect(try store.add([Record(), Record(), Record()]).added == 1)
    }

    @Test func aSessionRemembersItsClaimsOverBatches() throws {
        let store = try StoreFixture()
        let session = ImportSession(source: "a file")
        #expect(try store.add([Record()], session).added == 1)
        #expect(try store.add([Record()], session).added == 1)
        let next = ImportSession(source: "the file again")
        #expect(try store.add([Record()], next).known == 1)
        #expect(try store.add([Record()], next).known == 1)
        #expect(try store.add([Record()], next).added == 1)
    }

    @Test func anInterruptedSessionStartsAgainAndAddsNothing() throws {
        let store = try StoreFixture()
        let file = (0..<50).map { Record(start: 1_700_000_000 + Double($0 / 3), value: Double($0)) }
        try store.add(Array(file.prefix(30)))
        store.writer = try HealthStoreWriter(database: store.database, user: "anna", sequences: store.sequences)
        let counts = try store.add(file)
        #expect(counts.added == 20)
        #expect(counts.known == 30)
    }

    @Test(arguments: [
        (100.0, 100.0, true), (100.0, 100.0019, true), (100.0, 100.0021, false), (0.0, 0.0, true), (0.0, 1e-9, false),
        (.nan, .nan, true), (.nan, 1.0, false),
    ])
    func valuesAgreeWithinWhatConvertingDoes(_ first: Double, _ second: Double, _ agrees: Bool) throws {
        let store = try StoreFixture()
        try store.add([Record(value: first)])
        #expect(try store.add([Record(value: second)]).added == (agrees ? 0 : 1))
    }

    @Test func theValueThatWasPrintedStays() throws {
        let converted = 3.10686 * 1609.344
        for order in [[5000.0, converted], [converted, 5000.0]] {
            let store = try StoreFixture()
            for value in order { try store.add([Record(value: value)]) }
            #expect(try store.alive().map(\.value) == [5000])
            let head = try store.head()
            for value in order { try store.add([Record(value: value)]) }
            #expect(try store.head() == head)
        }
    }

    @Test func anEqualValueIsClaimedBeforeAnAgreeingOne() throws {
        let store = try StoreFixture()
        let file = [Record(value: 100), Record(value: 100.001)]
        try store.add(file)
        let head = try store.head()
        #expect(try store.add(file.reversed()).known == 2)
        #expect(try store.head() == head)
    }

    @Test(arguments: [
        Record(type: "HKQuantityTypeIdentifierHeartRate"), Record(source: "iPhone"), Record(start: 1_700_000_001),
        Record(length: 61),
    ])
    func anotherKeyIsAnotherSample(_ other: Record) throws {
        let store = try StoreFixture()
        try store.add([Record()])
        #expect(try store.add([other]).added == 1)
    }

    @Test func versionAndDeviceAreNoPartOfIdentity() throws {
        let store = try StoreFixture()
        try store.add([Record()])
        #expect(try store.add([Record(version: "9.0", device: "name:Apple Watch")]).joined == 1)
    }

    @Test func childrenOfACorrelationClaimApart() throws {
        let store = try StoreFixture()
        let child = Record(flags: RecordFlags.correlationChild.rawValue)
        let session = ImportSession(source: "export")
        #expect(try store.add([child, Record()], session).added == 1)
        #expect(try store.add([child], session).added == 1)
        #expect(try store.add([Record()], session).known == 1)
        #expect(try store.add([Record(), child, child, Record()]).known == 4)
    }

    @Test func usersAreApart() throws {
        let store = try StoreFixture()
        try store.add([Record()])
        let other = try HealthStoreWriter(database: store.database, user: "ben", sequences: store.sequences)
        let counts = try store.database.transaction {
            try other.ingest(
                Record.batch([Record()]), session: ImportSession(source: "b"), plausibility: Record.plausibility)
        }
        #expect(counts.total.added == 1)
        #expect(try store.add([Record(), Record()]).added == 1)
        let page = try store.changes()
        #expect(Set(page.samples.sequence).count == 3)
        #expect(page.users == ["anna", "ben"] || page.users == ["ben", "anna"])
    }

    @Test func rolledBackBatchesLeaveNothingInTheWriter() throws {
        struct Stop: Error {}
        let store = try StoreFixture()
        let session = ImportSession(source: "a file")
        let record = Record(type: "HKQuantityTypeIdentifierHeartRate", device: "d")
        #expect(throws: Stop.self) {
            try store.database.transaction {
                _ = try store.writer.ingest(Record.batch([record]), session: session, plausibility: Record.plausibility)
                throw Stop()
            }
        }
        #expect(throws: HealthStoreError.sessionUndone(source: "a file")) { try store.add([record], session) }
        #expect(try store.add([record, Record()]).added == 2)
        #expect(try store.alive().count == 2)
        #expect(try store.reader.heads().map(\.alive) == [1, 1])
    }

    @Test func claimsFollowARowThatAnotherSessionChanges() throws {
        let store = try StoreFixture()
        let slow = ImportSession(source: "slow")
        #expect(try store.add([Record()], slow).added == 1)
        #expect(try store.add([Record(metadata: #"{"a":"1"}"#)]).joined == 1)
        #expect(try store.add([Record()], slow).added == 1)
    }

    @Test func sequencesRiseAboveTheFirstAndStayUnique() throws {
        let store = try StoreFixture(firstSequence: 5000)
        try store.add([Record(), Record(start: 1)])
        #expect(try store.changes().samples.sequence.allSatisfy { $0 > 5000 })
        // In between, something else in the file has used a sequence number.
        let taken = store.sequences.nextSequence()
        try store.add([Record(start: 2)])
        #expect(try store.head() == taken.next)
    }

    /// A single second contains more rows than are preloaded, and so does the span of a single batch.
    @Test(arguments: [(9000, 1), (3900, 18)])
    func crowdedSecondsAreFound(_ rows: Int, _ seconds: Int) throws {
        let store = try StoreFixture()
        var crowd = (0..<seconds).flatMap { second in
            (0..<rows).map { Record(start: 1_700_000_000 + Double(second), length: Double($0 + 1)) }
        }
        crowd.append(Record(start: 1_700_000_100))
        try store.add(crowd)
        let head = try store.head()
        #expect(try store.add(crowd).known == crowd.count)
        #expect(try store.head() == head)
    }
}
