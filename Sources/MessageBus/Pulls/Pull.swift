import HealthModel
import Protocol

/// The pages that answer a pull, in order and complete, or why there are none.
package struct PullAnswer: Sendable, Equatable {
    package var pull: Pull
    package var result: Result

    package enum Result: Sendable, Equatable {
        /// Whoever asked for them reads them as the content that it asked for.
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
