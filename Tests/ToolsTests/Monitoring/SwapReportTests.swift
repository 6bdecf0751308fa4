import Configuration
import Foundation
import HealthModel
import Logging
import Monitoring
import Protocol
import StageKit
import TestSupport
import Testing

/// What `healthbus status` reports about swaps, tested without a stack.
@Suite struct SwapReportTests {
    private func stack(_ choices: [String: StackConfiguration.Choice] = [:]) throws -> StackConfiguration {
        try StackConfiguration(
            path: nil, choices: choices,
            catalog: PluginCatalog(
                folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere"))
    }

    private func swap(_ step: SwapProgress.Step, isTrial: Bool = false) -> SwapProgress {
        var swap = SwapProgress(id: step.rawValue, instance: "steps", plugin: "steps-python", isTrial: isTrial)
        swap.from = "steps"
        swap.step = step
        return swap
    }

    private func report(_ swaps: [SwapProgress]) throws -> SwapReport {
        SwapReport(swaps: swaps, instances: try stack().instances, kept: [:], running: [:])
    }

    @Test func withoutASwapNothingIsSaid() throws {
        let instances = try stack().instances
        let running = Dictionary(uniqueKeysWithValues: instances.map { ($0.name, $0.manifest.name) })
        let report = SwapReport(
            swaps: [swap(.done), swap(.refused), swap(.failed)], instances: instances, kept: [:], running: running)
        #expect(report.text.isEmpty && report.underWay.isEmpty && report.swapped.isEmpty)
    }

    @Test func aSwapUnderWayIsNamed() throws {
        #expect(
            try report([swap(.done), swap(.trying)]).text
                == "Swap under way: steps-python is tried beside steps in 'steps'.\n\n")
        #expect(try report([swap(.trying, isTrial: true)]).text.contains("in 'steps', only a dry run."))
        #expect(
            try report([swap(.switching)]).text
                == "Swap under way: in 'steps', steps-python takes the place of steps.\n\n")
        // The supervisor hasn't yet determined which plugins are involved.
        let back = SwapProgress(id: "b", instance: "steps", plugin: "", isTrial: false)
        #expect(
            try report([back]).text
                == "Swap under way: the configured plugin is tried beside the running plugin in 'steps'.\n\n")
    }

    @Test func whatATrialFoundIsSaid() {
        var trial = TrialReport()
        trial.computed = 14
        #expect(trial.refusal(of: "mine") == nil && trial.eventsText == nil)
        trial.eventDays = 2
        var nights = TrialReport.Events(kind: "night")
        nights.count = 20
        trial.events = [nights]
        #expect(trial.refusal(of: "mine") == nil && trial.eventsText == "It keeps 20 nights.")
        for day in [10, 12, 11] { nights.lose(1, on: "2025-03-\(day)") }
        nights.lose(2, on: "2025-03-13")
        trial.events = [nights]
        #expect(
            trial.refusal(of: "mine")?.message
                == "'mine' would delete 5 of 20 nights (2025-03-13, 2025-03-12, 2025-03-11, …), at destinations too")
        trial.failed = [.init(date: "2025-03-10", why: "no")]
        #expect(trial.refusal(of: "mine")?.message == "'mine' fails on 1 of 17 days (2025-03-10: no)")
    }

    @Test func aSwappedInstanceIsNamedUntilItIsSwappedBack() throws {
        let swapped = try stack(["steps": .plugin("steps-python")]).instances
        let configured = try #require(try stack().instance("steps"))
        let report = SwapReport(
            swaps: [], instances: swapped, kept: ["steps": configured], running: ["steps": "steps-python"])
        let one = try #require(report.swapped.first)
        #expect(report.swapped.count == 1 && one.instance == "steps" && one.plugin == "steps-python" && one.isKept)
        #expect(one.configured == "steps" && one.configuredVersion == configured.manifest.version)
        #expect(report.text.contains("'healthbus swap steps --back' returns to that."))
        #expect(Value(one)["kept"] == true && Value(one)["plugin"] == "steps-python")
    }

    /// `healthbus run steps --plugin steps-python --takeover` changes nothing in the state folder.
    @Test func aPluginStartedByHandIsNamed() throws {
        let report = SwapReport(
            swaps: [], instances: try stack().instances, kept: [:],
            running: ["steps": "steps-python", "sleep": "sleep"])
        #expect(report.swapped.map(\.instance) == ["steps"] && report.swapped.first?.isKept == false)
        #expect(report.text.hasPrefix("'steps' runs steps-python instead of steps (version "))
        #expect(report.text.hasSuffix("it was started by hand.\n\n"))
    }
}
