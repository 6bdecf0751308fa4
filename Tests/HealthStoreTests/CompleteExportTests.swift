import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

@Suite struct CompleteExportTests {
    private static let start = 1_700_000_000.0
    private static let heartRate = "HKQuantityTypeIdentifierHeartRate"

    /// A whole import: stores the records, then deletes the samples that they lack, in small steps with a transaction
    /// for each.
    /// - Parameter interruptedAfter: the number of deletion steps after which everything starts over, as after a crash.
    @discardableResult
    private func complete(
        _ store: StoreFixture, _ records: [Record], at date: Double = 1_800_000_000, before: SequenceNumber? = nil,
        interruptedAfter steps: Int = .max
    ) throws -> [String: Int] {
        let before = before ?? store.sequences.sequence
        let session = ImportSession(source: "complete")
        for batch in stride(from: 0, to: records.count, by: 7) {
            try store.add(Array(records[batch..<min(batch + 7, records.count)]), session)
        }
        let export = CompleteExport(session: session, date: Instant(microseconds: Int64(date * 1e6)), before: before)
        var progress = AbsenceProgress()
        var deleted: [String: Int] = [:]
        var step = 0
        while !progress.isDone {
            if step == steps {
                return deleted.merging(
                    try complete(store, records, at: date, before: before), uniquingKeysWith: +)
            }
            step += 1
            let gone = try store.database.transaction {
                try store.writer.deleteAbsent(from: export, &progress, limit: 3)
            }
            deleted.merge(gone, uniquingKeysWith: +)
        }
        return deleted
    }

    private func life(_ count: Int, from: Double = start, type: String = Record().type) -> [Record] {
        (0..<count).map { Record(type: type, start: from + Double($0) * 100, value: Double($0 + 1)) }
    }

    @Test func deletesWhatItLacksAndALaterOneLiftsIt() throws {
        let store = try StoreFixture()
        let life = life(10)
        try store.add(life)
        let ids = Set(try store.alive().map(\.id))
        #expect(try complete(store, Array(life.prefix(6))) == [Record().type: 4])
        #expect(try store.alive().count == 6)
        let head = try #require(try store.reader.heads().first)
        #expect(head.alive == 6)
        #expect(head.deleted == 4)
        #expect(head.lastStart == 1_700_000_500_000_000)
        #expect(head.lastEnd == 1_700_000_560_000_000)

        let counts = try store.add(life)
        #expect(counts.revived == 4)
        #expect(counts.known == 6)
        #expect(Set(try store.alive().map(\.id)) == ids)
        #expect(try store.reader.heads().first?.lastStart == 1_700_000_900_000_000)
    }

