import HealthModel
import HealthPush
import TestSupport
import Testing

/// Apps that round values, leave out ends or fractions of seconds: mixed with exports in any order, there is one row per
/// sample, and the same days.
@Suite struct FreeAppsIdentityTests {
    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    /// Life Dashboard Companion doesn't say which kind of distance it sends.
    private static func isShared(_ sample: ThreeWayLife.Sample) -> Bool { sample.kind != .distance }

    private static func lifeDashboard(_ life: ThreeWayLife) -> [Arrival] {
        let all = life.samples.filter(isShared)
        let deleted = all.filter(\.isDeleted).map { #"{"type":"steps","uuid":"\#($0.uuid)"}"# }
        let deletion = #"{"source":"healthkit_ios","deleted_records":[\#(deleted.joined(separator: ","))]}"#
        let bodies = parts(all, of: 30).map { ThreeWayLife.Sample.lifeDashboardBody($0) }
        // A payload that waited for long comes after the deletion.
        return (bodies + [deletion] + bodies.suffix(2)).map { .pushed(.lifeDashboard, $0) }
    }

    private static func openWearables(_ life: ThreeWayLife) -> [Arrival] {
        parts(life.samples.filter(isShared), of: 30).map {
            .pushed(.openWearables, ThreeWayLife.Sample.openWearablesBody($0))
        }
    }

    /// What is there in the end.
    private static func left(_ life: ThreeWayLife) -> [ThreeWayLife.Sample] {
        life.samples.filter { !$0.isDeleted || !isShared($0) }
    }

    private static func export(_ samples: [ThreeWayLife.Sample], _ number: Int64) -> [Arrival] {
        [.export(id: "b000000\(number)-0", made: 1_742_900_000 + number * 3600)]
            + parts(samples, of: 40).map { .elements($0.map(\.inExport).joined(separator: "\n")) } + [.exportEnds]
    }

    private static func parts<Element>(_ list: [Element], of length: Int) -> [[Element]] {
        stride(from: 0, to: list.count, by: length).map { Array(list[$0..<min($0 + length, list.count)]) }
    }

    private func page(_ arrivals: [Arrival]) throws -> SamplePage {
        let ways = try ThreeWays()
        for arrival in arrivals { try ways.take(arrival) }
        return try ways.page()
    }

    private func check(
        _ page: SamplePage, _ life: ThreeWayLife, _ expected: [String: DayOutput], _ name: String
    ) throws {
        let counts = Dictionary(grouping: page.ids.indices) { page.typeName($0) }.mapValues(\.count)
        #expect(
            counts == Dictionary(grouping: Self.left(life), by: \.type).mapValues(\.count),
            "\(name): rows that are too many")
        for (day, output) in try ThreeWays.figures(of: page) where expected[day].map({ $0 != output }) ?? false {
            Issue.record("\(name): \(day) is \(output), and \(String(describing: expected[day])) expected")
        }
    }

    /// What is rounded changes nothing beside what is exact.
    @Test(arguments: UInt64(1)...4) func roundedOnesLeaveTheDaysOfTheExports(seed: UInt64) throws {
        let life = ThreeWayLife(seed: seed)
        let ways = [Self.exports(life), Self.lifeDashboard(life)]
        // Only a workout's UUID is new.
        let expected = try ThreeWays.figures(of: page(Self.export(Self.left(life), 1)))
            .filter { !$0.key.hasSuffix("workouts") }
        #expect(expected.count == 15)
        let mixtures = (1...6).map { OneIdentityTests.mixed(ways, seed: $0) }
        for (number, arrivals) in ([ways[0] + ways[1], ways[1] + ways[0]] + mixtures).enumerated() {
            try check(page(arrivals), life, expected, "seed \(seed), \(number)")
        }
    }

    @Test(arguments: UInt64(1)...4) func everyOrderGivesTheSameDays(seed: UInt64) throws {
        let life = ThreeWayLife(seed: seed)
        let ways = [Self.exports(life), Self.lifeDashboard(life), Self.openWearables(life)]
        let expected = try ThreeWays.figures(of: page(ways[0] + ways[1] + ways[2]))
        for order in Self.orders.dropFirst() {
            try check(page(order.flatMap { ways[$0] }), life, expected, "seed \(seed), order \(order)")
        }
        for mix: UInt64 in 1...4 {
            try check(page(OneIdentityTests.mixed(ways, seed: mix)), life, expected, "seed \(seed), mixture \(mix)")
        }
    }

    /// One from before the deletions, and one from after them.
    private static func exports(_ life: ThreeWayLife) -> [Arrival] { export(life.samples, 1) + export(left(life), 2) }

    /// Sent again, nothing is new.
    @Test(arguments: 0...1) func eachAloneHasARowASample(way: Int) throws {
        let life = ThreeWayLife(seed: 7, deletes: false)
        let arrivals = way == 0 ? Self.lifeDashboard(life) : Self.openWearables(life)
        let count = life.samples.count(where: Self.isShared)
        #expect(try page(arrivals).count == count)
        #expect(try page(arrivals + arrivals).count == count)
    }
}
