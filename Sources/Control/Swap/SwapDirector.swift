import Client
import Clocks
import Configuration
import Foundation
import HealthModel
import Inspection
import Logging
import MessageBus
import Processes
import Protocol
import StageKit
import Supervisor
import Synchronization
import Terminal

/// The supervisor's part in swaps: one after the other, on a separate thread; the supervisor's heartbeat reports the
/// progress.
///
/// Only the configuration is stored, once the new process is ready: if any process dies before that, the old one starts
/// again.
final class SwapDirector: Sendable {
    static let subscriptions: [Subscription] = [.exact("control.supervisor"), .prefix(StandbyWord.prefix)]

    enum Event: Sendable {
        case word(StandbyWord)
        case ended(why: String)
        case tookPlace(after: Duration)
        /// The new process has taken over, but that couldn't be saved.
        case unwritten(why: String)
        /// The process that runs in the instance's own place is ready.
        case ready(String)
    }

    /// What to save when the new process is ready.
    struct Plan {
        var instance: String
        var standby: String
        var pid: Int
        /// The plugin that the state folder will record; nil if it is the configured one.
        var entry: String?
        var wanted: StackConfiguration
        /// What is needed to restart the old process.
        var old: ProcessSpec
    }

    private struct State {
        var supervisor: Supervisor?
        var said: (@Sendable () -> Void)?
        /// The last few swaps, newest last.
        var swaps: [SwapProgress] = []
        /// The instance being swapped; actions concerning others are ignored.
        var active: String?
        var plan: Plan?
    }

    private static let kept = 8
    let processes: StackProcesses
    let layer: StackLayer
    /// The configuration known to the running processes.
    let running: Mutex<StackConfiguration>
    private let wishes = Mailbox<SwapWish>(capacity: 8)
    private let events = Mailbox<Event>(capacity: 256)
    private let state = Mutex(State())

    init(_ stack: Stack, _ processes: StackProcesses) {
        self.processes = processes
        layer = StackLayer(stack.state)
        running = Mutex(stack.configuration)
    }

