import HealthModel
import HealthStore
import SQLite
import Testing

/// Quarantined input is checked again or dropped.
@Suite struct QuarantineTests {
    private let store: StoreFixture

    init() throws { store = try StoreFixture() }

    private func entries() throws -> [QuarantineEntry] { try store.reader.quarantine() }

    private func retry(_ rule: @escaping PlausibilityRule) throws -> Int {
        let all = try entries()
        return try store.database.transaction { try store.writer.retryQuarantined(all, plausibility: rule) }
    }

    @Test func whatPassesIsASampleOfANewVersion() throws {
        try store.add([Record(value: -5), Record(start: 1_700_009_000, value: 7)])
        try store.add([Record(value: -5)])
        #expect(try entries().map(\.seen) == [2])
        let before = try store.head()
        #expect(try retry(Record.plausibility) == 0)
        #expect(try store.head() == before && entries().count == 1)
        // If the reason changes, the new one is stored.
        #expect(try retry { _ in { _, _, _ in "it is odd" } } == 0)
        #expect(try entries().map(\.reason) == ["it is odd"])
        #expect(try retry { _ in { _, _, _ in nil } } == 1)
        #expect(try store.head() > before && entries().isEmpty)
        #expect(try store.alive().map(\.value).sorted { $0 ?? 0 < $1 ?? 0 } == [-5, 7])
        let head = try #require(try store.reader.heads().first)
        #expect(head.alive == 2 && head.quarantined == 0)
        // From now on it counts as the same sample.
        #expect(try store.add([Record(value: -5)]).known == 1)
    }

    /// A delivered sample keeps its id. A quarantined sample isn't delivered; if it took this id, a duplicate would
    /// remain.
    @Test(arguments: [[-5.0, 7, 9], [7, -5, 9], [7, 9, -5], [9, 7, -5]])
    func aQuarantinedSampleTakesNoOthersId(_ values: [Double]) throws {
        let plain = try StoreFixture()
        try plain.add([Record(value: 7), Record(value: 9)])
        for value in values { try store.add([Record(value: value)]) }
        #expect(try store.alive() == plain.alive())
        #expect(try store.alive().map(\.value).sorted { $0 ?? 0 < $1 ?? 0 } == [7, 9])
        #expect(try entries().count == 1)
    }

    @Test func whatIsDroppedNeverComesBack() throws {
        let input = QuarantinedInput(line: 4, reason: "startDate isn't a date", raw: "<Record type=\"T\" a=\"1\">")
        func quarantine() throws -> Int {
            try store.database.transaction {
                try store.writer.quarantine([input], session: ImportSession(source: "file"))
            }
        }
        try store.add([Record(value: -5)])
        #expect(try quarantine() == 1)
        let all = try entries()
        let records = try store.reader.quarantinedRecords(limit: 10)
        #expect(records.map(\.type) == ["HKQuantityTypeIdentifierStepCount", "T"])
        #expect(records.first?.sample?.value == -5 && records.last?.sample == nil)
        try store.database.transaction { try store.writer.dropQuarantined(all) }
        #expect(try entries().isEmpty && store.reader.quarantineCount() == 0)
        #expect(try store.add([Record(value: -5)]).deleted == 1)
        #expect(try quarantine() == 0)
        #expect(try entries().isEmpty && store.alive().isEmpty)
        let kept = try store.database.prepare("SELECT raw FROM quarantine").firstRow { $0.string(0) }
        #expect(kept == "")
    }

