import HealthModel
import Protocol
import SQLite

/// A consumer's position in one upstream's changelog. It is pure, and stored together with the outputs of everything up
/// to it.
package struct Cursor: Sendable, Equatable {
    /// nil until the upstream's first heartbeat arrives.
    package var store: String?
    package var generation: String?
    /// The newest incarnation of the store in which the anchor has been valid.
    package private(set) var incarnation: String?
    /// Everything up to here has been consumed, except what `backfill` lists.
    package var anchor: AnchorVector
    /// Ranges left behind when the consumer went live: (from, to], oldest first.
    package var backfill: [Range]
    /// After a reset: once everything up to here has been consumed, anything not seen again is gone.
    package var snapshotUntil: SequenceNumber?
    /// The store's head in its first heartbeat, or at the last reset: changes up to here aren't news.
    package private(set) var bulkUntil = SequenceNumber.beginning
    /// The frontier before the consumer went back: it consumes changes up to here once more, but lacks none of them.
    private var before = SequenceNumber.beginning

    package struct Range: Sendable, Equatable {
        package var from: SequenceNumber
        package var to: SequenceNumber

        package init(from: SequenceNumber, to: SequenceNumber) { (self.from, self.to) = (from, to) }
    }

    package init() {
        anchor = .beginning
        backfill = []
    }

    /// Everything up to here has been consumed, for every type.
    package var frontier: SequenceNumber { frontier(besides: []) }

    /// The same for all types except the given ones.
    package func frontier(besides types: Set<String>) -> SequenceNumber {
        Swift.min(anchor.minimum(besides: types), backfill.map(\.from).min() ?? .end)
    }

    /// Everything up to here has been consumed at least once, though the consumer may have gone back since.
    package func reached(besides types: Set<String>) -> SequenceNumber {
        Swift.max(frontier(besides: types), before)
    }

    /// The range of sequence numbers to request next.
    package struct Window: Sendable, Equatable {
        package var after: AnchorVector
        package var until: AnchorVector
        package var isBackfill: Bool

        package init(after: AnchorVector, until: AnchorVector, isBackfill: Bool) {
            (self.after, self.until, self.isBackfill) = (after, until, isBackfill)
        }
    }

    /// The next window within `limit`, live data first; nil when there is nothing to fetch.
    /// - Parameter backfillBeyond: a consumer that is further behind than this many sequence numbers goes live, and
    ///   fetches the rest whenever it has nothing newer to fetch.
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
        // The newest range comes first: last week matters more than last year.
        if let range = backfill.last {
            return Window(after: AnchorVector(base: range.from), until: AnchorVector(base: range.to), isBackfill: true)
        }
        return nil
    }

    /// Whether it differs only in having passed a few more changes.
    package func isLittleAhead(of other: Cursor) -> Bool {
        var same = self
        (same.anchor, same.incarnation) = (other.anchor, other.incarnation)
        return same == other && anchor.maximum - other.anchor.minimum < Self.little
    }

    private static let little: Int64 = 1000

    /// Whether the store's newest rows are from a process that hasn't judged the anchor yet.
    package func isUnproven(in head: StoreHead) -> Bool {
        store != head.store || generation != head.generation || incarnation != head.incarnation
    }

    /// Notes that a store with this head has found the anchor valid.
    package mutating func proven(in head: StoreHead) {
        (store, generation, incarnation) = (head.store, head.generation, head.incarnation)
    }

    /// A window without rows, requested only to show the producer the anchor.
    package var emptyWindow: Window { Window(after: anchor, until: anchor, isBackfill: false) }

    /// Records that a window has been consumed up to `sequence`.
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

    /// Begins to consume a store that wasn't known before.
    package mutating func begin(at head: StoreHead) {
        proven(in: head)
        anchor = AnchorVector(base: head.first.previous)
        bulkUntil = head.sequence
        before = .beginning
    }

    /// Goes back to a sequence number: whatever has changed since is consumed once more. Never goes forward.
    /// - Parameter types: types that the consumer doesn't read at present.
    package mutating func rewind(to sequence: SequenceNumber, besides types: Set<String> = []) {
        before = reached(besides: types)
        anchor = AnchorVector(
            base: Swift.min(anchor.base, sequence), exceptions: anchor.exceptions.mapValues { Swift.min($0, sequence) })
        backfill = backfill.compactMap { range in
            range.from < sequence ? Range(from: range.from, to: Swift.min(range.to, sequence)) : nil
        }
    }

    /// Forgets what was consumed: switches to a generation that no store has, so that the producer answers with a
    /// reset.
    package mutating func forget() {
        generation = "forgotten"
        incarnation = nil
        anchor = .beginning
        backfill = []
        snapshotUntil = nil
        before = .beginning
    }

    /// Starts over with a store that doesn't continue what was consumed.
    package mutating func reset(to head: StoreHead) {
        proven(in: head)
        anchor = AnchorVector(base: head.first.previous)
        backfill = []
        snapshotUntil = head.sequence
        bulkUntil = head.sequence
        before = .beginning
    }
}

