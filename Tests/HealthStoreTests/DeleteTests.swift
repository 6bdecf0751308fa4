import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

@Suite struct DeleteTests {
    private func delete(_ store: StoreFixture, _ uuids: SampleID...) throws -> Int {
        try store.database.transaction { try store.writer.delete(uuids: uuids) }
    }

    @Test func aTombstoneKeepsTypeStartAndEndAtANewSequence() throws {
        let store = try StoreFixture()
        try store.add([Record(uuid: uuid(1))])
        let before = try store.changes()
        #expect(try delete(store, uuid(1)) == 1)
        let after = try store.changes()
        #expect(after.samples.ids == before.samples.ids)
        #expect(after.samples.flags == [.deleted])
        #expect(after.samples.start == before.samples.start)
        #expect(after.samples.end == before.samples.end)
        #expect(after.samples.sequence[0] > before.samples.sequence[0])
        let head = try store.head()
        #expect(try delete(store, uuid(1)) == 0)
        #expect(try store.head() == head)
    }

    @Test func aDeleteByUUIDIsForGood() throws {
        let store = try StoreFixture()
        try store.add([Record(uuid: uuid(1))])
        _ = try delete(store, uuid(1))
        #expect(try store.add([Record(uuid: uuid(1))]).deleted == 1)
        // An older export still has the sample, without its UUID.
        #expect(try store.add([Record()]).deleted == 1)
        #expect(try store.alive().isEmpty)
        // A different sample with the same content.
        #expect(try store.add([Record(uuid: uuid(2))]).added == 1)
    }

    @Test func aDeleteIsRememberedBeforeItsSampleIsSeen() throws {
        let store = try StoreFixture()
        #expect(try delete(store, uuid(1)) == 0)
        #expect(try store.add([Record(uuid: uuid(1))]).deleted == 1)
        #expect(try store.add([Record(uuid: uuid(1))]).deleted == 1)
        #expect(try store.alive().isEmpty)
        #expect(try store.reader.heads().first?.alive == 0)
    }

    @Test func aLateUUIDTakesTheSampleThatAnExportBroughtWithIt() throws {
        let store = try StoreFixture()
        try store.add([Record()])
        _ = try delete(store, uuid(1))
        #expect(try store.alive().count == 1)
        #expect(try store.add([Record(uuid: uuid(1))]).deleted == 1)
        #expect(try store.alive().isEmpty)
    }

    /// An earlier release left such entries where a followed store had the sample without its UUID.
    @Test func aUUIDThatLeadsNowhereIsUnknown() throws {
        let store = try StoreFixture()
        try store.add([Record(uuid: uuid(1))])
        try store.database.execute("UPDATE samples SET seq = seq - 1, uuid = NULL")
        #expect(try store.add([Record(uuid: uuid(1))]).joined == 1)
        #expect(try delete(store, uuid(1)) == 1)
    }

    @Test(arguments: [1_700_000_000.0, -500.5, 0.0])
    func deletesByID(_ start: Double) throws {
        let store = try StoreFixture()
        try store.add([Record(start: start), Record(type: "Other", start: start)])
        let ids = try store.alive().filter { $0.type != "Other" }.map(\.id)
        #expect(try store.database.transaction { try store.writer.delete(ids: ids) } == 1)
        #expect(try store.alive().map(\.type) == ["Other"])
        #expect(try store.add([Record(start: start)]).deleted == 1)
    }

