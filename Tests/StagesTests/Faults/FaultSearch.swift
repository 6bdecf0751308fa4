import Foundation
import Simulation

/// Runs many plans: each seed once, and variations of those that reached something new.
struct FaultSearch {
    struct Failure {
        var plan: FaultPlan
        var problems: [String]
    }

    /// Whether one failure is enough.
    var endsAtFailure = false
    /// Whether to print what stages log.
    var isTraced = false
    private(set) var failures: [Failure] = []
    /// The last script's run without faults.
    private var lastCalm: (script: UInt64, outcome: FaultRun.Outcome)?
    private(set) var runs = 0
    private(set) var counts: [String: Int] = [:]
    private(set) var states: Set<String> = []
    /// How many runs had both families.
    private(set) var pairs: [String: Int] = [:]
    private(set) var simulated = Duration.zero
    private(set) var seconds = 0.0

    /// - Parameters:
    ///   - isVaried: whether every second run is a variation of an earlier one that reached a new state.
    ///   - seconds: ends after this time, if not before.
    mutating func run(_ seeds: ClosedRange<UInt64>, isVaried: Bool = false, atMost limit: Double = .infinity) {
        let begin = Date()
        var interesting: [[UInt64]] = []
        for seed in seeds {
            var lineage = [seed]
            if isVaried, seed % 2 == 0,
                let base = interesting.last(where: { $0.first.map { $0 / 8 == seed / 8 } ?? false })
            {
                lineage = base + [seed]
            }
            let before = states.count
            run(FaultPlan(lineage))
            if states.count > before, lineage.count < 6 { interesting.append(lineage) }
            seconds = Date().timeIntervalSince(begin)
            if seconds > limit || endsAtFailure && !failures.isEmpty { return }
        }
    }

    private mutating func calm(_ plan: FaultPlan) throws -> FaultRun.Outcome {
        if let lastCalm, lastCalm.script == plan.script { return lastCalm.outcome }
        let outcome = try FaultRun.calm(plan)
        lastCalm = (plan.script, outcome)
        return outcome
    }

    mutating func run(_ plan: FaultPlan) {
        runs += 1
        do {
            let calm = try calm(plan)
            let run = try FaultRun(plan, trace: isTraced)
            try run.run(against: calm)
            counts.merge(run.counts, uniquingKeysWith: +)
            states.formUnion(run.states)
            simulated += run.simulated
            let families = run.families.map(\.rawValue).sorted()
            for (index, one) in families.enumerated() {
                for other in families[(index + 1)...] { pairs["\(one) \(other)", default: 0] += 1 }
            }
            if !run.problems.isEmpty { failures.append(Failure(plan: plan, problems: run.problems)) }
        } catch {
            failures.append(Failure(plan: plan, problems: ["\(error)"]))
        }
    }

    /// The fewest faults of a plan that still fail, found by leaving out ever smaller parts.
    static func shrink(_ plan: FaultPlan, tries: Int = 200) -> FaultPlan {
        var best = FaultPlan(plan, keeping: plan.places ?? Array(plan.faults.indices))
        var search = FaultSearch()
        var left = tries
        var size = max(1, best.faults.count / 2)
        while size >= 1, left > 0 {
            var place = 0
            while place < best.faults.count, left > 0 {
                var fewer = best.places ?? []
                fewer.removeSubrange(place..<min(place + size, fewer.count))
                let candidate = FaultPlan(best, keeping: fewer)
                search.failures = []
                search.run(candidate)
                left -= 1
                if search.failures.isEmpty { place += size } else { best = candidate }
            }
            size /= 2
        }
        return best
    }
}
