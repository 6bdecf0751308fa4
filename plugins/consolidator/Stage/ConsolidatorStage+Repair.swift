import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Days whose parts are read again from every handler, one handler after another. Its progress isn't stored: after a
/// restart it starts over, which does no harm.
struct PartsReplay {
    let id: String
    let days: ClosedRange<Int>
    let users: Set<String>
    /// Handlers whose rows haven't all arrived; the first one is being asked for them.
    var handlers: [String]
    var after = SequenceNumber.beginning
    /// The store that `after` belongs to.
    var head: StoreHead?
    var pull: Int64?
    /// When to ask again after a question has failed.
    var waitUntil = MonotonicTime.distantPast
    /// Days received so far from the first handler.
    var seen = DaySet()
    var rows: Int64 = 0

    init?(_ request: RepairRequest, handlers: [String]) {
        guard let from = request.from.flatMap({ LocalDay($0) }),
            let through = request.through.flatMap({ LocalDay($0) }), from <= through
        else { return nil }
        id = request.id
        days = from.number...through.number
        users = Set((request.users ?? [:]).keys)
        self.handlers = handlers
    }

    mutating func begin() {
        after = .beginning
        head = nil
        seen.removeAll()
    }

    var state: RepairOutcome {
        handlers.isEmpty ? .done(["rows": .integer(rows)]) : .underWay(left: Int64(handlers.count))
    }
}

extension ConsolidatorStage {
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        switch request.action {
        case "replay":
            guard request.since == nil else {
                return .refused(
                    "a consolidator can't be replayed from a sequence number: each handler has its own; give a date instead"
                )
            }
            guard let new = PartsReplay(request, handlers: handlers.map(\.producer)) else {
                return .refused("a replay needs 'from' and 'through'")
            }
            replay = new
            return new.state
        case "reset":
            replay = nil
            try zones.forget(turn)
            for handler in handlers { try handler.forget(turn) }
            withdrawMark()
            var count: Int64 = 0
            try turn.database.prepare("SELECT user, day FROM changes WHERE day IS NOT NULL AND body IS NOT NULL")
                .forEachRow {
                    touched.insert(.init(user: $0.string(0), day: $0.int(1)))
                    count += 1
                }
            return .done(["days": .integer(count)])
        case let other: return .refused("a consolidator doesn't support '\(other)'")
        }
    }

    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        replay?.state ?? .done(.null)
    }

    /// Asks the next handler for its rows for the days.
    func pumpReplay(_ turn: Turn) {
        guard let replay, replay.pull == nil, let handler = replay.handlers.first,
            turn.monotonic >= replay.waitUntil
        else { return }
        let pull = turn.pull(
            handler, .changes(topic: "figures.", days: replay.days), PullPlace(of: replay.head, after: replay.after))
        self.replay?.pull = pull.id
    }

    /// Accepts the answer to one of the replay's questions; returns false for any other answer.
    func receive(replayed answer: PullAnswer, _ turn: Turn) throws -> Bool {
        guard var replay, replay.pull == answer.pull.id, let handler = replay.handlers.first else { return false }
        replay.pull = nil
        defer { self.replay = replay }
        guard case .pages(let pages) = answer.result, let last = pages.last else {
            replay.begin()
            replay.waitUntil = turn.monotonic + .seconds(1)
            return true
        }
        guard let covered = last.read(CoveredPage.self), let head = covered.head else {
            throw StageError.unreadablePage(producer: handler)
        }
        for page in pages {
            let page: ChangesPage = try page.page(from: handler)
            for row in page.rows {
                guard let day = row.day else { throw StageError.unreadablePage(producer: handler) }
                guard replay.users.contains(row.user) else { continue }
                replay.seen.insert(.init(user: row.user, day: day))
                replay.rows += 1
            }
            try apply(page, of: handler, users: replay.users, turn)
        }
        let through = covered.through
        if through < head.sequence, through > replay.after {
            replay.after = through
            replay.head = head
            return true
        }
        // Anything that the handler no longer has for these days is dropped.
        touched.formUnion(
            DaySet(try days.drop(handler: handler, users: replay.users, days: replay.days, besides: replay.seen, turn)))
        replay.handlers.removeFirst()
        replay.begin()
        return true
    }
}