    @Test(arguments: [2, .max]) func samplesBefore1970AreFoundByTheirIDs(_ leastInBlock: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        try store.add([Record(start: -500.5), Record(start: -300), Record(start: 0.5)])
        for row in try store.alive() { #expect(try store.reader.sample(row.id)?.start == row.start) }
    }

    @Test func implausibleSamplesAreKeptApart() throws {
        let store = try StoreFixture()
        let file = [Record(value: -1, line: 12), Record(start: 5, length: -1, value: 1, line: 13), Record(start: 9)]
        let counts = try store.add(file)
        #expect(counts.quarantined == 2)
        #expect(counts.added == 1)
        let head = try store.head()
        let again = try store.add(file)
        #expect(again.known == 1 && again.quarantined == 2 && again.newlyQuarantined == 0)
        #expect(try store.head() == head)
        #expect(try store.changes().samples.count == 1)
        #expect(try store.reader.heads().first?.quarantined == 2)
        let entries = try store.reader.quarantine()
        #expect(Set(entries.map(\.line)) == [12, 13])
        #expect(entries.allSatisfy { $0.source == "test" && $0.sample != nil && !$0.reason.isEmpty })
        let day = SliceQuery(user: "anna", types: .allExcept([]), ranges: [0..<2_000_000_000_000_000])
        #expect(try store.slice(day).count == 1)
    }

    @Test func extremeTimesAreQuarantinedNotACrash() throws {
        let store = try StoreFixture()
        var batch = Record.batch([Record(), Record(), Record()])
        batch.start = [.min, .max, 0]
        batch.end = [.max, .min, .max]
        let counts = try store.database.transaction {
            try store.writer.ingest(
                batch, session: ImportSession(source: "x"), plausibility: { _ in { _, _, _ in nil } })
        }
        #expect(counts.total.quarantined == 3)
    }

    @Test func whatIsNotUnderstoodIsKeptOnce() throws {
        let store = try StoreFixture()
        let inputs = [
            QuarantinedInput(line: 3, reason: "startDate isn't a date", raw: "<Record/>"),
            QuarantinedInput(line: 9, reason: "no type", raw: "<Record a=\"\"/>"),
        ]
        for expected in [2, 0] {
            let added = try store.database.transaction {
                try store.writer.quarantine(inputs, session: ImportSession(source: "export.zip"))
            }
            #expect(added == expected)
        }
        let first = try store.reader.quarantine(limit: 1)
        #expect(first.map(\.reason) == ["startDate isn't a date"])
        #expect(try store.reader.quarantine(after: first[0].number).map(\.line) == [9])
        #expect(try store.reader.quarantine(user: "nobody").isEmpty)
    }

    @Test func summariesAreKeptOnce() throws {
        let store = try StoreFixture()
        func upsert(_ payload: String, _ exported: Instant?) throws -> Int {
            try store.database.transaction {
                try store.writer.upsertActivitySummaries(
                    [ActivitySummaryRecord(date: "2025-03-30", payload: payload)], exported: exported)
            }
        }
        let march = LocalDay(year: 2025, month: 3, day: 1)
        func kept() throws -> [String] {
            try store.reader.activitySummaries(user: "anna", from: march, through: march.adding(days: 30)).map(
                \.payload)
        }
        #expect(try upsert("{}", 5) == 1)
        #expect(try upsert("{}", 5) == 0)
        #expect(try upsert(#"{"a":1}"#, 6) == 1)
        // An older export, or one without a date, restores nothing.
        #expect(try upsert("{}", 5) == 0)
        #expect(try upsert(#"{"b":1}"#, nil) == 0)
        #expect(try kept() == [#"{"a":1}"#])
        // The older summary arrives again, but was confirmed more recently.
        #expect(try upsert("{}", 9) == 1)
        #expect(try upsert(#"{"a":1}"#, 7) == 0)
        #expect(try kept() == ["{}"])
    }

    @Test func aStoreOfTheFirstLayoutIsBroughtUpToDate() throws {
        let store = try StoreFixture()
        try store.database.transaction {
            try store.database.execute("ALTER TABLE activity_summaries DROP COLUMN exported")
            try store.database.execute("ALTER TABLE quarantine DROP COLUMN seen")
            try store.database.execute("ALTER TABLE quarantine DROP COLUMN dropped")
            try store.database.execute("UPDATE store_schema SET version = 1")
            try store.database.execute("INSERT INTO users VALUES (1, 'anna')")
            try store.database.execute("INSERT INTO activity_summaries VALUES (1, '2025-03-30', '{\"old\":1}')")
            try HealthStoreSchema.create(in: store.database)
            try store.writer.upsertActivitySummaries(
                [ActivitySummaryRecord(date: "2025-03-30", payload: "{}")], exported: 1)
            // When this is done a second time, nothing is left to do.
            try HealthStoreSchema.create(in: store.database)
        }
        let day = LocalDay(year: 2025, month: 3, day: 30)
        #expect(try store.reader.activitySummaries(user: "anna", from: day, through: day).map(\.payload) == ["{}"])
    }
}