    /// Neither an import nor a dry run counts it as quarantined.
    @Test func whatIsDroppedCountsAsDeleted() throws {
        let inputs = [1, 2].map {
            QuarantinedInput(line: 4, reason: "startDate isn't a date", raw: "<Record a=\"\($0)\">")
        }
        #expect(try store.writer.areDropped(inputs) == [false, false])
        _ = try store.database.transaction {
            try store.writer.quarantine(inputs, session: ImportSession(source: "file"))
        }
        try store.database.transaction { try store.writer.dropQuarantined([try #require(try entries().first)]) }
        #expect(try store.writer.areDropped(inputs) == [true, false])
    }

    @Test func whatThereIsNoRoomForCountsAsDeletedOnceItIsDropped() throws {
        try store.add((0..<1000).map { Record(type: "Made\($0)") })
        let odd = Record(type: "Another")
        let first = try store.add([odd])
        #expect(first.quarantined == 1 && first.deleted == 0)
        let all = try entries()
        try store.database.transaction { try store.writer.dropQuarantined(all) }
        let session = ImportSession(source: "test", reportsOutcomes: true)
        let again = try store.add([odd], session)
        #expect(again.quarantined == 0 && again.deleted == 1 && session.outcomes == [.deleted])
        let tried = try store.writer.tryOut(
            Record.batch([odd]), session: ImportSession(source: "trial"), plausibility: Record.plausibility)
        #expect(tried.total.quarantined == 0 && tried.total.deleted == 1)
        #expect(try entries().isEmpty)
    }

    @Test func aConflictThatIsDroppedChangesNothing() throws {
        let uuid = SampleID(high: 7, low: 9)
        try store.add([Record(value: 10, uuid: uuid)])
        #expect(try store.add([Record(value: 20, uuid: uuid)]).conflicts == 1)
        let all = try entries()
        try store.database.transaction { try store.writer.dropQuarantined(all) }
        let again = try store.add([Record(value: 20, uuid: uuid)])
        #expect(again.known == 1 && again.quarantined == 0 && again.conflicts == 0)
        let tried = try store.writer.tryOut(
            Record.batch([Record(value: 20, uuid: uuid)]), session: ImportSession(source: "trial"),
            plausibility: Record.plausibility)
        #expect(tried.total == again)
        #expect(try store.add([Record(value: 30, uuid: uuid)]).quarantined == 1)
        #expect(try entries().count == 1)
    }

    @Test func aLaterVersionThatCannotBeTrueIsSetAside() throws {
        let uuid = SampleID(high: 7, low: 9)
        try store.add([Record(value: 10, uuid: uuid)])
        let later = Record(value: -3, metadata: #"{"HKMetadataKeySyncVersion":"2"}"#, uuid: uuid)
        for _ in 0..<2 { #expect(try store.add([later]).quarantined == 1) }
        #expect(try store.alive().map(\.value) == [10] && entries().count == 1)
    }

    /// An export has no UUIDs, and one that was made before a sample was changed has its former content. Whichever
    /// comes first, there is one sample, with its newest content.
    @Test(arguments: [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
    func aFormerContentIsNoOtherSample(order: [Int]) throws {
        let uuid = SampleID(high: 7, low: 9)
        let life = [
            Record(value: 94), Record(value: 94, metadata: #"{"HKMetadataKeySyncVersion":1}"#, uuid: uuid),
            Record(value: 194, metadata: #"{"HKMetadataKeySyncVersion":2}"#, uuid: uuid),
        ]
        for place in order { try store.add([life[place]]) }
        for record in life { #expect(try store.add([record]).added == 0) }
        #expect(try store.alive().map(\.value) == [194])
        // Being changed back is a change too.
        let back = Record(value: 94, metadata: #"{"HKMetadataKeySyncVersion":3}"#, uuid: uuid)
        try store.add([back])
        for record in life { #expect(try store.add([record]).added == 0) }
        #expect(try store.alive().map(\.value) == [94])
    }

    @Test func theContentThatWasntChosenIsNoOtherSample() throws {
        let uuid = SampleID(high: 7, low: 9)
        try store.add([Record(value: 184, uuid: uuid)])
        try store.add([Record(value: 191, uuid: uuid)])
        let entry = try #require(try entries().first)
        let conflict = try #require(RecordConflict(json: entry.raw))
        let end = try store.database.transaction {
            try store.writer.settle(entry, conflict, takesOther: true, plausibility: Record.plausibility)
        }
        #expect(end == .settled)
        #expect(try store.add([Record(value: 184)]).added == 0 && store.alive().map(\.value) == [191])
    }

    /// A statistic may be issued again, so one that is impossible makes way for the next.
    @Test(arguments: [true, false]) func aStatisticThatIsPutRightIsNotInQuarantine(isDropped: Bool) throws {
        var count = try store.add([hour(-5, 1)]).newlyQuarantined
        if isDropped {
            let all = try entries()
            try store.database.transaction { try store.writer.dropQuarantined(all) }
            count = 0
            for _ in 0..<2 { #expect(try store.add([hour(-5, 1)]).deleted == 1) }
        }
        count += try store.add([hour(-6, 2)]).newlyQuarantined
        #expect(try entries().count == 1 && count == 1)
        count += try store.add([hour(7, 3)]).newlyQuarantined
        #expect(try entries().isEmpty && count == 0)
        #expect(try store.alive().map(\.value) == [7])
    }

    private func hour(_ value: Double, _ created: Int64) -> Record {
        Record(type: HealthType.statistics(of: Record().type), value: value, created: created)
    }

    /// Anyone who had the statistic learns that it is gone.
    @Test func aStatisticThatBecomesImpossibleIsGone() throws {
        try store.add([hour(500, 1)])
        let before = try store.head()
        let counts = try store.add([hour(-5, 2)])
        #expect(counts.quarantined == 1 && counts.newlyQuarantined == 1)
        let head = try store.head()
        #expect(try head > before && store.changes().samples.flags == [.deleted])
        let again = try store.add([hour(-5, 2)])
        #expect(again.quarantined == 1 && again.newlyQuarantined == 0)
        #expect(try store.head() == head && entries().count == 1)
        #expect(try store.add([hour(600, 3)]).newlyQuarantined == -1)
        #expect(try store.alive().map(\.value) == [600] && entries().isEmpty)
    }

    /// The release that introduced conflicts identified each of them by its complete text, including the content that
    /// the sample had.
    @Test func conflictsOfAnEarlierReleaseStayWhatTheyAre() throws {
        let uuid = SampleID(high: 7, low: 9)
        try store.add([Record(value: 10, uuid: uuid)])
        func conflict(_ value: Double, kept: Double = 10) -> RecordConflict {
            let content = { (value: Double) in
                RecordConflict.Content(
                    start: Instant(seconds: 1_700_000_000), end: Instant(seconds: 1_700_000_060), value: value,
                    unit: "count")
            }
            return RecordConflict(
                type: Record().type, uuid: uuid.description, source: Record().source, other: content(value),
                kept: content(kept))
        }
        let old = [20.0, 30, 40].map {
            QuarantinedInput(line: 1, reason: RecordConflict.reason, raw: conflict($0).json)
        }
        _ = try store.database.transaction { try store.writer.quarantine(old, session: ImportSession(source: "test")) }
        try store.database.transaction { try store.writer.dropQuarantined([try #require(try entries().first)]) }
        for value in [20.0, 30, 40] { try store.add([Record(value: value, uuid: uuid)]) }
        #expect(try entries().map(\.seen) == [2, 2])
        let entry = try #require(try entries().first)
        let end = try store.database.transaction {
            try store.writer.settle(entry, conflict(30), takesOther: true, plausibility: Record.plausibility)
        }
        #expect(end == .settled)
        #expect(try entries().map(\.raw) == [conflict(40, kept: 30).json])
        for value in [10.0, 40, 30] { try store.add([Record(value: value, uuid: uuid)]) }
        #expect(try entries().map(\.seen) == [3])
    }

    /// The content that a person chooses may have another time, and so become another row. Of the version and device,
    /// only what the sample of the same source says is known.
    @Test(arguments: [("Anna’s Apple Watch", "11.4", "Watch6,1"), ("Scale", "", "")])
    func contentOfAnotherTimeKeepsItsOrigin(_ source: String, _ version: String, _ product: String) throws {
        let uuid = SampleID(high: 7, low: 9)
        let held = Record(
            version: "11.4", product: "Watch6,1", device: "model:Watch", metadata: #"{"a":"1"}"#, uuid: uuid)
        try store.add([held])
        #expect(try store.add([Record(source: source, start: 1_700_009_000, value: 7, uuid: uuid)]).conflicts == 1)
        let entry = try #require(try entries().first)
        let conflict = try #require(RecordConflict(json: entry.raw))
        let end = try store.database.transaction {
            try store.writer.settle(entry, conflict, takesOther: true, plausibility: Record.plausibility)
        }
        #expect(end == .settled)
        let page = try store.changes().samples
        let row = try #require(page.flags.indices.first { !page.flags[$0].contains(.deleted) })
        #expect(page.value[row] == 7 && page.healthKitUUID[row] == uuid && page.metadata[row] == #"{"a":"1"}"#)
        let origin = page.originOf(row)
        #expect(origin.sourceName == source && origin.sourceVersion == version && origin.productType == product)
        #expect(origin.device == (version.isEmpty ? "" : held.device))
    }

    /// A way in says which members of its items name their type.
    @Test func theMembersThatNameAnItemAreTheSenders() throws {
        let raws = [#"{"type":"T","metric":"m","v":7}"#, #"{"v": 7, "metric": "m", "x": "cut o…"#]
        try store.database.transaction {
            _ = try store.writer.quarantine(
                raws.map { QuarantinedInput(line: 1, reason: "r", raw: $0) }, session: ImportSession(source: "/v1/x"))
        }
        let records = try store.reader.quarantinedRecords(limit: 10) { $0.source == "/v1/x" ? ["metric"] : ["type"] }
        #expect(records.map(\.type) == ["m", "m"])
        #expect(try store.reader.quarantinedRecords(limit: 10).map(\.type) == ["T", nil])
    }

    /// If a tag is missing a quote, the rest of it isn't taken for the name of a type.
    @Test(
        arguments: [
            (#"<Record type="T" a="1">"#, "T", "T"),
            (#"<Record type="T sourceName="Watch" unit="count"/>"#, nil, "(damaged Record)"),
            (#"<Record type="HKQuantityTypeIdentifierStepC"#, nil, "(damaged Record)"),
            (#"<Record type="T<Record type="U"/>"#, nil, "(damaged Record)"),
            (#"<Record unit="count"/>"#, nil, "(Record without type)"),
            (#"Record type="T"/>"#, "T", "T"), ("x y", nil, "(unreadable)"),
            (#"{"type":"T","start":7}"#, "T", "T"), (#"{"start":7}"#, nil, "(item without type)"),
            (#"{"name":"step_count","units":"count","data":[{"qty":"x"}]}"#, "step_count", "step_count"),
            (#"{"workouts":[{"name":"Run"}]}"#, "workouts", "workouts"),
            (#"{"start": 7, "type": "T", "source": "Wat…"#, "T", "T"), (#"{"type": 7…"#, nil, "(item without type)"),
        ] as [(String, String?, String)])
    func aTypeIsOneOrTheRecordIsDamaged(raw: String, type: String?, shown: String) throws {
        #expect(HealthStoreReader.typeOrElement(of: raw) == shown)
        try store.database.transaction {
            _ = try store.writer.quarantine(
                [QuarantinedInput(line: 4, reason: "r", raw: raw)], session: ImportSession(source: "file"))
        }
        #expect(try store.reader.quarantinedRecords(limit: 10).map(\.type) == [type])
    }

    @Test func aStoreOfAnEarlierReleaseIsBroughtUpToDate() throws {
        try store.add([Record(value: -5)])
        for column in ["seen", "dropped"] {
            try store.database.execute("ALTER TABLE quarantine DROP COLUMN \(column)")
        }
        try store.database.execute("DELETE FROM store_schema; INSERT INTO store_schema VALUES (2)")
        let again = try Database(path: store.path)
        try again.transaction { try HealthStoreSchema.create(in: again) }
        #expect(try HealthStoreReader(database: again).quarantine().map(\.seen) == [1])
    }
}
