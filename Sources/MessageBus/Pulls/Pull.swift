import HealthModel
import Protocol

/// A request for pages of a producer's changelog. Idempotent: it is sent again until it is answered.
package struct Pull: Sendable, Equatable {
    package var id: Int64
    package var producer: String
    /// The query's name and members, as `docs/protocol.md` lists them.
    package var query: [String: Value]

    package init(id: Int64, producer: String, query: [String: Value]) {
        self.id = id
        self.producer = producer
        self.query = query
    }
}

/// The pages that answer a pull, in order and complete, or why there are none.
package struct PullAnswer: Sendable, Equatable {
    package var pull: Pull
    package var result: Result

    package enum Result: Sendable, Equatable {
        case pages([Value])
        /// The producer doesn't know the anchor: begin anew at its head.
        case reset(StoreHead)
        /// The producer refused the request; asking again won't help.
        case refused(String)
        /// The device is locked: no anchor moves, and the next hint is the time to ask again.
        case databaseInaccessible
    }

    package init(pull: Pull, result: Result) {
        self.pull = pull
        self.result = result
    }
}
