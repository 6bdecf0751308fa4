import Foundation
import HealthModel
import Protocol
import Simulation
import Testing

/// A week of two people's data goes through all stages while everything that can go wrong does: the result must be the
/// same as without faults.
///
/// `HEALTHBUS_SEEDS=1000` tries more seeds; `HEALTHBUS_SEED=17` tries one, and reports what happened. Set
/// `SWIFT_DETERMINISTIC_HASHING=1` as well: the order of a set's elements affects the run.
@Suite(.serialized) struct SimulationTests {
    @Test func summariesAndDeliveriesSurviveEverything() throws {
        let environment = ProcessInfo.processInfo.environment
        let only = environment["HEALTHBUS_SEED"].flatMap { UInt64($0) }
        let count = environment["HEALTHBUS_SEEDS"].flatMap { UInt64($0) } ?? 30
        var totals: [String: Int] = [:]
        for seed in only.map({ $0...$0 }) ?? 1...max(1, count) {
            do {
                let run = try SimulationRun(seed: seed, trace: only != nil)
                totals.merge(run.counts, uniquingKeysWith: +)
                for problem in run.problems { Issue.record("seed \(seed): \(problem)") }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        // A simulation in which nothing goes wrong proves nothing.
        if only == nil {
            for fault in [
                "dropped", "duplicated", "delayed", "crashed", "wiped", "suspended", "backend replaced", "zone changed",
            ] {
                #expect(totals[fault, default: 0] > 0, "no seed made a fault of the kind '\(fault)'")
            }
        }
        #expect(totals["foreign"] == nil, "a sender isn't believed although it may send this")
        if only != nil || count > 30 { print("faults: \(totals.sorted { $0.key < $1.key })") }
    }

    /// The same with an attacker who has one handler's key, knows every id, and answers before the producer does.
    @Test(arguments: [2, 5, 9] as [UInt64]) func whoAnswersForOthersMovesNothing(_ seed: UInt64) throws {
        let run = try SimulationRun(seed: seed, trace: false, isAttacked: true)
        #expect(run.problems == [])
        #expect(run.counts["foreign", default: 0] > 100)
    }

    /// Random ids, but still the same run from the same seed.
    @Test func aSeedGivesTheSameRun() throws {
        func ids() throws -> [Value] {
            let data = try SimulatedData(seed: 7)
            let stack = try data.stack(seed: 7)
            var seen: [Value] = []
            stack.world.eavesdropper = { if $0.topic == "pull.observer" { seen.append($0.body["id"]) } }
            try stack.start()
            for file in stack.files { stack.submit(file, after: .zero) }
            try stack.world.run(for: .seconds(2))
            return seen
        }
        let first = try ids()
        #expect(first.count > 20 && Set(first.compactMap(\.int)).count > 10)
        #expect(try Array(ids().prefix(20)) == Array(first.prefix(20)))
    }
}
