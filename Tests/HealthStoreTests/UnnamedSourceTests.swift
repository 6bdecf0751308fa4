import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// If a sender doesn't name a sample's source, the sample is taken to be the same as a sample from any source that agrees
/// in everything else.
@Suite struct UnnamedSourceTests {
    private static let named = Record(source: "Watch", created: 100, metadata: #"{"a":"1"}"#)
    private static let unnamed = ["", Origin.autoExportSource].map {
        Record(source: $0, metadata: #"{"b":"2"}"#, uuid: uuid(5))
    }

    @Test(arguments: unnamed) func theyAreOneInEitherOrder(_ unnamed: Record) throws {
        var rows: [Set<Row>] = []
        for order in [[Self.named, unnamed], [unnamed, Self.named], [unnamed, Self.named, unnamed, Self.named]] {
            let store = try StoreFixture()
            for record in order { try store.add([record]) }
            rows.append(try store.alive())
            let head = try store.head()
            for record in order { #expect(try store.add([record]).known == 1) }
            #expect(try store.head() == head)
        }
        let row = try #require(rows[0].first)
        #expect(rows[0].count == 1 && rows[1] == rows[0] && rows[2] == rows[0])
        #expect(row.origin.sourceName == "Watch" && row.uuid == uuid(5) && row.created == 100)
        #expect(row.metadata == #"{"a":"1","b":"2"}"#)
    }

    /// The limits have changed since the sample came.
    @Test func aSampleThatIsImpossibleByNowStaysAsItCame() throws {
        let store = try StoreFixture()
        var (named, unnamed) = (Self.named, Self.unnamed[0])
        (named.value, unnamed.value) = (-3, -3)
        try store.database.transaction {
            _ = try store.writer.ingest(
                Record.batch([unnamed]), session: ImportSession(source: "x"), plausibility: { _ in { _, _, _ in nil } })
        }
        #expect(try store.add([named]).quarantined == 0)
        let row = try #require(try store.alive().first)
        #expect(row.uuid == uuid(5) && row.metadata == #"{"a":"1","b":"2"}"#)
        #expect(try store.reader.quarantineCount() == 0)
    }

    @Test(arguments: [true, false]) func aDeletionReachesIt(unnamedFirst: Bool) throws {
        let store = try StoreFixture()
        for record in unnamedFirst ? [Self.unnamed[1], Self.named] : [Self.named, Self.unnamed[1]] {
            try store.add([record])
        }
        #expect(try store.database.transaction { try store.writer.delete(uuids: [uuid(5)]) } == 1)
        for record in [Self.named, Self.unnamed[0], Self.unnamed[1]] { #expect(try store.add([record]).deleted == 1) }
        #expect(try store.alive().isEmpty)
    }

    /// First comes the deletion, then the sample in an export, and finally the sample with its UUID.
    @Test func deletedBeforeItWasSeenItGoes() throws {
        let store = try StoreFixture()
        try store.database.transaction { _ = try store.writer.delete(uuids: [uuid(5)]) }
        #expect(try store.add([Self.named]).added == 1)
        #expect(try store.add([Self.unnamed[1]]).deleted == 1)
        #expect(try store.alive().isEmpty)
    }

    @Test func deletedBeforeItWasNamedItStaysOut() throws {
        let store = try StoreFixture()
        try store.add([Self.unnamed[1]])
        try store.database.transaction { _ = try store.writer.delete(uuids: [uuid(5)]) }
        #expect(try store.add([Self.named]).deleted == 1)
        #expect(try store.alive().isEmpty)
    }

    @Test(arguments: [
        Record(source: "", start: 1_700_000_001), Record(source: "", length: 61), Record(source: "", value: 11),
        Record(type: "HKQuantityTypeIdentifierHeartRate", source: ""),
    ])
    func whatDiffersInMoreIsAnother(_ other: Record) throws {
        for order in [[Self.named, other], [other, Self.named]] {
            let store = try StoreFixture()
            for record in order { #expect(try store.add([record]).added == 1) }
        }
    }

    /// Each sample without a source is matched with one that has a source, whichever comes first. Within a request,
    /// each is a separate sample.
    @Test func eachIsOneOfThem() throws {
        let plain = Record(source: "")
        for order in [
            [[plain, plain], [Self.named, Self.named, Self.named]],
            [[Self.named, Self.named, Self.named], [plain, plain]],
        ] {
            let store = try StoreFixture()
            for records in order { try store.add(records) }
            #expect(try store.alive().count == 3)
        }
        let store = try StoreFixture()
        #expect(try store.add([plain, Self.named]).added == 2)
    }

    /// The app's names for activities are in the language of the phone, so workouts are distinguished only by
    /// HealthKit's names.
    @Test(arguments: [
        ("HKWorkoutActivityTypeRunning", 1), ("Outdoor Ausführen", 1), ("HKWorkoutActivityTypeWalking", 2),
    ])
    func workoutsAreOneWhereTheActivityIs(activity: String, count: Int) throws {
        let named = EditedWorkoutTests.run(1800)
        var other = EditedWorkoutTests.run(1800, source: Origin.autoExportSource)
        other.payload = #"{"activity":"\#(activity)","weather":"rain"}"#
        for order in [[named, other], [other, named]] {
            let store = try StoreFixture()
            for record in order { try store.add([record]) }
            let rows = try store.alive()
            #expect(rows.count == count)
            if count == 1 {
                #expect(rows.first?.origin.sourceName == "Runner" && rows.first?.payload.contains("rain") == true)
            }
        }
    }

    /// The sample came from both imports, so it stays when one of them is taken back.
    @Test(arguments: [true, false]) func itWasBroughtByBoth(unnamedFirst: Bool) throws {
        let store = try StoreFixture()
        let export = ImportSession(source: "x", bringer: .importing(id: "a"))
        let phone = ImportSession(source: "y", bringer: .device("phone", way: "/v1/samples"))
        if unnamedFirst { try store.add([Self.unnamed[0]], phone) }
        try store.add([Self.named], export)
        if !unnamedFirst { try store.add([Self.unnamed[0]], phone) }
        var progress = try #require(try store.writer.beginTakingBack(.importing(id: "a")))
        let counts = try store.database.transaction { try store.writer.takeBack(&progress) }
        #expect(counts.taken.isEmpty && counts.kept == [Record().type: 1])
        #expect(try store.alive().count == 1)
    }
}
