import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// Readers never see a difference between samples stored in blocks and samples stored in rows.
@Suite struct BlockTests {
    private static let types = ["StepCount", "HeartRate", "BodyMass"].map { "HKQuantityTypeIdentifier" + $0 }
    private static let values: [Double] = [
        0, -0.0, 1, 72, 0.1, 0.1 + 0.2, 61.275, 1e-7, .leastNonzeroMagnitude, .greatestFiniteMagnitude,
        9_007_199_254_740_992, .nan, .pi,
    ]

    private static func record(_ random: inout SeededRandom, type: String) -> Record {
        var record = Record(type: type)
        record.source = ["Anna’s Apple Watch", "iPhone", "⌚️"].randomElement(using: &random) ?? ""
        record.start += Double(Int.random(in: 0..<40_000, using: &random)) * 30
        if Bool.random(using: &random) { record.start += Double(Int.random(in: 0..<8, using: &random)) / 8 }
        record.length = [0, 1, 60, 59.5, 3600, 86_400, 86_401, 200_000].randomElement(using: &random) ?? 0
        record.value = abs(values.randomElement(using: &random) ?? 0)
        record.created =
            Bool.random(using: &random) ? 0 : Int64(record.start) + Int64.random(in: 0..<300_000, using: &random)
        record.flags = Bool.random(using: &random) ? 0 : 1
        record.metadata = ["", "{\"a\":\"1\"}", "{\"ä\":\"\(record.start)\"}"].randomElement(using: &random) ?? ""
        record.payload = Int.random(in: 0..<20, using: &random) == 0 ? "{\"beats\":[1,2]}" : ""
        if Int.random(in: 0..<3, using: &random) == 0 { record.uuid = uuid(random.next() >> 4) }
        return record
    }

    /// Both stores get the same input.
    private struct Pair {
        let blocks: StoreFixture
        let rows: StoreFixture

        func each<Result>(_ body: (StoreFixture) throws -> Result) rethrows -> (blocks: Result, rows: Result) {
            (try body(blocks), try body(rows))
        }
    }

