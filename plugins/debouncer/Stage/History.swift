import Changelog
import HealthModel
import Protocol

/// The historical sync: a span of days is delivered again in chunks, the newest first, one after the other. Pure, and kept in the stage's file.
///
/// A chunk is done when every consumer has said so; until then it is told again and again. Versions make whatever is delivered twice harmless.
package struct History: Sendable, Equatable {
    package static let daysPerChunk = 7

    /// Rises with each historical sync of this stack.
    package var number: Int64
    /// Local dates, both included.
    package var from: LocalDay
    package var through: LocalDay
    /// Chunks that are done.
    package private(set) var done = 0
    /// By the clock.
    package var began: Instant
    /// Consumers that have done the chunk under way.
    private var finished: Set<String> = []

    package init(number: Int64, from: LocalDay, through: LocalDay, began: Instant) {
        self.number = number
        self.from = min(from, through)
        self.through = through
        self.began = began
    }

    package var chunks: Int { (through.number - from.number) / Self.daysPerChunk + 1 }
    package var isDone: Bool { done >= chunks }

    /// The chunk under way; nil when all are done.
    package var chunk: (id: String, from: LocalDay, through: LocalDay)? {
        guard !isDone else { return nil }
        let end = through.adding(days: -done * Self.daysPerChunk)
        return ("\(number)-\(done + 1)", max(from, end.adding(days: 1 - Self.daysPerChunk)), end)
    }

    /// A consumer has done all of a chunk; true when that was the last of `consumers`, and the next chunk is under way.
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
    /// As it is kept, and told in the heartbeat.
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
