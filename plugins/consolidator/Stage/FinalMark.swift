import HealthModel

/// The rule by which days become final, and how far the observer's changes have been turned into summaries. Pure.
///
/// A mark is an observer's head that was sent while no import was open. Once every handler's frontier has reached it,
/// and their outputs up to the heads sent with those frontiers are consumed, every day that was over when the mark was
/// sent is final.
package struct FinalMark: Sendable, Equatable {
    package struct Mark: Sendable, Equatable {
        package var head: SequenceNumber
        /// When the mark was sent, by the wall clock: days that were over by then may become final.
        package var heardAt: Instant
        /// When the mark was taken, on the monotonic clock: decides which handlers are listed as late.
        package var since: MonotonicTime
    }

    /// A handler's statement: its outputs up to `head`, of one generation, cover the observer up to `frontier`.
    package struct Word: Sendable, Equatable {
        package var frontier: SequenceNumber
        package var head: SequenceNumber
        package var generation: String

        package init(frontier: SequenceNumber, head: SequenceNumber, generation: String) {
            (self.frontier, self.head, self.generation) = (frontier, head, generation)
        }
    }

    private struct Handler: Sendable, Equatable {
        /// The oldest statement whose outputs aren't consumed yet, and the newest: a stream of newer ones must not
        /// postpone the first.
        var waiting: Word?
        var newest: Word?
        /// The position in the observer's changes up to which the consumed outputs reach.
        var covered: SequenceNumber?
        /// The generation of the consumed outputs.
        var generation: String?
    }

    private var handlers: [String: Handler]
    package private(set) var mark: Mark?

    /// A handler that hasn't reached the mark after this time is listed in `missing`.
    package static let patience = Duration.seconds(15)

    package init(handlers: [String]) {
        self.handlers = Dictionary(uniqueKeysWithValues: handlers.map { ($0, Handler()) })
    }

    /// How far into the observer's changes every handler's consumed outputs reach; nil until each has reported.
    package var covered: SequenceNumber? {
        var minimum: SequenceNumber?
        for handler in handlers.values {
            guard let covered = handler.covered else { return nil }
            minimum = min(minimum ?? covered, covered)
        }
        return minimum
    }

    package mutating func heard(_ word: Word, from name: String) {
        guard var handler = handlers[name] else { return }
        if handler.waiting == nil { handler.waiting = word } else { handler.newest = word }
        handlers[name] = handler
    }

    /// Notes that a handler's outputs of a generation have been consumed up to `sequence`.
    package mutating func consumed(_ sequence: SequenceNumber, _ generation: String?, of name: String) {
        guard var handler = handlers[name] else { return }
        if handler.generation != generation { (handler.generation, handler.covered) = (generation, nil) }
        // A store that was lost or restored never reaches the heads that it gave out before.
        while let word = handler.waiting, word.generation != generation || word.head <= sequence {
            if word.generation == generation { handler.covered = word.frontier }
            handler.waiting = handler.newest
            handler.newest = nil
        }
        handlers[name] = handler
    }

    /// Takes a new mark unless the current one hasn't been reached yet.
    package mutating func offer(_ head: SequenceNumber, at now: Instant, monotonic: MonotonicTime) {
        if mark == nil { mark = Mark(head: head, heardAt: now, since: monotonic) }
    }

    /// Withdraws the mark: an import or the daily task has begun, zones have changed, or something has started over.
    package mutating func withdraw() { mark = nil }

    /// Handlers that haven't reached the mark for longer than `patience`.
    package func missing(at monotonic: MonotonicTime) -> [String] {
        guard let mark, monotonic - mark.since >= Self.patience else { return [] }
        return handlers.filter { ($0.value.covered ?? .beginning) < mark.head }.keys.sorted()
    }

    /// Returns the mark once every handler has reached it, and removes it.
    package mutating func reached() -> Mark? {
        guard let mark, let covered, covered >= mark.head else { return nil }
        self.mark = nil
        return mark
    }
}
