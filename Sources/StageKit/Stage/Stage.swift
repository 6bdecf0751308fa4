import Changelog
import HealthModel
import MessageBus
import Protocol

/// One step of the pipeline as a state machine: messages, pulled pages and ticks in; rows, messages and pulls out.
///
/// A stage never reads a clock, sleeps, opens a socket or starts a thread: all of that is its host's, which hands it a `Turn`. So the same stage runs in a
/// process of its own, and a hundred of them in one test.
package protocol Stage: AnyObject {
    /// What it hears beside the answers to its pulls.
    var subscriptions: [Subscription] { get }

    /// Makes its tables and loads its state; called once, before anything else.
    func open(_ turn: Turn) throws

    func receive(_ message: Message, _ turn: Turn) throws

    /// The answer to one of its pulls.
    func receive(_ answer: PullAnswer, _ turn: Turn) throws

    /// What came of an effect it asked for.
    func receive(_ result: EffectResult, _ turn: Turn) throws

    /// Does what is due; called after every batch of inputs and at the time it last returned (nil: not before the next input).
    func tick(_ turn: Turn) throws -> MonotonicTime?

    /// How it stands, for the heartbeat; called after each commit.
    func report(_ turn: Turn) throws -> StageReport

    /// Begins what a person asks for by hand. Asked again after a restart in between; to begin twice must be harmless.
    func mend(_ request: MendRequest, _ turn: Turn) throws -> Mended

    /// What has become of a request that is under way; asked in each turn, after `tick`.
    func mended(_ request: MendRequest, _ turn: Turn) throws -> Mended
}

extension Stage {
    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {}
    package func receive(_ result: EffectResult, _ turn: Turn) throws {}

    package func mend(_ request: MendRequest, _ turn: Turn) throws -> Mended {
        .refused("this instance has no '\(request.action)'")
    }

    package func mended(_ request: MendRequest, _ turn: Turn) throws -> Mended { .done(.null) }
}

/// How a stage stands.
package struct StageReport: Sendable, Equatable {
    /// How far each upstream is consumed, all outputs included.
    package var frontier: [String: SequenceNumber]
    /// Newest sequence by sample type; the observer's alone.
    package var heads: [String: SequenceNumber]
    /// What else others should know: of the stage's own kind.
    package var details: HeartbeatDetails
    /// Details that change while nothing moves. They are told with the others, and are no reason to tell anything.
    package var asides: HeartbeatDetails

    package init(
        frontier: [String: SequenceNumber] = [:], heads: [String: SequenceNumber] = [:],
        details: HeartbeatDetails = HeartbeatDetails(), asides: HeartbeatDetails = HeartbeatDetails()
    ) {
        self.frontier = frontier
        self.heads = heads
        self.details = details
        self.asides = asides
    }

    /// Whether others should hear of it at once.
    package func differs(from old: StageReport) -> Bool {
        frontier != old.frontier || heads != old.heads || details != old.details
    }

    /// All details, as a heartbeat has them.
    package var allDetails: HeartbeatDetails { HeartbeatDetails(details, asides) }
}

/// Something outside (an upload, a file to read) that a stage asks its host to do.
package struct Effect: Sendable {
    package var id: Int64
    package var request: any Sendable

    package init(id: Int64, request: any Sendable) {
        self.id = id
        self.request = request
    }
}

package struct EffectResult: Sendable {
    package var id: Int64
    package var value: any Sendable

    package init(id: Int64, value: any Sendable) {
        self.id = id
        self.value = value
    }
}
