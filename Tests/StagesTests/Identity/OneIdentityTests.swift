import HealthModel
import TestSupport
import Testing

/// The same life, arriving in three ways, is stored once, in any order: one row per sample, and the same days.
@Suite struct OneIdentityTests {
    private static let noon = Int64(1_742_900_000)

    /// The samples that arrive each way, in order.
    struct Streams {
        var export: [Arrival] = []
        var autoExport: [Arrival] = []
        var samples: [Arrival] = []
        var sums: [Arrival] = []

        init(_ life: ThreeWayLife) {
            let all = life.samples
            let left = all.filter { !$0.isDeleted }
            // There are two exports: one from before anything was deleted, which lacks the last hours, and one from
            // afterwards.
            for (number, list) in [all.dropLast(all.count / 4), left[...]].enumerated() {
                export.append(.export(id: "a000000\(number)-0", made: OneIdentityTests.noon + Int64(number) * 3600))
                for part in Self.parts(Array(list), of: 40) {
                    export.append(.elements(part.map(\.inExport).joined(separator: "\n")))
                }
                export.append(.exportEnds)
            }
            // "Since last sync" requests, which overlap, and finally everything again.
            let times = all.map(\.start)
            if let first = times.min(), let last = times.max() {
                for begin in stride(from: first, through: last, by: 9 * 3_600_000_000) {
                    let window = begin - 3_600_000_000..<begin + 9 * 3_600_000_000
                    autoExport.append(Self.request(all.filter { window.contains($0.start) }))
                }
            }
            autoExport.append(Self.request(left))
            let batches = Self.parts(all, of: 25)
            for (number, part) in batches.enumerated() {
                samples.append(.samples(part.map(\.inProgram), deleted: []))
                if number % 3 == 1 { samples.append(.samples(batches[number - 1].map(\.inProgram), deleted: [])) }
            }
            for part in Self.parts(all.filter(\.isDeleted), of: 5) {
                samples.append(.samples([], deleted: part.map(\.uuid)))
            }
            samples.append(.samples(all.filter(\.isDeleted).map(\.inProgram), deleted: []))
            sums = Self.sums(left)
        }

        private static func parts<Element>(_ list: [Element], of length: Int) -> [[Element]] {
            stride(from: 0, to: list.count, by: length).map { Array(list[$0..<min($0 + length, list.count)]) }
        }

        private static func request(_ samples: [ThreeWayLife.Sample]) -> Arrival {
            .autoExport(ThreeWayLife.Sample.autoExportBody(samples), aggregation: "none")
        }

        /// The same data if the app is set to summarize: a sum over all sources for each hour.
        private static func sums(_ samples: [ThreeWayLife.Sample]) -> [Arrival] {
            let steps = Dictionary(grouping: samples.filter { $0.kind == .steps }) { $0.start / 3_600_000_000 }
            return steps.sorted { $0.key < $1.key }.map { hour, list in
                let date = InstantText.iso8601(Instant(seconds: hour * 3600 + 3600)).dropLast().replacing(
                    "T", with: " ")
                let sources = Set(list.map(\.source)).sorted().joined(separator: "|")
                return .autoExport(
                    #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[{"date":"\#(date) +0100","#
                        + #""qty":\#(list.reduce(0) { $0 + $1.value }),"source":"\#(sources)"}]}]}}"#,
                    aggregation: "Hours")
            }
        }

        var ways: [[Arrival]] { [export, autoExport, samples] }

    }

    /// The order within each way is kept; which way comes next is random.
    static func mixed(_ ways: [[Arrival]], seed: UInt64) -> [Arrival] {
        var random = SeededRandom(seed: seed)
        var rest = ways.map { $0[...] }
        var mixed: [Arrival] = []
        while let way = rest.indices.filter({ !rest[$0].isEmpty }).randomElement(using: &random) {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                if let next = rest[way].popFirst() { mixed.append(next) }
            }
        }
        return mixed
    }

    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    private func run(_ arrivals: [Arrival]) throws -> SamplePage {
        let ways = try ThreeWays()
        for arrival in arrivals { try ways.take(arrival) }
        return try ways.page()
    }

    private func check(
        _ page: SamplePage, _ life: ThreeWayLife, _ expected: inout [String: DayOutput]?, _ name: String
    ) throws {
        let samples = page.filter { HealthType.base(ofStatistics: page.typeName($0)) == nil }
        let left = life.samples.filter { !$0.isDeleted }
        let found = Set(samples.healthKitUUID.compactMap { $0?.description.uppercased() })
        #expect(found == Set(left.map(\.uuid)), "\(name): other samples")
        let counts = Dictionary(grouping: samples.ids.indices) { samples.typeName($0) }.mapValues(\.count)
        #expect(counts == Dictionary(grouping: left, by: \.type).mapValues(\.count), "\(name): rows that are too many")
        let figures = try ThreeWays.figures(of: page)
        for handler in ["steps", "heart-rate", "sleep", "energy", "body", "workouts"] {
            #expect(
                figures.contains { $0.key.hasSuffix(handler) && !$0.value.figures.isEmpty }, "\(name): no \(handler)")
        }
        if let expected {
            for (day, output) in figures where output != expected[day] {
                Issue.record("\(name): \(day) is \(output), and \(String(describing: expected[day])) in another order")
            }
        } else {
            expected = figures
        }
    }

    @Test(arguments: UInt64(1)...4) func everyOrderOfTheWaysGivesTheSame(seed: UInt64) throws {
        let life = ThreeWayLife(seed: seed)
        let streams = Streams(life)
        var expected: [String: DayOutput]?
        for order in Self.orders {
            try check(run(order.flatMap { streams.ways[$0] }), life, &expected, "seed \(seed), order \(order)")
        }
        for mix: UInt64 in 1...4 {
            try check(
                run(Self.mixed(streams.ways, seed: mix)), life, &expected, "seed \(seed), mixture \(mix)")
        }
    }

    /// Sums for the same time change no figure, no matter when they arrive.
    @Test(arguments: UInt64(1)...3) func sumsChangeNothingBesideSamples(seed: UInt64) throws {
        let life = ThreeWayLife(seed: seed)
        let streams = Streams(life)
        var expected: [String: DayOutput]?
        try check(run(streams.samples), life, &expected, "seed \(seed), samples alone")
        let steps = expected?.filter { $0.key.hasSuffix("steps") }
        for mix: UInt64 in 1...3 {
            var others: [String: DayOutput]?
            try check(
                run(Self.mixed(streams.ways + [streams.sums], seed: mix)), life, &others, "seed \(seed), \(mix)")
            #expect(others?.filter { $0.key.hasSuffix("steps") } == steps)
        }
    }

    /// Each way alone results in one row per sample, and repeating it adds nothing.
    @Test(arguments: 0...2) func eachWayAloneHasARowASample(way: Int) throws {
        let life = ThreeWayLife(seed: 7, deletes: false)
        let arrivals = Streams(life).ways[way]
        #expect(try run(arrivals).count == life.samples.count)
        let requests = arrivals.filter {
            if case .autoExport = $0 { true } else if case .samples = $0 { true } else { false }
        }
        #expect(try run(arrivals + requests).count == life.samples.count)
    }
}
