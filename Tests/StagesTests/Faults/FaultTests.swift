import FilesStage
import Foundation
import Simulation
import Testing

/// Every fault there is, from one seed: see docs/reliability.md. `make faults` tries more seeds.
///
/// `HEALTHBUS_FAULTS=17.18` runs one plan, `17.18@3,5` only two of its faults, `1-1000` many plans. `HEALTHBUS_SHRINK`
/// leaves out the faults that don't matter, and `HEALTHBUS_TRACE` prints what stages log, and where they are in the end.
@Suite(.serialized) struct FaultTests {
    @Test func everythingSurvivesEveryFault() throws {
        let environment = ProcessInfo.processInfo.environment
        let asked = environment["HEALTHBUS_FAULTS"]
        var search = FaultSearch()
        search.endsAtFailure = environment["HEALTHBUS_MUTANT"] != nil
        if let asked, let range = Self.range(asked) {
            search.run(range, isVaried: true)
            print(search.summary)
        } else if let asked {
            var plan = FaultPlan(name: asked)
            search.isTraced = environment["HEALTHBUS_TRACE"] != nil
            search.run(plan)
            if !search.failures.isEmpty, environment["HEALTHBUS_SHRINK"] != nil {
                plan = FaultSearch.shrink(plan)
            }
            print("plan \(plan.name)")
            for fault in plan.faults { print(fault) }
        } else {
            search.run(1...30, atMost: 60)
            // A run in which nothing goes wrong proves nothing.
            for family in Fault.Family.allCases {
                #expect(search.counts[family.rawValue, default: 0] > 0 || search.runs < 10, "no \(family)")
            }
        }
        for failure in search.failures {
            Issue.record("plan \(failure.plan.name): \(failure.problems.joined(separator: "; "))")
        }
    }

    @Test func aPlanHasFaultsOfManyFamilies() throws {
        for seed in 1...200 as ClosedRange<UInt64> {
            for plan in [FaultPlan([seed]), FaultPlan([seed, 7])] {
                let families = Set(plan.faults.map(\.family))
                #expect(families.count >= 5 && families.isSuperset(of: [.crash, .disk]), "\(plan.name)")
                #expect((20...43).contains(plan.faults.count) && plan.faults == FaultPlan(name: plan.name).faults)
                let few = FaultPlan(plan, keeping: [2, 5])
                #expect(few.faults == [plan.faults[2], plan.faults[5]])
                #expect(FaultPlan(name: few.name).faults == few.faults)
                let isSwapped = plan.faults.contains { if case .swap = $0.mishap { true } else { false } }
                #expect(isSwapped && plan.faults.allSatisfy { (0...plan.length).contains($0.at) })
            }
            #expect(FaultPlan([seed]).faults != FaultPlan([seed, 7]).faults)
        }
    }

    @Test(arguments: ModelledDestination.allCases) func everyProcessCanBeMet(_ other: ModelledDestination) throws {
        let stack = try SimulatedData(seed: 1).stack(seed: 1, files: [], destinations: [other])
        #expect(stack.world.hosts.count == FaultPlan.hosts && stack.world.hosts[FaultPlan.observer] === stack.observer)
        let handlers = stack.world.hosts.indices.filter { stack.handler(stack.world.hosts[$0].name, version: 1) != nil }
        #expect(handlers == Array(FaultPlan.handlers))
    }

    private static func range(_ text: String) -> ClosedRange<UInt64>? {
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        return ends.count == 2 && ends[0] <= ends[1] ? ends[0]...ends[1] : nil
    }
}

extension FaultSearch {
    /// Figures, then how many plans had both of two families, as a table.
    var summary: String {
        let rate = Double(runs) / max(0.001, seconds) * 60
        let names = Fault.Family.allCases.map(\.rawValue).filter { name in pairs.keys.contains { $0.contains(name) } }
        let rows = names.map { one in
            "| \(one) | "
                + names.map { two in "\(pairs["\(min(one, two)) \(max(one, two))"] ?? 0)" }.joined(separator: " | ")
                + " |"
        }
        return """
            \(runs) plans in \(Int(seconds)) s (\(Int(rate)) a minute), \(simulated.components.seconds / 3600) h \
            simulated, \(states.count) states, \(failures.count) failed
            \(counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
            | | \(names.joined(separator: " | ")) |
            \(rows.joined(separator: "\n"))
            """
    }
}