    /// A store's content, including sequence numbers. These depend only on the order of changes, which is the same in
    /// both.
    private static func said(_ store: StoreFixture) throws -> [String] {
        let page = try store.changes()
        let rows = page.samples.rows(users: page.user.map { page.users[Int($0)] })
        var said = zip(page.samples.sequence, rows).map { "\($0) \($1)" }
        said.append("head \(try store.head().value)")
        said += try store.reader.heads().map { "\($0)" }
        let start = Instant(seconds: 1_700_000_000)
        for day in stride(from: 0, to: 15, by: 3) {
            let from = start + Duration.seconds(86_400 * day)
            let query = SliceQuery(
                user: "anna", types: .allExcept([]), ranges: [from..<from + Duration.seconds(100_000)],
                detailed: .only([types[0]]))
            let slice = try store.slice(query)
            said += slice.ids.indices.map {
                "\(slice.ids[$0]) \(slice.sequence[$0]) \(slice.start[$0]) \(slice.end[$0]) \(slice.value[$0])"
            }
        }
        let spans = try store.reader.spans(
            TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: 0)),
            limits: PullLimits(rows: .max, bytes: .max, scanned: .max))
        said.append("spans \(spans.added) \(spans.deleted)")
        said += spans.spans.map { "\($0)" }
        let dates: [TypeCompleteness]? = try CompletenessReader(store.reader).types(
            zones: ["anna": try ZoneTimeline(zone: "Europe/Berlin")], nightHours: [:], budget: .unlimited)
        said += (dates ?? []).map { "\($0.head.type) \($0.runs) \($0.late)" }
        return said
    }

    @Test(arguments: 0..<8) func blocksSayWhatRowsSay(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let pair = Pair(blocks: try StoreFixture(), rows: try StoreFixture(leastInBlock: .max))
        var file: [Record] = []
        for _ in 0..<5 {
            let new = Self.types.flatMap { type in
                (0..<Int.random(in: 0..<400, using: &random)).map { _ in Self.record(&random, type: type) }
            }
            // Some of the samples are already stored, with more detail or with differences.
            let again = file.shuffled(using: &random).prefix(100).map { old in
                var record = old
                if Bool.random(using: &random) { record.metadata = "{\"later\":\"1\"}" }
                if Bool.random(using: &random) { record.uuid = old.uuid ?? uuid(random.next() >> 4) }
                return record
            }
            let batch = new + again
            let tallies = try pair.each { try $0.add(batch) }
            #expect(tallies.blocks == tallies.rows)
            file += new
            let (ids, uuids) = try (
                pair.rows.changes().samples.ids.shuffled(using: &random).prefix(10),
                file.compactMap(\.uuid).shuffled(using: &random).prefix(10)
            )
            _ = try pair.each { store in
                try store.database.transaction {
                    try store.writer.delete(ids: Array(ids)) + store.writer.delete(uuids: Array(uuids))
                }
            }
            let said = try pair.each(Self.said)
            #expect(said.blocks == said.rows)
        }
        let sealed = try pair.blocks.database.prepare("SELECT sum(last - first + 1) FROM blocks").firstRow { $0.int(0) }
        let moved = try pair.blocks.database.prepare("SELECT count(*) FROM moved").firstRow { $0.int(0) }
        #expect(sealed ?? 0 > 200 && moved ?? 0 > 20)
        for id in try pair.rows.changes().samples.ids.shuffled(using: &random).prefix(50) {
            let found = try pair.each { try $0.reader.sample(id) }
            #expect(found.blocks == found.rows && found.rows != nil)
        }
    }

    /// A complete export that lacks some samples removes the same ones from both stores.
    @Test(arguments: 0..<4) func whatAnExportLacksIsGoneFromBoth(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 100)
        let pair = Pair(blocks: try StoreFixture(), rows: try StoreFixture(leastInBlock: .max))
        let file = (0..<600).map { _ in Self.record(&random, type: Self.types[Int.random(in: 0...1, using: &random)]) }
        let newer = file.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
        let gone = try pair.each { store in
            try store.add(file)
            let before = store.sequences.sequence
            let session = ImportSession(source: "newer")
            try store.add(newer, session)
            let export = CompleteExport(session: session, date: Instant(seconds: 1_800_000_000), before: before)
            var progress = AbsenceProgress()
            var gone: [String: Int] = [:]
            while !progress.isDone {
                let step = try store.database.transaction {
                    try store.writer.deleteAbsent(from: export, &progress, limit: 70)
                }
                gone.merge(step, uniquingKeysWith: +)
            }
            return gone
        }
        #expect(gone.blocks == gone.rows && !gone.rows.isEmpty)
        let said = try pair.each(Self.said)
        #expect(said.blocks == said.rows)
    }

    /// What a route adds to a workout is merged with the workout's own content.
    @Test(arguments: [2, Int.max]) func aRouteLeavesTheWorkoutAsItIs(leastInBlock: Int) throws {
        let store = try StoreFixture(leastInBlock: leastInBlock)
        try store.add(
            (0..<5).map { number in
                var record = Record(type: "HKWorkoutTypeIdentifier", start: 1_700_000_000 + Double(number) * 7200)
                (record.length, record.value, record.unit) = (3600, .nan, "")
                record.payload = "{\"activity\":\"Running\",\"route\":\"/workout-routes/\(number).gpx\"}"
                return record
            })
        let start = Instant(seconds: 1_700_000_000 + 2 * 7200)
        let isChanged = try store.database.transaction {
            try store.writer.describeRoute(
                path: "/workout-routes/2.gpx", workoutFrom: start, to: start + Duration.seconds(3600),
                sourceName: "Anna’s Apple Watch", summary: ["points": 7])
        }
        #expect(isChanged)
        let page = try store.changes().samples
        let payloads = page.ids.indices.map { page.payload[$0] }
        #expect(payloads.filter { $0.contains("Running") }.count == 5)
        #expect(payloads.filter { $0.contains("routeSummary") && $0.contains("2.gpx") }.count == 1)
    }

    /// A block that has no rows left is removed.
    @Test func aBlockWithoutRowsGoes() throws {
        let store = try StoreFixture()
        try store.add((0..<100).map { Record(start: 1_700_000_000 + Double($0) * 60) })
        let ids = try store.changes().samples.ids
        func count(_ table: String) throws -> Int {
            try store.database.prepare("SELECT count(*) FROM \(table)").firstRow { $0.int(0) } ?? 0
        }
        #expect(try count("blocks") == 1 && count("samples") == 0)
        _ = try store.database.transaction { try store.writer.delete(ids: Array(ids.dropLast())) }
        #expect(try count("blocks") == 1 && count("samples") == 99 && count("moved") == 99)
        _ = try store.database.transaction { try store.writer.delete(ids: ids) }
        #expect(try count("blocks") == 0 && count("samples") == 100 && count("moved") == 0)
        #expect(try store.alive().isEmpty)
    }

    /// Changes that are rolled back leave nothing behind, but their sequence numbers are used again.
    @Test func aTransactionThatIsUndoneLeavesNoBlock() throws {
        let store = try StoreFixture()
        func records(_ value: Double) -> [Record] {
            (0..<80).map { Record(start: 1_700_000_000 + Double($0) * 60, value: value) }
        }
        struct Undone: Error {}
        let sequence = store.sequences.sequence
        #expect(throws: Undone.self) {
            try store.database.transaction {
                _ = try store.writer.ingest(
                    Record.batch(records(1)), session: ImportSession(source: "a"), plausibility: Record.plausibility)
                #expect(try store.changes().samples.value.allSatisfy { $0 == 1 })
                throw Undone()
            }
        }
        #expect(try store.changes().samples.count == 0)
        store.sequences.begin(at: sequence)
        try store.add(records(2))
        #expect(try store.changes().samples.value == [Double](repeating: 2, count: 80))
    }

    /// At worst, damaged content leads to an error or to different numbers.
    @Test(arguments: 0..<3) func damageIsAnError(seed: UInt64) throws {
        var random = SeededRandom(seed: seed &+ 500)
        let store = try StoreFixture()
        try store.add((0..<300).map { _ in Self.record(&random, type: Self.types[0]) })
        let whole = try #require(
            try store.database.prepare("SELECT content FROM blocks ORDER BY length(content) DESC").firstRow {
                $0.bytes(0)
            })
        let write = try store.database.prepare("UPDATE blocks SET content = ? WHERE length(content) = ?")
        var length = whole.count
        var errors = 0
        for round in 0..<300 {
            var content = whole
            if round % 2 == 0 {
                content.removeLast(Int.random(in: 1..<whole.count, using: &random))
            } else {
                content[Int.random(in: 0..<min(whole.count, 400), using: &random)] = UInt8.random(
                    in: 0...255, using: &random)
            }
            write.bind(1, content)
            write.bind(2, length)
            try write.run()
            length = content.count
            do {
                _ = try HealthStoreReader(database: store.database).anchored(
                    TypeFilter(types: .allExcept([])), PullWindow(SequenceWindow(after: 0)))
            } catch is HealthStoreError { errors += 1 }
        }
        #expect(errors >= 150)
    }
}
