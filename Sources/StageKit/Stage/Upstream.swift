import Changelog
import HealthModel
import Logging
import MessageBus
import Protocol
import SQLite

/// A stage's link to one of a producer's changelogs: the head it knows of, how far it may go, its position, and what it
/// has requested.
///
/// Hints and heartbeats move the limit; `pump` asks for the next window; `accept` applies the answer and moves the
/// cursor, in the turn's transaction.
package final class Upstream {
    package let producer: String
    /// What is requested, without the window.
    package let query: any Query
    /// The name that the cursor is stored under.
    package let name: String
    /// A consumer that lags behind by more than this first reads the live changes, and then the changes in between; nil
    /// to read everything in order.
    package let backfillBeyond: Int64?
    /// Whether a producer that stays silent is asked even without a hint; false if another instance decides how far
    /// this stage may pull.
    package let polls: Bool

    /// The position up to which everything has been consumed and saved.
    package private(set) var cursor = Cursor()
    /// The cursor as stored: never ahead.
    private var saved = Cursor()
    /// The position up to which pages have been received, which is ahead of `cursor` while the stage holds pages that
    /// it hasn't processed yet.
    private var received = Cursor()
    /// How far this stage may pull now; nil before the first hint, and after a reset until the next one.
    package private(set) var limit: AnchorVector?
    /// The latest known head, and the generation of the store to which the limit belongs.
    private var heard: StoreHead?
    private var inFlight: (pull: Pull, window: Cursor.Window)?
    /// Whether the last request found that the producer couldn't be read, and nothing has been heard from it since.
    package private(set) var isInaccessible = false
    /// When the producer last sent a hint or an answer.
    private var lastHeard: MonotonicTime?

    /// When to ask again after a refusal or an unreadable answer.
    private var retryAt: MonotonicTime?

    /// When a producer refuses a request or sends an unreadable answer, only its own data is held up; it is asked again
    /// after this time.
    static let retryAfter = Duration.seconds(10)
    /// A producer that has been silent for this long is asked for its position, so that all data arrives even if every
    /// hint is lost.
    static let pollAfter = Duration.seconds(30)

    package init(
        _ producer: String, name: String? = nil, query: any Query, backfillBeyond: Int64? = nil,
        polls: Bool = true
    ) {
        self.producer = producer
        self.name = name ?? producer
        (self.query, self.backfillBeyond, self.polls) = (query, backfillBeyond, polls)
    }

    private static let cursors = ValueTable("cursors", key: "name")

    package static func createTables(in database: Database) throws { try cursors.create(in: database) }

    /// The cursor that is stored in a stage's file for an upstream; nil if nothing has been consumed from it.
    package static func cursor(_ name: String, in database: Database) throws -> Cursor? {
        guard let saved = try cursors.value(name, in: database) else { return nil }
        guard let cursor = Cursor(wireValue: saved) else { throw StageError.unreadableCursor(name) }
        return cursor
    }

    /// Loads the cursor; the tables must exist.
    package func open(_ turn: Turn) throws {
        saved = try Self.cursor(name, in: turn.database) ?? saved
        cursor = saved
        received = saved
    }

    /// Types that aren't observed at present: they keep their position, and nothing waits for them.
    package private(set) var off: Set<String> = []

    /// The newest head that is known.
    package var head: StoreHead? { heard }

    /// The generation that is being read; nil before the first hint.
    package var generation: String? { received.generation }

    /// Whether a request is in progress.
    package var isFetching: Bool { inFlight != nil }

    /// Handles a hint: the producer's head is `head`, and this stage may pull up to `limit`, which never decreases
    /// within a generation.
    /// - Parameter off: types that aren't observed.
    package func hear(_ head: StoreHead, limit new: AnchorVector, off: Set<String> = [], _ turn: Turn) {
        self.off = off
        lastHeard = turn.monotonic
        isInaccessible = false
        let goesOn = heard?.store == head.store && heard?.generation == head.generation
        // A head that has moved back is accepted too, because either the hint is late or an older copy of the store was
        // restored. The next pull will show which it is.
        heard = head
        if goesOn, let old = limit { guard new.minimum >= old.minimum || new.base > old.base else { return } }
        limit = new
        if received.generation == nil { received.begin(at: head) }
    }

    /// Asks for the next window unless a request is in progress.
    package func pump(_ turn: Turn) {
        guard inFlight == nil, !isHeldUp(turn), let window = nextWindow(turn) else { return }
        // On first contact the window comes from the hint, as do the store and the generation to which its sequences
        // belong.
        let isBulk = window.isBackfill || window.after.base < received.bulkUntil
        let place = PullPlace(
            store: received.store ?? heard?.store,
            generation: received.store == nil ? heard?.generation : received.generation,
            incarnation: received.incarnation, after: window.after, until: window.until, bulk: isBulk ? true : nil)
        inFlight = (turn.pull(producer, query, place), window)
    }

    private func nextWindow(_ turn: Turn) -> Cursor.Window? {
        defer { lastHeard = lastHeard ?? turn.monotonic }
        // Whoever is far behind moves the anchor before having read anything, and a backfill presents an older one: so a
        // new incarnation is shown the anchor first.
        var ahead = received
        let next = limit.flatMap { ahead.nextWindow(limit: $0, backfillBeyond: backfillBeyond) }
        if let next, next.isBackfill || ahead.anchor != received.anchor, let heard, received.isUnproven(in: heard) {
            return received.emptyWindow
        }
        received = ahead
        if let next { return next }
        if let heard,
            received.store != heard.store || received.generation != heard.generation
                || heard.sequence < received.anchor.maximum
        {
            // A store that was recreated, or restored from an older copy, may be behind the anchor. It is asked anyway,
            // since only the store knows whether the anchor is still valid. Otherwise anything that it writes up to
            // the anchor would never be seen.
            return received.emptyWindow
        }
        guard polls, turn.monotonic - (lastHeard ?? turn.monotonic) >= Self.pollAfter else { return nil }
        // There is no upper limit: it asks for everything there is.
        return Cursor.Window(after: received.anchor, until: AnchorVector(base: .end), isBackfill: false)
    }

    /// Whether asking now would be useless: the device is locked, or the producer has just refused.
    package func isHeldUp(_ turn: Turn) -> Bool { isInaccessible || retryAt.map { turn.monotonic < $0 } ?? false }

    /// Notes that the data can't be read now, according to the answer. The next hint shows when to ask again.
    package func becameInaccessible(_ turn: Turn) {
        if !isInaccessible { turn.log(.pageInaccessible, ["upstream": producer]) }
        isInaccessible = true
    }

    /// Accepts an answer without consuming it: `settle` does that once the pages have been processed, in the order of
    /// their arrival.
    package func fetch(_ answer: PullAnswer, _ turn: Turn) throws -> Arrival {
        guard let (pull, window) = inFlight, pull.id == answer.pull.id else { return .other }
        inFlight = nil
        lastHeard = turn.monotonic
        switch answer.result {
        case .reset(let head):
            turn.log(.anchorReset, ["upstream": producer, "generation": head.generation])
            received.reset(to: head)
            cursor = received
            heard = head
            limit = nil
            try save(turn)
            return .reset(head)
        case .refused(let why):
            wasRefused(why, turn)
            return .inaccessible
        case .databaseInaccessible:
            becameInaccessible(turn)
            return .inaccessible
        case .pages(let pages):
            guard let last = pages.last?.read(CoveredPage.self), let head = last.head, pages.allSatisfy(isReadable)
            else {
                wasRefused("its answer can't be read: are both from the same release?", turn)
                return .inaccessible
            }
            // A backfill presents an older position: what it proves isn't that the anchor is valid.
            if !window.isBackfill { received.proven(in: head) }
            received.consumed(window, through: last.through)
            let count = PageCount(pages)
            turn.log(.page, pageFields(count, last.through))
            // A page also counts as a sign of life from the producer.
            let isNews = heard?.generation != head.generation || heard?.incarnation != head.incarnation
            if isNews || head.sequence > heard?.sequence ?? .beginning { heard = head }
            return .pages(Fetched(pages: pages, cursor: received, hasRows: !count.isNothing))
        }
    }

    /// The anchor doesn't move, and the same request is sent again later.
    package func wasRefused(_ why: String, _ turn: Turn) {
        retryAt = turn.monotonic + Self.retryAfter
        turn.log(.pullRefused, ["upstream": producer, "why": why])
    }

    /// Consumes what was fetched: the cursor moves in the turn's transaction. Returns true if this completed a
    /// snapshot.
    package func settle(_ fetched: Fetched, _ turn: Turn) throws -> Bool {
        var next = fetched.cursor
        var snapshotEnded = false
        if let until = next.snapshotUntil, next.frontier >= until {
            next.snapshotUntil = nil
            received.snapshotUntil = nil
            snapshotEnded = true
        }
        if next != cursor {
            cursor = next
            // A commit only to skip what concerns others can wait: whoever starts again behind it asks again.
            if fetched.hasRows || !cursor.isLittleAhead(of: saved) { try save(turn) }
        }
        return snapshotEnded
    }

    /// Fetches an answer and consumes it immediately; returns false if it isn't the answer to this upstream's own pull.
    ///
    /// The next window is requested before the pages are applied, so that the producer and the consumer work at the
    /// same time.
    package func accept(
        _ answer: PullAnswer, _ turn: Turn, reset: (StoreHead) throws -> Void, apply: (Value) throws -> Void,
        snapshotEnded: () throws -> Void = {}
    ) throws -> Bool {
        switch try fetch(answer, turn) {
        case .other: return false
        case .inaccessible: return true
        case .reset(let head): try reset(head)
        case .pages(let fetched):
            pump(turn)
            for page in fetched.pages { try apply(page) }
            if try settle(fetched, turn) { try snapshotEnded() }
        }
        pump(turn)
        return true
    }

    /// Starts again at the same store's first sequence: everything is consumed again.
    /// - Parameter off: types that aren't observed; needed before the first hint.
    package func rewind(besides off: Set<String> = [], _ turn: Turn) throws {
        try rewind(to: heard?.first.previous ?? .beginning, besides: off, turn)
    }

    /// Goes back to a sequence: whatever has changed since then is consumed again. Never goes forward.
    package func rewind(to sequence: SequenceNumber, besides off: Set<String> = [], _ turn: Turn) throws {
        cursor.rewind(to: sequence, besides: self.off.union(off))
        received = cursor
        inFlight = nil
        try save(turn)
    }

    /// Forgets what was consumed: the anchor gets a generation that no store has. The producer therefore answers with a
    /// reset, and everything starts over as if its store had been lost.
    package func forget(_ turn: Turn) throws {
        guard cursor.store != nil else { return }
        cursor.forget()
        received = cursor
        inFlight = nil
        isInaccessible = false
        try save(turn)
    }

    private func save(_ turn: Turn) throws {
        try Self.cursors.set(name, to: cursor.wireValue, turn)
        saved = cursor
    }
}