    /// - Parameter said: sends the heartbeat at once.
    func start(_ supervisor: Supervisor, said: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.supervisor = supervisor
            state.said = said
        }
        Thread.begin("swaps") { [self] in
            while !wishes.isClosed {
                for wish in wishes.take(limit: 1, timeout: 3600) { conduct(wish, supervisor) }
            }
        }
    }

    func stop() {
        wishes.close()
        events.close()
    }

    /// For the heartbeat.
    var all: [SwapProgress] { state.withLock { $0.swaps } }

    /// Receives a message on the topics that it subscribes to, or a heartbeat; called on the bus thread.
    func hear(_ message: Message) {
        if let wish = SwapWish(message.body), message.topic == "control.supervisor" {
            let isNew = state.withLock { state in
                guard !state.swaps.contains(where: { $0.id == wish.id }) else { return false }
                state.swaps.append(
                    SwapProgress(
                        id: wish.id, instance: wish.instance, plugin: wish.plugin ?? "", isTrial: wish.isTrial))
                // Swaps under way are reported until they are over.
                while state.swaps.count > Self.kept, state.swaps[0].step.isOver { state.swaps.removeFirst() }
                return true
            }
            if isNew { state.withLock { $0.said }?() }
            if isNew, !wishes.offer(wish) { finish(wish.id, .refused, Failure("too many swaps are already waiting")) }
        } else if let word = StandbyWord(message) {
            post(.word(word), of: word.instance)
        } else if let plan = state.withLock({ $0.plan }), let beat = Heartbeat(message), beat.instance == plan.instance,
            beat.pid == plan.pid, beat.phase == .ready
        {
            state.withLock { $0.supervisor }?.noteReady(plan.standby)
        }
    }

    /// Called on the supervisor's thread, so nothing else happens to the processes in the meantime.
    func note(_ notice: SupervisorNotice) {
        switch notice {
        case .standbyEnded(_, let place, let why, _): post(.ended(why: why), of: place)
        case .ready(let name): post(.ready(name), of: name)
        case .tookPlace(let place, _, let after):
            guard let plan = state.withLock({ $0.plan }), plan.instance == place else { return }
            do {
                try layer.set(plan.entry, of: place)
                running.withLock { $0 = plan.wanted }
                events.insist(.tookPlace(after: after))
            } catch {
                events.insist(.unwritten(why: "\(error)"))
                state.withLock { $0.supervisor }?.replace(plan.old)
            }
        default: return
        }
    }

    private func post(_ event: Event, of instance: String) {
        if state.withLock({ $0.active }) == instance { events.insist(event) }
    }

    func update(_ id: String, _ change: (inout SwapProgress) -> Void) {
        let said = state.withLock { state in
            if let index = state.swaps.firstIndex(where: { $0.id == id }) { change(&state.swaps[index]) }
            return state.said
        }
        said?()
    }

    private func finish(_ id: String, _ step: SwapProgress.Step, _ failure: Failure? = nil) {
        update(id) { swap in
            swap.step = step
            swap.problem = failure?.message
            swap.hint = failure?.hint
        }
    }

    // MARK: One swap

    private func conduct(_ wish: SwapWish, _ supervisor: Supervisor) {
        _ = events.take(limit: .max, timeout: 0)
        state.withLock { $0.active = wish.instance }
        defer {
            state.withLock { state in
                state.active = nil
                state.plan = nil
            }
        }
        do {
            var plan = try self.plan(wish, supervisor)
            let word = try tryOut(wish, plan, supervisor)
            plan.pid = word.pid
            update(wish.id) { $0.trial = word.trial }
            if let failure = refusal(wish, plan, word.trial) {
                dismiss(plan, supervisor)
                return finish(wish.id, .refused, failure)
            }
            if wish.isTrial {
                dismiss(plan, supervisor)
                return finish(wish.id, .done)
            }
            state.withLock { $0.plan = plan }
            update(wish.id) { $0.step = .switching }
            supervisor.promote(plan.standby, within: .seconds(wish.within))
            conclude(wish, plan, supervisor)
        } catch let failure as Failure {
            finish(wish.id, .refused, failure)
        } catch {
            finish(wish.id, .refused, Failure("\(error)"))
        }
    }

    /// The next event before a given moment; nil when there was none.
    private func next(until deadline: MonotonicTime) -> Event? {
        events.take(limit: 1, timeout: max(.zero, deadline - MonotonicClock.now).seconds).first
    }

    /// Starts the new process and waits until it stands by.
    private func tryOut(_ wish: SwapWish, _ plan: Plan, _ supervisor: Supervisor) throws -> StandbyWord {
        guard let new = plan.wanted.instance(plan.instance) else {
            throw Failure("this stack has no '\(plan.instance)'")
        }
        supervisor.standBy(processes.standby(new, swap: wish.id), becoming: processes.spec(new))
        let deadline = MonotonicClock.now + .seconds(wish.within)
        var why: String?
        while let event = next(until: deadline) {
            switch event {
            case .word(let word) where word.swap == wish.id:
                if word.phase == .waiting { return word }
                why = word.why ?? why
            case .ended(let how):
                // The process's last message may still be in transit, since its end may become known first.
                let reason = why ?? lastWord(of: wish) ?? "'\(new.plugin)' \(Self.end(how))"
                var failure = Failure("'\(plan.instance)' wasn't swapped and runs as before: ", said: reason)
                failure.hint = failure.hint ?? "'healthbus logs \(plan.instance)' shows what it said"
                throw failure
            default: continue
            }
        }
        dismiss(plan, supervisor)
        throw Failure(
            "'\(plan.instance)' wasn't swapped and runs as before: '\(new.plugin)' wasn't ready within \(HumanFormat.duration(.seconds(wish.within)))",
            hint: "'healthbus logs \(plan.instance)' shows what it said; --within gives it more time")
    }

    /// For example "was killed (signal 9)" or "ended (exit code 3)".
    private static func end(_ how: String) -> String {
        how.hasPrefix("signal 9") ? "was killed (signal 9)" : "ended (\(how))"
    }

    /// Why a new process ended after it had begun to take over.
    private static func unready(_ how: String, within seconds: Double) -> String {
        "the new plugin \(end(how)) before it was ready, which may take \(HumanFormat.duration(.seconds(seconds)))"
    }

    /// Why a process that has ended couldn't continue; nil if the reason isn't known within a few seconds.
    private func lastWord(of wish: SwapWish) -> String? {
        let deadline = MonotonicClock.now + .seconds(5)
        while let event = next(until: deadline) {
            if case .word(let word) = event, word.swap == wish.id, let why = word.why { return why }
        }
        return nil
    }

    private func refusal(_ wish: SwapWish, _ plan: Plan, _ trial: TrialReport?) -> Failure? {
        wish.isForced ? nil : trial?.refusal(of: wish.plugin ?? plan.instance)
    }

    /// Ends the new process, and waits until it is gone.
    private func dismiss(_ plan: Plan, _ supervisor: Supervisor) {
        supervisor.stop(plan.standby)
        let deadline = MonotonicClock.now + .seconds(20)
        while let event = next(until: deadline) {
            if case .ended = event { return }
        }
    }

    private func conclude(_ wish: SwapWish, _ plan: Plan, _ supervisor: Supervisor) {
        // The old process may drain for 10 s; anything that takes longer than this limit in total is no longer a swap.
        let deadline = MonotonicClock.now + .seconds(wish.within + 60)
        var why: String?
        while let event = next(until: deadline) {
            switch event {
            case .tookPlace(let after):
                update(wish.id) { swap in
                    swap.without = Int64(after / .microseconds(1))
                    swap.step = .done
                }
                return
            case .unwritten(let reason):
                why = "the new plugin took over, but that couldn't be recorded: \(reason)"
            case .ended(let how):
                why = why ?? Self.unready(how, within: wish.within)
                // The new process ended before the old one was asked to end.
                if supervisor.statuses.contains(where: { $0.name == wish.instance && $0.state == .ready }) {
                    return fail(wish, why)
                }
            case .word(let word) where word.swap == wish.id && word.phase == .failed: why = word.why
            case .ready(plan.instance) where why != nil: return fail(wish, why)
            default: continue
            }
        }
        finish(
            wish.id, .failed,
            Failure(
                "the swap failed: "
                    + (why.map { "\($0); the old one is being restarted" } ?? "it took too long"),
                hint: "'healthbus status' shows whether '\(wish.instance)' runs again"))
    }

    private func fail(_ wish: SwapWish, _ why: String?) {
        finish(
            wish.id, .failed,
            Failure(
                "'\(wish.instance)' wasn't swapped and runs as before: \(why ?? "")",
                hint: "'healthbus logs \(wish.instance)' shows what it said"))
    }
}