    @Test func coversItsTypesFromTheirFirstRecordOn() throws {
        let store = try StoreFixture()
        try store.add(life(10) + life(4, type: Self.heartRate))
        // The export starts with the fifth step sample, and has no heart rates.
        #expect(try complete(store, [life(10)[4]]) == [Record().type: 5])
        #expect(
            try store.alive().filter { $0.type == Record().type }.map(\.value).compactMap { $0 }.sorted() == [
                1, 2, 3, 4, 5,
            ])
        #expect(try store.alive().filter { $0.type == Self.heartRate }.count == 4)
        #expect(try complete(store, []).isEmpty)
    }

    @Test func sparesWhatTheExportCouldNotHold() throws {
        let store = try StoreFixture()
        let first = Record(start: Self.start - 1000)
        try store.add([
            first, Record(start: Self.start, flags: RecordFlags.manual.rawValue), Record(start: Self.start + 1000),
            Record(start: Self.start + 100, created: Int64(Self.start) + 900),
            Record(start: Self.start + 200, value: 3),
            Record(start: Self.start + 210, uuid: uuid(7)),
        ])
        let before = store.sequences.sequence
        // This sample arrives while the export is being read.
        try store.add([Record(start: Self.start + 300)])
        #expect(try complete(store, [first], at: Self.start + 500, before: before) == [Record().type: 1])
        #expect(try store.alive().contains { $0.value == 3 } == false)
        #expect(try store.alive().count == 6)
    }

    /// A scale's program that pushes without UUIDs isn't in any export.
    @Test func sparesWhatOnlyDevicesBrought() throws {
        let store = try StoreFixture()
        let (first, second) = (Record(start: Self.start - 1000), Record(start: Self.start + 100))
        try store.add([first])
        let pushed = [second, Record(start: Self.start + 200, value: 3)]
        try store.add(pushed, ImportSession(source: "push", bringer: .device("scale", way: "samples")))
        // An export that has one of them also brings it, so the next one may take it away.
        #expect(try complete(store, [first, second], at: Self.start + 500) == [:])
        #expect(try complete(store, [first], at: Self.start + 500) == [Record().type: 1])
        #expect(try store.alive().map(\.value).contains(3))
    }

    /// A new record with the same second, source and end but a smaller value replaces the older one, and its sequence
    /// number changes.
    @Test func findsWhatHasMovedWhileItWasRead() throws {
        let store = try StoreFixture()
        try store.add([Record(value: 5)])
        #expect(try complete(store, [Record(value: 3)]) == [Record().type: 1])
        #expect(try store.alive().map(\.value) == [3])
        #expect(try complete(store, [Record(value: 5)]) == [Record().type: 1])
        #expect(try store.alive().map(\.value) == [5])
    }

    /// A person's data as it occurs in exports, with repeats, and with several values for one key.
    private func random(_ random: inout SeededGenerator) -> [Record] {
        (0..<Int.random(in: 1...40, using: &random)).map { _ in
            Record(
                type: Bool.random(using: &random) ? Record().type : Self.heartRate,
                source: Bool.random(using: &random) ? "Watch" : "Phone",
                start: Self.start + Double(Int.random(in: 0...12, using: &random)) * 100,
                value: Double(Int.random(in: 1...4, using: &random)))
        }
    }

    private struct Content: Hashable {
        var type: String
        var source: String
        var start: Instant
        var end: Instant
        var value: Double?
    }

    private func content(_ store: StoreFixture) throws -> [Content: Int] {
        var counts: [Content: Int] = [:]
        for row in try store.alive() {
            counts[
                .init(type: row.type, source: row.origin.sourceName, start: row.start, end: row.end, value: row.value),
                default: 0] += 1
        }
        return counts
    }

    /// Where B covers the same data, importing A and then B gives the same result as importing B alone; the rest of A
    /// stays. A crash in between changes nothing.
    @Test(arguments: 1...150)
    func theLatestCompleteExportIsTheWholeTruth(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let a = random(&generator)
        let b = random(&generator)
        let alone = try StoreFixture()
        try complete(alone, b)
        let both = try StoreFixture()
        try complete(both, a)
        try complete(both, b, interruptedAfter: Int.random(in: 0...6, using: &generator))
        let first = Dictionary(b.map { ($0.type, $0.start) }, uniquingKeysWith: min)
        func isCovered(_ content: Content) -> Bool {
            first[content.type].map { content.start >= Instant(microseconds: Int64($0 * 1e6)) } ?? false
        }
        let before = try StoreFixture()
        try complete(before, a)
        let expected = try content(alone).filter { isCovered($0.key) }
            .merging(content(before).filter { !isCovered($0.key) }) { first, _ in first }
        #expect(try content(both) == expected)
        // After another import of A, everything in A is there again, exactly once.
        try complete(both, a + b)
        let all = try StoreFixture()
        try complete(all, a + b)
        #expect(try content(both) == content(all))
        // The counts in the heads are still right.
        let alive = Dictionary(grouping: try both.alive(), by: \.type).mapValues(\.count)
        for head in try both.reader.heads() { #expect(head.alive == alive[head.type] ?? 0) }
    }

    @Test(arguments: 1...50)
    func aTrialSaysWhatWouldHappenAndChangesNothing(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let store = try StoreFixture()
        if seed > 5 { try complete(store, random(&generator)) }
        let records = random(&generator) + [Record(start: Self.start + 5000, value: -1)]
        let before = try (store.alive(), store.sequences.sequence, store.reader.quarantine().count)
        let session = ImportSession(source: "trial")
        var progress = AbsenceProgress()
        var absent = AbsenceCounts()
        let tried = try store.writer.tryOut(
            Record.batch(records), session: session, plausibility: Record.plausibility)
        let export = CompleteExport(
            session: session, date: 1_800_000_000_000_000, before: store.sequences.sequence)
        while !progress.isDone { absent += try store.writer.countAbsent(from: export, &progress, limit: 3) }
        let after = try (store.alive(), store.sequences.sequence, store.reader.quarantine().count)
        #expect(after.0 == before.0 && after.1 == before.1 && after.2 == before.2)
        #expect(try store.reader.userNames().isEmpty == (seed <= 5))

        let head = store.sequences.sequence
        let counts = try store.add(records)
        #expect(tried.total.added == counts.added && tried.total.quarantined == counts.quarantined)
        #expect(tried.total.revived == counts.revived && tried.total.known == counts.known + counts.joined)
        #expect(try complete(store, records, before: head) == absent.absent)
        #expect(absent.absent.allSatisfy { $0.value <= absent.covered[$0.key] ?? 0 })
    }

    /// Blood pressures as they occur in exports: at the top level, and again as parts of correlations; some occur only
    /// once.
    private func readings(_ random: inout SeededGenerator) -> [Record] {
        let pressure = "HKQuantityTypeIdentifierBloodPressure"
        var (records, parts): ([Record], [Record]) = ([], [])
        for _ in 0..<Int.random(in: 1...25, using: &random) {
            let reading = Record(
                type: pressure + (Bool.random(using: &random) ? "Systolic" : "Diastolic"),
                start: Self.start + Double(Int.random(in: 0...5, using: &random)) * 100,
                value: Double(Int.random(in: -1...3, using: &random)), unit: "mmHg")
            let times = Int.random(in: 0...5, using: &random)
            if times != 0 { records.append(reading) }
            if times != 1 {
                var part = reading
                part.flags = RecordFlags.correlationChild.rawValue
                parts.append(part)
            }
        }
        return records + parts
    }

    /// The counts match however the input is divided into batches, whether the samples are new, known, or were deleted
    /// before.
    @Test(arguments: 1...120)
    func aTrialCountsPartsOfCorrelationsAsAnImportDoes(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let store = try StoreFixture()
        if seed % 3 > 0 { try store.add(readings(&generator)) }
        let records = readings(&generator)
        if seed % 3 > 1 {
            // These samples are missing from a later export, and then come back.
            let ends = ["Systolic", "Diastolic"].map {
                Record(type: "HKQuantityTypeIdentifierBloodPressure" + $0, start: Self.start - 100, value: 9)
            }
            try store.add(records)
            try complete(store, ends)
        }
        let size = Int.random(in: 1...12, using: &generator)
        let batches = stride(from: 0, to: records.count, by: size).map {
            Array(records[$0..<min($0 + size, records.count)])
        }
        let session = ImportSession(source: "trial")
        var tried = IngestCounts()
        for batch in batches {
            tried += try store.writer.tryOut(
                Record.batch(batch), session: session, plausibility: Record.plausibility)
        }
        let real = ImportSession(source: "import")
        var counts = IngestCounts.Tally()
        for batch in batches { counts += try store.add(batch, real) }
        #expect(tried.total.added == counts.added && tried.total.revived == counts.revived)
        #expect(tried.total.known == counts.known + counts.joined && tried.total.quarantined == counts.quarantined)
        if seed % 3 > 1 { #expect(counts.revived > 0 || records.allSatisfy { $0.value < 0 }) }
    }
}