extension Cursor {
    /// The cursor as stored in a consumer's file.
    private struct Kept: Codable {
        @OrNull var store: String?
        @OrNull var generation: String?
        var incarnation: String?
        var anchor: AnchorVector
        /// From and to.
        var backfill: [[SequenceNumber]]?
        @OrNull var snapshotUntil: SequenceNumber?
        var bulkUntil: SequenceNumber?
        var before: SequenceNumber?
    }

    package var wireValue: Value {
        Value(
            Kept(
                store: store, generation: generation, incarnation: incarnation, anchor: anchor,
                backfill: backfill.map { [$0.from, $0.to] }, snapshotUntil: snapshotUntil, bulkUntil: bulkUntil,
                before: before > frontier ? before : nil))
    }

    package init?(wireValue value: Value) {
        guard let kept = value.read(Kept.self) else { return nil }
        self.init()
        store = kept.store
        generation = kept.generation
        incarnation = kept.incarnation
        anchor = kept.anchor
        snapshotUntil = kept.snapshotUntil
        bulkUntil = kept.bulkUntil ?? .beginning
        before = kept.before ?? .beginning
        for ends in kept.backfill ?? [] {
            guard ends.count == 2 else { return nil }
            backfill.append(Range(from: ends[0], to: ends[1]))
        }
    }
}

/// A producer's judgement of an anchor.
package enum AnchorVerdict: Sendable, Equatable {
    case good
    /// A different store, or an anchor of an older generation that is beyond where a newer one began.
    case reset
    /// Like `reset`, but also shows that this store has lost rows that others have seen, or even a whole generation: it
    /// needs a new one.
    case lostRows
}

extension StageDatabase {
    /// Whether a consumer may continue from its anchor. A consumer without an anchor may begin at 0.
    package func judge(_ place: PullPlace) throws -> AnchorVerdict {
        try Self.judge(place, head: head, generations: generations, in: database)
    }

    /// - Parameter database: that of the head, in the same transaction.
    package static func judge(
        _ place: PullPlace, head: StoreHead, generations: [Generation], in database: Database
    ) throws -> AnchorVerdict {
        let sequence = place.after?.maximum ?? .beginning
        guard let store = place.store, let generation = place.generation else {
            return sequence == .beginning ? .good : .reset
        }
        guard store == head.store else { return .reset }
        guard let index = generations.firstIndex(where: { $0.nonce == generation }) else {
            return sequence == .beginning ? .reset : .lostRows
        }
        let newer = generations[(index + 1)...]
        guard newer.allSatisfy({ sequence <= $0.after }) else { return .reset }
        var reach = newer.isEmpty ? head.sequence : .end
        if let incarnation = place.incarnation {
            reach = min(reach, try self.reach(of: incarnation, in: database) ?? .beginning)
        }
        if sequence <= reach { return .good }
        return newer.isEmpty ? .lostRows : .reset
    }
}
