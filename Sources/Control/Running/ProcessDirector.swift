import Client
import Configuration
import Foundation
import Inspection
import Logging
import MessageBus
import Protocol
import StageKit
import Supervisor
import Synchronization

/// The supervisor's part in `healthbus stop INSTANCE` and `start INSTANCE`, on a separate thread.
///
/// A person's request is stored as configuration (`stack.json`) before anything is done, so it survives the supervisor,
/// however that ends.
final class ProcessDirector: Sendable {
    private struct State {
        var stopped: Set<String>
        var taken: [String] = []
        var outcomes: [SupervisorDetails.WishOutcome] = []
        var said: (@Sendable () -> Void)?
    }

    private static let kept = 8
    private let stack: Stack
    private let layer: StackLayer
    private let wishes = Mailbox<ProcessWish>(capacity: 16)
    private let state: Mutex<State>

    /// - Throws: `ConfigurationError` when the state folder's own configuration can't be read.
    init(_ stack: Stack) throws {
        self.stack = stack
        layer = StackLayer(stack.state)
        // Any instances not found here have been removed from the configuration.
        state = Mutex(State(stopped: try layer.stopped().intersection(stack.names)))
    }

    /// Instances that stay down.
    var stopped: Set<String> { state.withLock { $0.stopped } }

    /// The outcome of the latest requests, to be reported in the heartbeat.
    var outcomes: [SupervisorDetails.WishOutcome] { state.withLock { $0.outcomes } }

    /// - Parameter said: sends the heartbeat at once.
    func start(_ supervisor: Supervisor, said: @escaping @Sendable () -> Void) {
        state.withLock { $0.said = said }
        Thread.begin("processes") { [self] in
            while !wishes.isClosed {
                for wish in wishes.take(limit: 1, timeout: 3600) { conduct(wish, supervisor) }
            }
        }
    }

    func stop() { wishes.close() }

    /// Receives a message on the supervisor's topic; called on the bus thread.
    func hear(_ message: Message) {
        guard message.topic == ProcessWish.topic("supervisor"), let wish = ProcessWish(message.body) else { return }
        let isNew = state.withLock { state in
            guard !state.taken.contains(wish.id) else { return false }
            state.taken = state.taken.suffix(Self.kept * 4) + [wish.id]
            return true
        }
        // If the mailbox is full, the message is dropped; its sender repeats it.
        if isNew, !wishes.offer(wish) { state.withLock { $0.taken.removeAll { $0 == wish.id } } }
    }

    private func conduct(_ wish: ProcessWish, _ supervisor: Supervisor) {
        var problem: String?
        do {
            try ProcessRule.require(wish.instance, runs: wish.runs, in: stack.configuration)
            try layer.setStopped(!wish.runs, wish.instance)
            state.withLock { state in
                if wish.runs { state.stopped.remove(wish.instance) } else { state.stopped.insert(wish.instance) }
            }
            if wish.runs { supervisor.start(wish.instance) } else { supervisor.stop(wish.instance) }
        } catch { problem = Failure(of: error).message }
        let said = state.withLock { state in
            state.outcomes = state.outcomes.suffix(Self.kept - 1) + [.init(id: wish.id, problem: problem)]
            return state.said
        }
        said?()
    }
}

/// Which instances may be stopped individually. Pure.
enum ProcessRule {
    static func require(_ instance: String, runs: Bool, in stack: StackConfiguration) throws(Failure) {
        guard let found = stack.instance(instance) else {
            throw Failure.usage(
                "this stack has no '\(instance)'", hint: Nearest.hint(for: instance, among: stack.instances.map(\.name))
            )
        }
        guard runs || found.manifest.kind != .hub else {
            throw Failure(
                "the hub can't be stopped alone: all others communicate through it",
                hint: "'healthbus stop' stops the whole stack")
        }
    }
}
