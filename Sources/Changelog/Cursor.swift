import HealthModel
import Protocol

/// A consumer's place in one upstream's changelog: pure, persisted with the outputs it led to.
package struct Cursor: Sendable, Equatable {
    /// nil before the upstream was ever heard.
    package var store: String?
    package var generation: String?
    /// Everything up to here is consumed, but for what `backfill` names.
    package var anchor: AnchorVector
    /// Ranges left behind when the consumer went live: (from, to], oldest first.
    package var backfill: [Range]
    /// After a reset: once everything up to here is consumed, what hasn't been seen again is gone.
    package var snapshotUntil: SequenceNumber?
    /// What the store held when it was first heard: up to here it isn't news.
    package private(set) var bulkUntil = SequenceNumber.beginning

    package struct Range: Sendable, Equatable {
        package var from: SequenceNumber
        package var to: SequenceNumber

        package init(from: SequenceNumber, to: SequenceNumber) {
            self.from = from
            self.to = to
        }
    }

    package init() {
        anchor = .beginning
        backfill = []
    }

    /// Everything up to here has been consumed, whatever the type.
    package var frontier: SequenceNumber { frontier(besides: []) }

    /// The same for all types but these.
    package func frontier(besides types: Set<String>) -> SequenceNumber {
        Swift.min(anchor.minimum(besides: types), backfill.map(\.from).min() ?? .end)
    }

    /// What to ask for next.
    package struct Window: Sendable, Equatable {
        package var after: AnchorVector
        package var until: AnchorVector
        package var isBackfill: Bool

        package init(after: AnchorVector, until: AnchorVector, isBackfill: Bool) {
            self.after = after
            self.until = until
            self.isBackfill = isBackfill
        }
    }

    /// The next window within `limit`, live data first; nil when there is nothing to fetch.
    /// - Parameter backfillBeyond: a consumer further behind than this many sequences goes live and fetches the rest in between.
    package mutating func nextWindow(limit: AnchorVector, backfillBeyond: Int64?) -> Window? {
        if let backfillBeyond, limit.minimum - anchor.maximum > backfillBeyond {
            let range = Range(from: anchor.minimum, to: limit.minimum)
            if let last = backfill.last, last.to >= range.from {
                backfill[backfill.count - 1].to = range.to
            } else {
                backfill.append(range)
            }
            anchor = AnchorVector(base: range.to)
        }
        if anchor.isBehind(limit) { return Window(after: anchor, until: limit, isBackfill: false) }
        // Newest first: last week matters more than the year before it.
        if let range = backfill.last {
            return Window(after: AnchorVector(base: range.from), until: AnchorVector(base: range.to), isBackfill: true)
        }
        return nil
    }

    /// A window without rows: asking for it only shows the producer the anchor.
    package var emptyWindow: Window { Window(after: anchor, until: anchor, isBackfill: false) }

    /// Notes that everything up to `sequence` of a window has been consumed.
    package mutating func consumed(_ window: Window, through sequence: SequenceNumber) {
        guard window.isBackfill else {
            anchor = anchor.advanced(to: sequence, within: window.until)
            return
        }
        guard let index = backfill.firstIndex(where: { $0.to >= window.until.base && $0.from <= window.after.base })
        else { return }
        backfill[index].from = Swift.max(backfill[index].from, sequence)
        if backfill[index].from >= backfill[index].to { backfill.remove(at: index) }
    }

    /// Begins at a store that was never heard before.
    package mutating func begin(at head: StoreHead) {
        store = head.store
        generation = head.generation
        anchor = AnchorVector(base: head.first.previous)
        bulkUntil = head.sequence
    }

    /// Goes back to a sequence: what has changed since is to be consumed once more. Never forward.
    package mutating func rewind(to sequence: SequenceNumber) {
        anchor = AnchorVector(
            base: Swift.min(anchor.base, sequence), exceptions: anchor.exceptions.mapValues { Swift.min($0, sequence) })
        backfill = backfill.compactMap { range in
            range.from < sequence ? Range(from: range.from, to: Swift.min(range.to, sequence)) : nil
        }
    }

    /// Forgets what was consumed: names a generation that no store has, so that the producer's answer is a reset.
    package mutating func forget() {
        generation = "forgotten"
        anchor = .beginning
        backfill = []
        snapshotUntil = nil
    }

    /// Begins anew at a store that doesn't continue what was consumed.
    package mutating func reset(to head: StoreHead) {
        store = head.store
        generation = head.generation
        anchor = AnchorVector(base: head.first.previous)
        backfill = []
        snapshotUntil = head.sequence
        bulkUntil = head.sequence
    }
}

extension Cursor {
    /// As a consumer's file has it.
    private struct Kept: Codable {
        @OrNull var store: String?
        @OrNull var generation: String?
        var anchor: AnchorVector
        /// From and to.
        var backfill: [[SequenceNumber]]?
        @OrNull var snapshotUntil: SequenceNumber?
        var bulkUntil: SequenceNumber?
    }

    package var wireValue: Value {
        Value(
            Kept(
                store: store, generation: generation, anchor: anchor, backfill: backfill.map { [$0.from, $0.to] },
                snapshotUntil: snapshotUntil, bulkUntil: bulkUntil))
    }

    package init?(wireValue value: Value) {
        guard let kept = value.read(Kept.self) else { return nil }
        self.init()
        store = kept.store
        generation = kept.generation
        anchor = kept.anchor
        snapshotUntil = kept.snapshotUntil
        bulkUntil = kept.bulkUntil ?? .beginning
        for ends in kept.backfill ?? [] {
            guard ends.count == 2 else { return nil }
            backfill.append(Range(from: ends[0], to: ends[1]))
        }
    }
}

/// What a producer says of an anchor.
package enum AnchorVerdict: Sendable, Equatable {
    case good
    /// Another store, an unknown generation, or a sequence that its generation never reached.
    case reset
    /// As `reset`, and it shows that this store has lost rows that others have seen: it needs a new generation.
    case lostRows
}

extension StageDatabase {
    /// Whether a consumer may go on from (store, generation, sequence). A consumer that was never here (nil) may begin at 0.
    package func judge(store: String?, generation: String?, sequence: SequenceNumber) -> AnchorVerdict {
        Self.judge(
            head: head, generations: generations, store: store, generation: generation, sequence: sequence)
    }

    package static func judge(
        head: StoreHead, generations: [Generation], store: String?, generation: String?, sequence: SequenceNumber
    ) -> AnchorVerdict {
        guard let store, let generation else { return sequence == .beginning ? .good : .reset }
        guard store == head.store, let index = generations.firstIndex(where: { $0.nonce == generation }) else {
            return .reset
        }
        let newer = generations[(index + 1)...]
        if !newer.isEmpty { return newer.allSatisfy { sequence <= $0.after } ? .good : .reset }
        return sequence <= head.sequence ? .good : .lostRows
    }
}
