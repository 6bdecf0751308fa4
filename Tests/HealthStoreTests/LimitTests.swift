import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Limits that no input may exceed, no matter what it contains.
@Suite struct LimitTests {
    private static let year = 31_557_600.0

    private func spans(_ store: StoreFixture) throws -> [TouchedSpan] {
        try store.reader.spans(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: 0)),
            limits: PullLimits(rows: 1000, bytes: .max, scanned: 1000)
        ).spans
    }

    @Test func timesThatNoSampleHasAreQuarantinedWhateverTheRule() throws {
        let store = try StoreFixture()
        let times: [(Double, Double)] = [
            (0, 70_000_000_000), (-62_000_000_000, 60), (250_000_000_000, 60), (-62_000_000_000, 64_000_000_000),
        ]
        let records = times.map { Record(start: $0.0, length: $0.1) }
        let counts = try store.database.transaction {
            try store.writer.ingest(
                Record.batch(records), session: ImportSession(source: "x"), plausibility: { _ in { _, _, _ in nil } })
        }
        #expect(counts.total.quarantined == 4)
        #expect(try spans(store).isEmpty)
    }

    /// Rows that an earlier release accepted.
    @Test func rowsOfAnEarlierReleaseStallNobody() throws {
        let store = try StoreFixture(leastInBlock: .max)
        try store.add([Record(start: 1_700_000_000), Record(start: 1_700_100_000), Record(start: 1_700_200_000)])
        try store.database.execute(
            """
            UPDATE samples SET duration = 62392211200000000 WHERE second = 1700000000;
            UPDATE samples SET second = -62000000000 WHERE second = 1700100000;
            """)
        let day = Duration.seconds(86_400)
        #expect(try spans(store).allSatisfy { $0.end - $0.start < day && $0.start > Instant(seconds: 1_600_000_000) })
        #expect(try spans(store).count == 2)
        func count(_ range: Range<Instant>) throws -> Int {
            try store.slice(SliceQuery(user: "anna", types: .allExcept([]), ranges: [range])).count
        }
        let start = Instant(seconds: 1_700_000_000)
        // The sample belongs only to the moment when it began.
        #expect(try count(start - day..<start + day) == 1)
        #expect(try count(start + day * 300..<start + day * 301) == 0)
        #expect(try count(Instant(microseconds: .min / 2)..<start - day) == 0)
    }

    @Test func typesAndUnitsAreNotMadeUpWithoutEnd() throws {
        let store = try StoreFixture()
        let many = (0..<1500).map { Record(type: "Made\($0)", start: 1_700_000_000, unit: "count") }
        #expect(try store.add(Array(many[..<600])).quarantined == 0)
        let counts = try store.database.transaction {
            try store.writer.ingest(
                Record.batch(Array(many[600...])), session: ImportSession(source: "x"),
                plausibility: Record.plausibility)
        }
        #expect(counts.total.added == 400 && counts.total.quarantined == 500)
        #expect(counts.byType[IngestCounts.otherTypes]?.quarantined == 500 && counts.byType.count == 401)
        #expect(try store.reader.heads().count == 1000)
        // Known names are always accepted, and so are names that were stored before.
        #expect(try store.add([Record(), many[3]]).quarantined == 0)
        #expect(try store.add([Record(type: "Another", start: 5)]).quarantined == 1)
        let entries = try store.reader.quarantine(limit: 1000)
        #expect(entries.count == 501 && entries.allSatisfy { $0.raw.hasPrefix("<Record type=") })
        // When the same input is sent again, it isn't new, and still isn't a sample.
        let again = try store.add([many[1400]])
        #expect(again.quarantined == 1 && again.newlyQuarantined == 0 && again.known == 0)
        let units = (0..<1500).map { Record(type: "Made1", start: Double($0), unit: "u\($0)") }
        // One unit is already stored.
        #expect(try store.add(units).quarantined == 501)
    }

    @Test func aNameThatIsTooLongIsRefusedForThatReason() throws {
        let store = try StoreFixture()
        let long = String(repeating: "x", count: 201)
        #expect(try store.add([Record(type: long), Record(unit: long)]).quarantined == 2)
        let reasons = try Set(store.reader.quarantine().map(\.reason))
        #expect(reasons == ["the type's name is longer than 200 bytes", "the unit's name is longer than 200 bytes"])
    }

    /// An import, its repetition, and dry runs of both all report the same counts.
    @Test func whatIsQuarantinedCountsAsThatHoweverOftenItComes() throws {
        let store = try StoreFixture()
        let records =
            (0..<1500).map { Record(type: "Made\($0)", start: 1_700_000_000, unit: "count") }
            + [Record(value: -5), Record(start: 1_700_009_000, value: 7)]
        let batches = stride(from: 0, to: records.count, by: 700).map {
            Array(records[$0..<min($0 + 700, records.count)])
        }
        func tried() throws -> IngestCounts.Tally {
            let session = ImportSession(source: "x")
            return try batches.reduce(into: .init()) {
                $0 += try store.writer.tryOut(Record.batch($1), session: session, plausibility: Record.plausibility)
                    .total
            }
        }
        func imported() throws -> IngestCounts.Tally {
            let session = ImportSession(source: "x")
            return try batches.reduce(into: .init()) { $0 += try store.add($1, session) }
        }
        let (before, first) = (try tried(), try imported())
        #expect(first.quarantined == 501 && first.newlyQuarantined == 501 && first.added == 1001 && first.known == 0)
        #expect(before.quarantined == 501 && before.added == 1001 && before.known == 0)
        let (after, second) = (try tried(), try imported())
        #expect(second.quarantined == 501 && second.newlyQuarantined == 0 && second.known == 1001)
        #expect(after.quarantined == 501 && after.known == 1001 && after.added == 0)
        #expect(try store.reader.quarantineCount() == 501)
    }

    @Test func whatComesAliveAgainIsCheckedAgainstTheLimitsOfNow() throws {
        let store = try StoreFixture(leastInBlock: .max)
        try store.add([Record(value: 5)])
        try store.database.execute("UPDATE samples SET state = 1, value = -5")
        let counts = try store.add([Record(value: -5)])
        #expect(try store.reader.quarantine().count == 1 && store.alive().isEmpty)
        #expect(counts.quarantined == 1 && counts.newlyQuarantined == 1 && counts.revived == 0)
    }
}

/// Slices with payloads but without other details.
@Suite struct PayloadTests {
    @Test func onlyRowsThatHaveOneBearIt() throws {
        let store = try StoreFixture()
        let spread = #"{"maximum":9,"minimum":1}"#
        try store.add([
            Record(type: "A", start: 1_700_000_000, metadata: #"{"k":"v"}"#, payload: spread),
            Record(type: "A", start: 1_700_000_100), Record(type: "B", start: 1_700_000_200, payload: spread),
        ])
        let range = Instant(seconds: 1_600_000_000)..<Instant(seconds: 1_800_000_000)
        var query = SliceQuery(user: "anna", types: .allExcept([]), ranges: [range])
        #expect(try store.slice(query).payload.count == 0)
        query.payloads = ["A"]
        let page = try store.slice(query)
        #expect((0..<3).map { page.payload[$0] } == [spread, "", ""])
        #expect((0..<3).allSatisfy { page.metadata.isEmpty($0) })
    }
}
