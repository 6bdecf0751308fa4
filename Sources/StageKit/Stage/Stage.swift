import Changelog
import HealthModel
import MessageBus
import Protocol

/// One step of the pipeline as a state machine: messages, pulled pages and ticks go in; rows, messages and pulls come
/// out.
///
/// A stage never reads a clock, sleeps, opens a socket or starts a thread. All of that is up to its host, which passes
/// it a `Turn`. This is why the same stage can run in a process of its own, or with a hundred others in one test.
package protocol Stage: AnyObject {
    /// The topics that it receives, in addition to the answers to its pulls.
    var subscriptions: [Subscription] { get }

    /// Creates its tables and loads its state; called once, before anything else.
    func open(_ turn: Turn) throws

    func receive(_ message: Message, _ turn: Turn) throws

    /// Receives the answer to one of the stage's pulls.
    func receive(_ answer: PullAnswer, _ turn: Turn) throws

    /// Receives the result of an effect that the stage asked for.
    func receive(_ result: EffectResult, _ turn: Turn) throws

    /// Gives rows of its changelog versions that a destination doesn't have yet.
    func renew(_ renewal: Renewal, _ turn: Turn) throws

    /// Does whatever is due; called in every turn, after its inputs. A turn follows at the latest at the time returned
    /// (nil: no particular time); even without input the host takes one every 12 s.
    func tick(_ turn: Turn) throws -> MonotonicTime?

    /// Its current state, for the heartbeat; called after each turn, whether or not it wrote anything.
    func report(_ turn: Turn) throws -> StageReport

    /// Begins a person's request. Called again if the process restarts in the meantime, so it must be harmless to begin
    /// twice.
    func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome

    /// The state of a request in progress; called in each turn, after `tick`.
    func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome

    /// What to say although a turn failed, was rolled back, and ends the process: nothing that depends on what the
    /// turn would have written. Not called when the process crashes.
    /// - Parameter messages: the turn's messages, including those that it didn't come to.
    func lastWords(_ messages: [Message]) -> [(topic: String, body: Value)]

    /// Writes whatever the stage would otherwise have written a little later; called when the process is asked to stop.
    /// Not called when the process crashes, so nothing may depend on it.
    func close(_ turn: Turn) throws
}

extension Stage {
    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {}
    package func receive(_ result: EffectResult, _ turn: Turn) throws {}
    package func close(_ turn: Turn) throws {}
    package func lastWords(_ messages: [Message]) -> [(topic: String, body: Value)] { [] }

    package func renew(_ renewal: Renewal, _ turn: Turn) throws {
        try turn.write().raise(above: renewal.above)
        for window in renewal.windows { try turn.changelog.renew(after: window.after, through: window.through) }
    }

    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        .refused("this instance doesn't support '\(request.action)'")
    }

    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome { .done(.null) }
}

/// The current state of a stage.
package struct StageReport: Sendable, Equatable {
    /// How much of each upstream has been consumed, outputs included.
    package var frontier: [String: SequenceNumber]
    /// The latest sequence for each sample type; only reported by the observer.
    package var heads: [String: SequenceNumber]
    /// Anything else that others should know; specific to the stage.
    package var details: HeartbeatDetails
    /// Details that change even when the stage is idle. They are sent along with the others, but are never a reason in
    /// themselves to send a heartbeat.
    package var asides: HeartbeatDetails

    package init(
        frontier: [String: SequenceNumber] = [:], heads: [String: SequenceNumber] = [:],
        details: HeartbeatDetails = HeartbeatDetails(), asides: HeartbeatDetails = HeartbeatDetails()
    ) {
        (self.frontier, self.heads, self.details, self.asides) = (frontier, heads, details, asides)
    }

    /// Whether others should hear of the new state at once.
    package func differs(from old: StageReport) -> Bool {
        frontier != old.frontier || heads != old.heads || details != old.details
    }

    /// All details, as in a heartbeat.
    package var allDetails: HeartbeatDetails { HeartbeatDetails(details, asides) }
}

/// Something outside the stage (an upload, reading a file) that it asks its host to do.
package struct Effect: Sendable {
    package var id: Int64
    package var request: any Sendable

    package init(id: Int64, request: any Sendable) { (self.id, self.request) = (id, request) }
}

package struct EffectResult: Sendable {
    package var id: Int64
    package var value: any Sendable

    package init(id: Int64, value: any Sendable) { (self.id, self.value) = (id, value) }
}
