import HealthModel
import HealthStore
import SQLite
import Testing

/// Which dates have samples, determined with seeks and compared with a scan of every row.
@Suite struct CompletenessTests {
    private static let steps = "HKQuantityTypeIdentifierStepCount"
    private static let rate = "HKQuantityTypeIdentifierHeartRate"
    private static let sleep = "HKCategoryTypeIdentifierSleepAnalysis"

    private static func random(_ random: inout SeededGenerator) -> Record {
        // Samples around the change to summer time.
        var record = Record(
            type: [steps, rate, sleep].randomElement(using: &random) ?? "",
            start: 1_742_000_000 + Double(Int.random(in: 0...3_000_000, using: &random)),
            length: Double([0, 60, 3600, 40_000, 90_000, 400_000].randomElement(using: &random) ?? 0))
        let delay = Int64.random(in: -100_000...300_000, using: &random)
        record.created = Bool.random(using: &random) ? 0 : Int64(record.start + record.length) + delay
        return record
    }

    /// For each type, the dates of all rows that aren't deleted, and those of the late ones.
    private static func slowly(_ store: StoreFixture, _ zones: ZoneTimeline) throws -> [String: Set<Int32>] {
        var days: [String: Set<Int32>] = [:]
        for row in try store.alive() where !row.flags.contains(.quarantined) {
            let spreads = row.type != rate
            let end = spreads ? row.end : row.start
            let touched: [LocalDay] =
                row.type == sleep
                ? zones.days(touching: row.start, end: end, HandlerWindow(endHour: 18))
                : zones.days(touching: row.start, end: end)
            days[row.type, default: []].formUnion(touched.map { Int32($0.number) })
        }
        return days
    }

    private static func late(_ store: StoreFixture) throws -> [String: (count: Int, longest: Int64)] {
        var late: [String: (count: Int, longest: Int64)] = [:]
        for row in try store.alive() {
            let delay = row.created - row.start.flooredSecond - (row.end - row.start).components.seconds
            guard delay > 86_400 else { continue }
            let before = late[row.type] ?? (0, 0)
            late[row.type] = (before.count + 1, max(before.longest, delay))
        }
        return late
    }

    private static func days(_ runs: [Int32]) -> Set<Int32> {
        var days: Set<Int32> = []
        for index in stride(from: 0, to: runs.count, by: 2) { days.formUnion(runs[index]...runs[index + 1]) }
        return days
    }

    /// Keeps asking until everything has been answered.
    private static func ask(
        _ reader: CompletenessReader, _ zones: ZoneTimeline, _ budget: CompletenessReader.Budget
    ) throws -> (types: [TypeCompleteness], steps: Int) {
        for step in 1...100_000 {
            if let types = try reader.types(zones: ["anna": zones], nightHours: [sleep: 18], budget: budget) {
                return (types, step)
            }
        }
        Issue.record("it never ends")
        return ([], 0)
    }

    @Test(arguments: ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"], 0..<4 as Range<UInt64>)
    func seeksFindWhatEveryRowSays(zone: String, seed: UInt64) throws {
        let zones = try ZoneTimeline(zone: zone)
        var random = SeededGenerator(seed: seed)
        let store = try StoreFixture()
        let reader = try CompletenessReader(store.reader)
        for round in 0..<4 {
            try store.add((0..<40).map { _ in Self.random(&random) })
            if round > 1 {
                let gone = try store.alive().sorted { $0.id < $1.id }.filter { _ in Bool.random(using: &random) }
                try store.database.transaction { _ = try store.writer.delete(ids: gone.prefix(15).map(\.id)) }
            }
            // Memory reused from the previous round must not affect the result.
            let budget =
                round.isMultiple(of: 2) ? CompletenessReader.Budget.unlimited : .init(rows: 7, seeks: 3)
            let (types, steps) = try Self.ask(reader, zones, budget)
            #expect(round.isMultiple(of: 2) ? steps == 1 : steps > 1)
            let slowly = try Self.slowly(store, zones)
            let late = try Self.late(store)
            #expect(Set(types.map(\.head.type)) == Set(slowly.keys))
            for type in types {
                let name = type.head.type
                #expect(Self.days(type.runs) == slowly[name])
                let count = type.late.reduce(0) { sum, day in sum + Int(day.arrivals.count) }
                #expect(count == late[name]?.count ?? 0)
                #expect(type.late.map { $0.arrivals.longest }.max() ?? 0 == late[name]?.longest ?? 0)
                for (a, b) in zip(type.late, type.late.dropFirst()) { #expect(a.day < b.day) }
                // Runs are neither adjacent nor overlapping.
                for index in stride(from: 2, to: type.runs.count, by: 2) {
                    #expect(type.runs[index] > type.runs[index - 1] + 1)
                }
            }
        }
    }

    /// With a different timeline, the dates change immediately.
    @Test func aChangedZoneChangesDates() throws {
        let store = try StoreFixture()
        try store.add([Record(type: Self.rate, start: 1_742_000_000, length: 0)])
        let reader = try CompletenessReader(store.reader)
        let berlin = try Self.ask(reader, try ZoneTimeline(zone: "Europe/Berlin"), .unlimited).types.first?.runs
        let auckland = try Self.ask(reader, try ZoneTimeline(zone: "Pacific/Auckland"), .unlimited).types.first?.runs
        #expect(berlin == [20_162, 20_162] && auckland == [20_162, 20_162])
        try store.add([Record(type: Self.rate, start: 1_742_000_000 + 40_000, length: 0)])
        let later = try Self.ask(reader, try ZoneTimeline(zone: "Pacific/Auckland"), .unlimited).types.first?.runs
        #expect(later == [20_162, 20_163])
        let again = try Self.ask(reader, try ZoneTimeline(zone: "Europe/Berlin"), .unlimited).types.first?.runs
        #expect(again == [20_162, 20_162])
    }

    @Test func quarantineIsCountedByReason() throws {
        let store = try StoreFixture()
        try store.add([
            Record(start: 1_700_000_000, value: -1), Record(start: 1_700_000_100, value: -2),
            Record(start: 1_700_000_200),
        ])
        let reasons = try store.reader.quarantineReasons(user: "anna")
        #expect(reasons.map(\.reason) == ["\(Self.steps) can't be negative"] && reasons.map(\.count) == [2])
        #expect(try store.reader.quarantineReasons(user: "nobody").isEmpty)
    }
}
