import Client
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import MessageBus
import Protocol
import StageKit
import Terminal

/// Makes a running stack swap an instance's plugin, and follows the swap to its end.
package struct SwapClient {
    private let stack: Stack
    /// A supervisor that has been silent for this long counts as gone.
    private static let patience = Repetition.silence.seconds

    package init(_ stack: Stack) { self.stack = stack }

    /// - Parameter progress: called with each step.
    /// - Returns: how it ended; the swap may have been refused or have failed.
    /// - Throws: `Failure` when no supervisor is running that could carry it out.
    package func swap(_ wish: SwapWish, progress: (SwapProgress) -> Void) throws -> SwapProgress {
        try requireSupervisor(wish)
        let client = try StackClient(address: try stack.address)
        defer { client.close() }
        var last = try submit(wish, client)
        progress(last)
        while !last.step.isOver {
            client.wait(until: Date(timeIntervalSinceNow: 0.05))
            let (known, age) = swaps(client)
            guard age < Self.patience, let now = known.first(where: { $0.id == wish.id }) else {
                throw Failure(
                    "the supervisor stopped during the swap",
                    hint: "run 'healthbus up'; '\(wish.instance)' then runs the plugin it was last ready with")
            }
            if now != last { progress(now) }
            last = now
        }
        return last
    }

    /// Undoes a swap on a stack that isn't running; nil if it is running, since its supervisor has to do it.
    /// - Throws: `Failure` when the instance isn't swapped.
    package func takeBackStopped(_ instance: String) throws -> SwapProgress? {
        try StateFolder.make(stack.state.path)
        try StateFolder.make(stack.supervisorFolder)
        guard let lock = try InstanceLock.take(folder: stack.supervisorFolder) else { return nil }
        defer { withExtendedLifetime(lock) {} }
        let layer = StackLayer(stack.state)
        guard let plugin = try layer.plugin(of: instance) else {
            throw Failure("there is no swap to undo: '\(instance)' runs the configured plugin")
        }
        try layer.set(nil, of: instance)
        var result = SwapProgress(
            id: UUID().uuidString.lowercased(), instance: instance, plugin: "", isTrial: false)
        result.from = plugin
        result.to = stack.configuration.instance(instance)?.plugin ?? ""
        result.step = .done
        return result
    }

    private func requireSupervisor(_ wish: SwapWish) throws {
        guard !stack.isUp() else { return }
        guard try stack.reader().isRunning(wish.instance) else {
            throw Failure("no stack is running in \(stack.state.path)", hint: "start it with \(stack.startCommand)")
        }
        let plugin = wish.plugin.map { " --plugin \($0)" } ?? ""
        throw Failure(
            "'\(wish.instance)' is run by hand, not by 'healthbus up'",
            hint: "take its place with 'healthbus run \(wish.instance)\(plugin) --takeover'")
    }

    private func swaps(_ client: StackClient) -> (known: [SwapProgress], age: Double) {
        guard let entry = client.heartbeats["supervisor"] else { return ([], .infinity) }
        return (
            entry.beat.supervisor?.swaps ?? [], entry.age
        )
    }

    /// Repeats the command until the supervisor has received it.
    private func submit(_ wish: SwapWish, _ client: StackClient) throws -> SwapProgress {
        let wait = AnswerWait(client, for: "supervisor", hub: stack.hub, undone: "nothing was swapped")
        try wait.untilHeard()
        let taken = try client.give(wish.body, to: "supervisor", within: 10, pause: 0.02) {
            swaps(client).known.first { $0.id == wish.id }
        }
        if let taken { return taken }
        throw Failure(
            "the supervisor doesn't accept the command", hint: "'healthbus status' shows its state; try again")
    }
}

extension SwapProgress {
    /// The result of the trial, on one line; nil if there was none.
    package var trialLine: String? {
        guard let trial else { return nil }
        let all = trial.computed + trial.empty + trial.failed.count
        guard all > 0 else { return "There are no days to try it on yet." }
        var text = "Tried on \(all) \(all == 1 ? "day" : "days"): "
        let equal = trial.computed + trial.empty - trial.differing - trial.waiting
        var parts = equal > 0 ? ["\(equal) as before"] : []
        if trial.waiting > 0 {
            parts.append("\(trial.waiting) not compared, because they have failed or wait to be computed")
        }
        if trial.differing > 0 {
            parts.append("\(trial.differing) different (\(trial.figures.sorted().joined(separator: ", ")))")
        }
        if let first = trial.failed.first {
            parts.append("\(trial.failed.count) failed (\(first.date): \(first.why))")
        }
        text += parts.joined(separator: ", ") + "."
        if let days = trial.eventDays {
            text += " Compared the events of \(HumanFormat.count(days, "further day"))."
        }
        return text + (trial.eventsText.map { " " + $0 } ?? "")
    }

    /// The days and figures that would differ, with the old and the new value; empty if none would.
    package static func table(of changes: [TrialChange], for terminal: Terminal) -> String {
        guard !changes.isEmpty else { return "" }
        let isForOne = Set(changes.map(\.user)).count == 1
        var table = Table([.init("Day"), .init("Figure"), .number("Now"), .number("Then")])
        for change in changes.sorted(by: { ($0.date, $0.figure) < ($1.date, $1.figure) }) {
            let day = isForOne ? change.date : "\(change.date) \(change.user)"
            table.add([day, change.figure, text(change.before), text(change.after)])
        }
        return "\n" + table.render(for: terminal) + "\n"
    }

    private static func text(_ value: Value) -> String { value.isNull ? "none" : String(value.json().prefix(60)) }

    /// The swap's outcome so far, on one line.
    package var resultLine: String {
        if dryRun { return "\(instance) still runs \(from): this was a dry run." }
        guard let without else { return "\(instance) will run \(to) from the next start on." }
        return "\(instance) runs \(to) now, after \(without / 1000) ms without either."
    }
}
