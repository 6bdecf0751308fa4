import Foundation
import Testing

/// What a stack says later wins where it is delivered, whatever was restored, lost or made again.
///
/// `HEALTHBUS_SEEDS=1000` tries more seeds; `HEALTHBUS_SEED=17` tries one.
@Suite(.serialized) struct LineTests {
    @Test func aStoreMadeAgainAfterARestoreIsHeard() throws {
        for lost in 0..<6 as Range<UInt64> {
            let run = try LineRun(seed: 40 + lost)
            try run.run([.push, .rest, .backup, .clock, .restore, .rest, .lose, .push, .rest])
            #expect(run.problems == [] && run.done["equal"] == 1, "\(run.done)")
        }
    }

    @Test func aStackThatLostAllItsFilesIsHeard() throws {
        let run = try LineRun(seed: 60)
        try run.run([.push, .clock, .rest, .push, .loseAll, .push, .rest])
        #expect(run.problems == [] && run.done["equal"] == 1, "\(run.done)")
    }

    @Test func whatIsDeliveredLaterThanTheSamplesIsHeard() throws {
        for seed in 63..<67 as Range<UInt64> {
            let run = try LineRun(seed: seed)
            try run.run([.push, .rest, .push, .rest, .push, .loseSlowly, .rest])
            #expect(run.problems == [] && run.done["equal"] == 1, "\(run.done)")
        }
    }

    @Test func aDeletionThatOnlyTheBackendKnowsStays() throws {
        let run = try LineRun(seed: 61)
        try run.run([.push, .push, .backup, .delete, .delete, .restore, .rest])
        #expect(run.problems == [] && run.done["said"] == 1, "\(run.done)")
    }

    @Test func twoStacksDontOutbidEachOther() throws {
        let run = try LineRun(seed: 62)
        try run.run([.push, .rest, .otherStack, .push, .otherStack, .rest, .otherStack, .rest])
        #expect(run.problems == [], "\(run.done)")
    }

    @Test func randomLivesEndEqualOrSaid() throws {
        let environment = ProcessInfo.processInfo.environment
        let only = environment["HEALTHBUS_SEED"].flatMap { UInt64($0) }
        let count = environment["HEALTHBUS_SEEDS"].flatMap { UInt64($0) } ?? 30
        var totals: [String: Int] = [:]
        for seed in only.map({ $0...$0 }) ?? 1...max(1, count) {
            do {
                let run = try LineRun(seed: seed)
                let steps = LineRun.randomSteps(seed: seed)
                try run.run(steps)
                totals.merge(run.done, uniquingKeysWith: +)
                for problem in run.problems {
                    Issue.record("seed \(seed): \(problem); \(steps.map(\.rawValue).joined(separator: " "))")
                }
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        guard only == nil else { return }
        // A run in which nothing breaks proves nothing.
        for step in LineRun.Step.allCases { #expect(totals[step.rawValue, default: 0] > 0, "no seed took \(step)") }
        for end in ["equal", "said", "deleted"] { #expect(totals[end, default: 0] > 2, "\(totals)") }
    }
}
