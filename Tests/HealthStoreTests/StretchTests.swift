import HealthModel
import HealthStore
import SQLite
import TestSupport
import Testing

/// A scan for certain types skips stretches that don't contain them, and finds the same rows as a scan of everything.
@Suite struct StretchTests {
    private static let types = ["StepCount", "HeartRate", "BodyMass", "DistanceCycling"].map {
        "HKQuantityTypeIdentifier" + $0
    }

    /// Blocks of one type, as from an export; single samples, as from a phone; changed and deleted ones; and sequence
    /// numbers with gaps.
    private func filled(_ random: inout SeededRandom, leastInBlock: Int) throws -> StoreFixture {
        let store = try StoreFixture(firstSequence: 4090, leastInBlock: leastInBlock)
        for round in 0..<6 {
            for type in Self.types.shuffled(using: &random).prefix(3) {
                let count = Int.random(in: 0...1500, using: &random)
                try store.add(
                    (0..<count).map { _ in
                        var record = Record(type: type)
                        record.start += Double(Int.random(in: 0..<5000, using: &random) * 60)
                        record.value = Double(round)
                        record.metadata = Bool.random(using: &random) ? "{\"round\":\(round)}" : ""
                        return record
                    })
                for _ in 0..<Int.random(in: 0...5000, using: &random) { _ = store.sequences.nextSequence() }
            }
            let dead = try store.changes().samples.ids.shuffled(using: &random).prefix(20)
            _ = try store.database.transaction { try store.writer.delete(ids: Array(dead)) }
        }
        return store
    }

    private func walk(
        _ store: StoreFixture, _ types: Set<String>, _ window: SequenceWindow, _ limits: PullLimits
    ) throws -> [Int64] {
        var found: [Int64] = []
        var window = window
        while true {
            let page = try store.reader.anchored(TypeFilter(types: .only(types)), PullWindow(window), limits: limits)
            found += page.samples.sequence
            if page.isComplete { return found }
            #expect(page.covered > window.after)
            window.after = page.covered
        }
    }

    @Test(arguments: 0..<4, [2, 800, Int.max])
    func passesOverNothingThatItLooksFor(seed: UInt64, leastInBlock: Int) throws {
        var random = SeededRandom(seed: seed)
        let store = try filled(&random, leastInBlock: leastInBlock)
        let all = try store.changes().samples
        let head = try store.head().value
        #expect(head > 4 * 4096)
        for _ in 0..<12 {
            let types = Set(Self.types.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)))
            let ends = [Int64.random(in: 0...head, using: &random), .random(in: 0...head + 5000, using: &random)]
                .sorted()
            let window = SequenceWindow(after: SequenceNumber(ends[0]), through: SequenceNumber(ends[1]))
            let expected = all.sequence.indices.filter {
                types.contains(all.typeName($0)) && all.sequence[$0] > ends[0] && all.sequence[$0] <= ends[1]
            }.map { all.sequence[$0] }
            #expect(try walk(store, types, window, PullLimits(rows: 700, bytes: .max, scanned: 900)) == expected)
        }
    }

    /// For a store created by an earlier release, the stretches are computed from its rows.
    @Test func aStoreWithoutThemIsBroughtUpToDate() throws {
        var random = SeededRandom(seed: 7)
        let store = try filled(&random, leastInBlock: .max)
        let window = SequenceWindow(after: 0)
        let types: Set = [Self.types[0]]
        let before = try walk(store, types, window, PullLimits())
        try store.database.transaction {
            for table in ["stretches", "blocks", "moved"] { try store.database.execute("DROP TABLE \(table)") }
            try store.database.execute("UPDATE store_schema SET version = 3")
        }
        // This also works before the store's own program has updated the file, because a tool reads the file as it is.
        let reader = try HealthStoreReader(database: store.database)
        let found = try reader.anchored(
            TypeFilter(types: .only(types)), PullWindow(window), limits: PullLimits(rows: .max, bytes: .max))
        #expect(found.samples.sequence == before)
        try store.database.transaction { try HealthStoreSchema.create(in: store.database) }
        #expect(try walk(store, types, window, PullLimits()) == before)
        let count = try store.database.prepare("SELECT count(*) FROM stretches").firstRow { $0.int(0) }
        #expect(count ?? 0 > 4)
    }
}
