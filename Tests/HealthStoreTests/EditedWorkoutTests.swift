import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A workout that was edited has a different end. If there is no doubt, it replaces its earlier version, whichever of
/// the two arrives first.
@Suite struct EditedWorkoutTests {
    private let store: StoreFixture

    init() throws { store = try StoreFixture() }

    /// A run that lasts this many seconds; by default, all runs have the same start.
    static func run(
        _ seconds: Double, source: String = "Runner", start: Double = 1_700_000_000, activity: String = "Running",
        uuid: SampleID? = nil
    ) -> Record {
        Record(
            type: HealthType.workoutIdentifier, source: source, start: start, length: seconds, value: .nan, unit: "",
            payload: #"{"activity":"HKWorkoutActivityType\#(activity)"}"#, uuid: uuid)
    }

    private static func day(_ number: Int64) -> Instant { Instant(seconds: 1_700_100_000 + number * 86_400) }

    /// Imports an export of one day.
    private func read(_ day: Int64, _ records: [Record], isWhole: Bool = true, bringer: Bringer? = nil) throws {
        let session = ImportSession(source: "export \(day)", bringer: bringer)
        session.exported = Self.day(day)
        try store.add(records, session)
        try store.database.transaction {
            _ = try store.writer.settleWorkouts(wholeExport: isWhole ? Self.day(day) : nil)
        }
    }

    private func push(_ day: Int64, _ records: [Record]) throws {
        try store.add(records, ImportSession(source: "push", pushed: Self.day(day)))
        try store.database.transaction { _ = try store.writer.settleWorkouts() }
    }

    /// The lengths of the workouts that aren't deleted, in seconds.
    private func lengths() throws -> [Int] { try store.alive().map { Int(($0.end - $0.start).seconds) }.sorted() }

    /// The earlier versions, as listed in the payload of the longest workout.
    private func replaces() throws -> Value {
        let row = try #require(try store.alive().max { $0.end < $1.end })
        return try Value(json: row.payload.utf8)["replaces"]
    }

    private func earlier(_ seconds: Int64, seenOn day: Int64) -> Value {
        [
            "end": .string(InstantText.iso8601(Instant(seconds: 1_700_000_000 + seconds))),
            "on": .string(InstantText.iso8601(Self.day(day))),
        ]
    }

    @Test(arguments: [[1, 2], [2, 1], [1, 2, 1], [2, 1, 2, 2]]) func theNewerExportsIsLeft(days: [Int64]) throws {
        for day in days { try read(day, [Self.run(day == 1 ? 1800 : 1900)]) }
        #expect(try lengths() == [1900])
        #expect(try replaces() == [earlier(1800, seenOn: 2)])
        // Nothing changes when the same content arrives again.
        let head = try store.head()
        for day in days { try read(day, [Self.run(day == 1 ? 1800 : 1900)]) }
        #expect(try store.head() == head)
    }

    /// A workout that was made shorter replaces its earlier version too.
    @Test func theEndMayBeEarlier() throws {
        try read(1, [Self.run(1900)])
        try read(2, [Self.run(1800)])
        #expect(try lengths() == [1800] && replaces() == [earlier(1900, seenOn: 2)])
    }

    @Test(arguments: [[1, 2, 3], [3, 1, 2], [2, 3, 1], [3, 2, 1]]) func eachVersionReplacesTheOneBefore(
        days: [Int64]
    ) throws {
        for day in days { try read(day, [Self.run(Double(1700 + 100 * day))]) }
        #expect(try lengths() == [2000])
        #expect(try replaces() == [earlier(1800, seenOn: 2), earlier(1900, seenOn: 3)])
    }

    /// If an export made between the two shows that both existed, they stay separate, whichever arrived first.
    @Test(arguments: [[1, 2, 3], [3, 1, 2], [1, 3, 2], [2, 3, 1]]) func whatWasThereTogetherStaysTwo(
        days: [Int64]
    ) throws {
        let content: [Int64: [Record]] = [
            1: [Self.run(1800)], 2: [Self.run(1800), Self.run(1900)], 3: [Self.run(1900)],
        ]
        for day in days { try read(day, content[day] ?? []) }
        #expect(try lengths() == [1800, 1900])
        #expect(try replaces().isNull)
    }

    @Test(arguments: [
        run(1900, source: "Watch"), run(1900, start: 1_700_000_001), run(1900, activity: "Walking"),
        run(1900, uuid: uuid(7)),
    ])
    func whatDiffersInMoreThanTheEndIsAnother(_ other: Record) throws {
        try read(1, [Self.run(1800)])
        try read(2, [other])
        #expect(try store.alive().count == 2 && lengths() == [1800, 1900])
    }

    /// Other activities with the same start don't matter.
    @Test func eachActivityIsLookedAtByItself() throws {
        let walk = Self.run(700, activity: "Walking")
        try read(1, [Self.run(1800), walk])
        try read(2, [Self.run(1900), walk, Self.run(1950, activity: "Cycling", uuid: uuid(9))])
        #expect(try lengths() == [700, 1900, 1950])
    }

    /// A file without the date on which it was made proves nothing, and restores nothing.
    @Test func anExportWithoutADateChangesNothing() throws {
        try read(1, [Self.run(1800)])
        try read(2, [Self.run(1900)])
        let head = try store.head()
        #expect(try store.add([Self.run(1800)]).known == 1)
        try store.database.transaction { _ = try store.writer.settleWorkouts() }
        #expect(try lengths() == [1900] && store.head() == head)
    }

    /// An app wrote the workout twice in one export, so it isn't known which of the two is replaced by the third.
    @Test func ofSeveralNobodyKnowsWhich() throws {
        try read(1, [Self.run(1800), Self.run(1850)])
        try read(2, [Self.run(1900)])
        #expect(try lengths() == [1800, 1850, 1900])
    }

    @Test func aDamagedExportReplacesNothingAndAWholeOneDoes() throws {
        try read(1, [Self.run(1800)])
        try read(2, [Self.run(1900)], isWhole: false)
        #expect(try lengths() == [1800, 1900])
        try read(3, [Self.run(1900)])
        #expect(try lengths() == [1900] && replaces() == [earlier(1800, seenOn: 2)])
    }

    /// A push shows what exists, but not what is missing.
    @Test func aPushReplacesNothingByItself() throws {
        try read(1, [Self.run(1800)])
        try push(2, [Self.run(1900)])
        #expect(try lengths() == [1800, 1900])
        try read(3, [Self.run(1900)])
        #expect(try lengths() == [1900])
        // A push of the older version shows that it exists.
        try push(4, [Self.run(1800)])
        #expect(try lengths() == [1800, 1900] && replaces().isNull)
    }

    @Test func takenBackItGivesWayToTheOneBefore() throws {
        try read(1, [Self.run(1800)], bringer: .importing(id: "a"))
        try read(2, [Self.run(1900)], bringer: .importing(id: "b"))
        try takeBack(.importing(id: "b"))
        #expect(try lengths() == [1800])
        try read(2, [Self.run(1900)], bringer: .importing(id: "c"))
        #expect(try lengths() == [1900])
        // A version that was taken back doesn't come back this way.
        try takeBack(.importing(id: "a"))
        try takeBack(.importing(id: "c"))
        #expect(try lengths().isEmpty)
    }

    private func takeBack(_ choice: BringerChoice) throws {
        guard var progress = try store.writer.beginTakingBack(choice) else {
            Issue.record("nothing is noted of \(choice)")
            return
        }
        while !progress.isDone {
            _ = try store.database.transaction { try store.writer.takeBack(&progress) }
        }
    }

    /// For samples stored by an earlier release, it isn't known when they were seen.
    @Test func ofWhatWasThereBeforeNothingIsReplaced() throws {
        try store.add([Self.run(1800), Self.run(1900)])
        try read(1, [Self.run(1800)])
        try read(2, [Self.run(1900)])
        // This release created the store, so samples without a note count as seen for the first time.
        #expect(try lengths() == [1900])
        let old = try StoreFixture()
        try old.add([Self.run(1800), Self.run(1900)])
        try old.database.execute("UPDATE workout_sightings_since SET sequence = \(try old.head().value)")
        old.writer = try HealthStoreWriter(
            database: old.database, user: "anna", sequences: old.sequences, leastInBlock: 2)
        for (day, length) in [(Int64(1), 1800.0), (2, 1900)] {
            let session = ImportSession(source: "export")
            session.exported = Self.day(day)
            try old.add([Self.run(length)], session)
            try old.database.transaction { _ = try old.writer.settleWorkouts(wholeExport: Self.day(day)) }
        }
        #expect(try old.alive().count == 2)
    }
}
