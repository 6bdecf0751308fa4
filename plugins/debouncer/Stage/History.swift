import Changelog
import HealthModel
import Protocol

/// The historical sync: a span of days is delivered again in chunks, one at a time, newest first. Pure, and stored in
/// the stage's file.
///
/// A chunk is done when every consumer has reported it done; until then it is announced repeatedly. Versions make
/// double delivery harmless.
package struct History: Sendable, Equatable {
    package static let daysPerChunk = 7

    /// Rises with each historical sync in this stack.
    package var number: Int64
    /// Local dates, inclusive.
    package var from: LocalDay
    package var through: LocalDay
    /// How many chunks are done.
    package private(set) var done = 0
    /// When it began, by the wall clock.
    package var began: Instant
    /// Consumers that have finished the current chunk.
    private var finished: Set<String> = []

    package init(number: Int64, from: LocalDay, through: LocalDay, began: Instant) {
        self.number = number
        self.from = min(from, through)
        (self.through, self.began) = (through, began)
    }

    package var chunks: Int { (through.number - from.number) / Self.daysPerChunk + 1 }
    package var isDone: Bool { done >= chunks }

    /// The current chunk; nil when all are done.
    package var chunk: (id: String, from: LocalDay, through: LocalDay)? {
        guard !isDone else { return nil }
        let end = through.adding(days: -done * Self.daysPerChunk)
        return ("\(number)-\(done + 1)", max(from, end.adding(days: 1 - Self.daysPerChunk)), end)
    }

    /// Notes that a consumer has finished a chunk; returns true if it was the last of `consumers`, so that the next
    /// chunk has begun.
    package mutating func heard(_ consumer: String, hasDone id: String, of consumers: Set<String>) -> Bool {
        guard let chunk, chunk.id == id else { return false }
        finished.insert(consumer)
        guard consumers.isSubset(of: finished) else { return false }
        done += 1
        finished = []
        return true
    }
}

extension History {
    /// As stored, and as reported in the heartbeat.
    package var details: DebouncerDetails.History {
        DebouncerDetails.History(
            number: number, from: from.description, through: through.description, done: done, chunks: chunks,
            began: began)
    }

    package init?(_ kept: DebouncerDetails.History) {
        guard let from = LocalDay(kept.from), let through = LocalDay(kept.through) else { return nil }
        self.init(number: kept.number, from: from, through: through, began: kept.began)
        done = kept.done
    }
}
