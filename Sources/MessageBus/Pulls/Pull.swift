import HealthModel
import Protocol

/// The pages that answer a pull, complete and in order, or why there are none.
package struct PullAnswer: Sendable, Equatable {
    package var pull: Pull
    package var result: Result

    package enum Result: Sendable, Equatable {
        /// The asker decodes them as the content that it asked for.
        case pages([Value])
        /// The producer doesn't know the anchor: read its store, which has this head, from the beginning.
        case reset(StoreHead)
        /// The producer refused the request, for this reason.
        case refused(String)
        /// The device is locked: no anchor moves, and the next hint shows when to ask again.
        case databaseInaccessible
    }

    package init(pull: Pull, result: Result) { (self.pull, self.result) = (pull, result) }
}
