import Foundation
import HealthModel
import Testing

/// A week of two people's data through all stages, with what can go wrong going wrong: what comes out must be what comes out without faults.
///
/// `HEALTHBUS_SEEDS=1000` tries more of them; `HEALTHBUS_SEED=17` tries one, and says what happened. Set `SWIFT_DETERMINISTIC_HASHING=1` with it: the
/// order of a set's elements is part of a run.
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
        // A simulation in which nothing happens proves nothing.
        if only == nil {
            for fault in [
                "dropped", "duplicated", "delayed", "crashed", "wiped", "suspended", "backend replaced", "zone changed",
            ] {
                #expect(totals[fault, default: 0] > 0, "no seed made a fault of the kind '\(fault)'")
            }
        }
        if only != nil || count > 30 { print("faults: \(totals.sorted { $0.key < $1.key })") }
    }
}
