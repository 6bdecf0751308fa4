import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import TestSupport
import Testing

@Suite struct UpstreamTests {
    private let folder: TemporaryFolder
    private let store: StageDatabase
    private let changelog: KeyedChangelog
    private let identifiers = Turn.Identifiers()
    private let head = StoreHead(store: "s", generation: "g", sequence: 100)

    init() throws {
        folder = try TemporaryFolder()
        store = try StageDatabase(path: folder.path + "/state.sqlite")
        let store = store
        try store.transaction {
            try KeyedChangelog.createTables(in: store.database)
            try Upstream.createTables(in: store.database)
        }
        changelog = try KeyedChangelog(store)
    }

    private func turn(at monotonic: MonotonicTime = 0) -> Turn {
        Turn(
            now: 0, monotonic: monotonic, log: .silent, stage: store, changelog: changelog, identifiers: identifiers)
    }

    private func opened() throws -> Upstream {
        let upstream = Upstream("them", query: .changes())
        try upstream.open(turn())
        return upstream
    }

    private func pull(_ upstream: Upstream, at monotonic: MonotonicTime = 0) -> Pull? {
        let turn = turn(at: monotonic)
        upstream.pump(turn)
        return turn.takePulls().first
    }

    private func pages(_ pull: Pull, through: [Int64], head: StoreHead? = nil) -> PullAnswer {
        PullAnswer(
            pull: pull,
            result: .pages(
                through.map { ["through": .integer($0), "head": Value(head ?? self.head), "rows": []] }))
    }

    @discardableResult
    private func accept(_ upstream: Upstream, _ answer: PullAnswer, pages: inout [Int64]) throws -> Bool {
        let turn = turn()
        var seen: [Int64] = []
        let taken = try upstream.accept(
            answer, turn, reset: { _ in seen = [-1] }, apply: { seen.append($0["through"].int ?? 0) },
            snapshotEnded: { seen.append(-2) })
        _ = try turn.commit()
        pages += seen
        return taken
    }

    /// In case every hint is lost, a producer that has been silent for half a minute is asked for everything new.
    @Test func aSilentProducerIsAsked() throws {
        let upstream = try opened()
        func asked(at seconds: Int64) -> Pull? {
            let turn = turn(at: .seconds(seconds))
            upstream.pump(turn)
            return turn.takePulls().first
        }
        #expect(asked(at: 1) == nil)
        #expect(asked(at: 30) == nil)
        let pull = try #require(asked(at: 31))
        #expect(pull.query["until"] == .integer(.max))
    }

    @Test func whileTheDeviceIsLockedEverythingStaysAndTheNextHintIsTheTimeToAskAgain() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 60), turn())
        let asked = try #require(pull(upstream))
        let before = upstream.cursor
        var seen: [Int64] = []
        #expect(try accept(upstream, PullAnswer(pull: asked, result: .databaseInaccessible), pages: &seen))
        #expect(seen.isEmpty && upstream.cursor == before && pull(upstream) == nil && upstream.isInaccessible)
        upstream.hear(head, limit: AnchorVector(base: 60), turn())
        let again = try #require(pull(upstream))
        #expect(again.query["after"] == asked.query["after"])
        try accept(upstream, pages(again, through: [60]), pages: &seen)
        #expect(seen == [60] && upstream.isLevel)
    }

    /// Reading again from the beginning would lose nothing, but a person should look at a damaged file.
    @Test func anAnchorThatCanNotBeReadIsNamedAndNotForgotten() throws {
        try store.transaction {
            try store.database.execute("INSERT INTO cursors VALUES ('them', '{\"anchor\": \"far\"}')")
        }
        let error = #expect(throws: StageError.self) { try opened() }
        #expect(error?.description.contains("'them'") == true && error?.description.contains("move") == true)
    }

    @Test func aTypeThatIsOffHoldsNoFrontier() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 60, exceptions: ["t": 20]), off: ["t"], turn())
        let first = try #require(pull(upstream))
        var seen: [Int64] = []
        try accept(upstream, pages(first, through: [60]), pages: &seen)
        #expect(upstream.frontier == 60 && upstream.isLevel)
        // The type is switched on again: only its own range is left to fetch.
        upstream.hear(head, limit: AnchorVector(base: 60), turn())
        #expect(upstream.frontier == 20)
        let second = try #require(pull(upstream))
        #expect(
            second.query["after"]?.read(AnchorVector.self) == AnchorVector(base: 60, exceptions: ["t": 20]))
    }

    @Test func whatWasThereAtFirstIsBulkAndWhatComesLaterIsNot() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        var seen: [Int64] = []
        let first = try #require(pull(upstream))
        #expect(first.query["bulk"] == true)
        try accept(upstream, pages(first, through: [50]), pages: &seen)
        // The next window was requested when the first arrived; after a restart the same one is requested.
        let other = try opened()
        other.hear(head, limit: AnchorVector(base: 100), turn())
        let second = try #require(pull(other))
        #expect(second.query["bulk"] == true)
        try accept(other, pages(second, through: [100]), pages: &seen)
        let later = StoreHead(store: "s", generation: "g", sequence: 120)
        other.hear(later, limit: AnchorVector(base: 120), turn())
        let third = try #require(pull(other))
        #expect(third.query["bulk"] == nil)
    }

    @Test func asksOnlyWhatIsReleasedAndOneAtATime() throws {
        let upstream = try opened()
        #expect(pull(upstream) == nil && !upstream.isLive && !upstream.isLevel)
        upstream.hear(head, limit: AnchorVector(base: 60, exceptions: ["t": 20]), turn())
        let first = try #require(pull(upstream))
        #expect(first.producer == "them" && first.query["query"] == "changes")
        #expect(first.query["after"] == 0)
        #expect(first.query["until"]?.read(AnchorVector.self) == AnchorVector(base: 60, exceptions: ["t": 20]))
        #expect(pull(upstream) == nil && upstream.isFetching)
        var seen: [Int64] = []
        #expect(try !accept(upstream, pages(Pull(id: 99, producer: "them"), through: [5]), pages: &seen))
        #expect(try accept(upstream, pages(first, through: [30, 60]), pages: &seen))
        #expect(seen == [30, 60] && upstream.isLevel && upstream.frontier == 20)
        // A restart continues from there.
        #expect(try opened().cursor == upstream.cursor)
    }

    @Test func theLimitNeverFallsBack() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 60), turn())
        upstream.hear(head, limit: AnchorVector(base: 40), turn())
        #expect(upstream.limit == AnchorVector(base: 60))
        upstream.hear(StoreHead(store: "s", generation: "new", sequence: 40), limit: AnchorVector(base: 40), turn())
        #expect(upstream.limit == AnchorVector(base: 40))
    }

    @Test func whatIsFetchedIsConsumedInOrder() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        var waiting: [Upstream.Fetched] = []
        for through in [30, 70] as [Int64] {
            let asked = try #require(pull(upstream))
            guard case .pages(let fetched) = try upstream.fetch(pages(asked, through: [through]), turn()) else {
                Issue.record("no pages")
                return
            }
            waiting.append(fetched)
        }
        // Two sets of pages have arrived, but neither has been consumed: a restart would fetch both again.
        #expect(upstream.frontier == 0)
        #expect(try opened().frontier == 0)
        let settling = turn()
        _ = try upstream.settle(waiting[0], settling)
        _ = try settling.commit()
        #expect(upstream.frontier == 30)
        #expect(try opened().frontier == 30)
    }

    @Test func aResetBeginsAgainAndEndsWithItsSnapshot() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        var seen: [Int64] = []
        try accept(upstream, pages(try #require(pull(upstream)), through: [100]), pages: &seen)
        let other = StoreHead(store: "other", generation: "h", sequence: 300)
        upstream.hear(other, limit: AnchorVector(base: 300), turn())
        let asked = try #require(pull(upstream))
        #expect(asked.query["store"] == "s" && asked.query["generation"] == "g")
        try accept(upstream, PullAnswer(pull: asked, result: .reset(other)), pages: &seen)
        #expect(seen == [100, -1] && upstream.frontier == 0 && upstream.limit == nil && !upstream.isLive)
        #expect(try opened().cursor.snapshotUntil == 300)
        upstream.hear(other, limit: AnchorVector(base: 300), turn())
        let first = try #require(pull(upstream))
        #expect(first.query["after"] == 0 && first.query["store"] == "other")
        try accept(upstream, pages(first, through: [200], head: other), pages: &seen)
        #expect(seen.last == 200)
        let turn = turn()
        upstream.pump(turn)
        // `accept` has already requested the next window.
        #expect(upstream.isFetching && turn.takePulls().isEmpty)
    }

    @Test func aStoreThatFellBackIsShownTheAnchor() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        var seen: [Int64] = []
        try accept(upstream, pages(try #require(pull(upstream)), through: [100]), pages: &seen)
        #expect(pull(upstream) == nil)
        // An older copy was restored: the same generation, but fewer rows. There is nothing to fetch, but the producer
        // must learn what was seen.
        upstream.hear(StoreHead(store: "s", generation: "g", sequence: 80), limit: AnchorVector(base: 80), turn())
        let shown = try #require(pull(upstream))
        #expect(shown.query["after"] == 100 && shown.query["until"] == 100 && shown.query["generation"] == "g")
        // It was only an old hint: nothing changes, and asking once is enough.
        try accept(upstream, pages(shown, through: [100]), pages: &seen)
        #expect(upstream.frontier == 100 && pull(upstream) == nil)
    }

    /// A backfill presents an older position, so it wouldn't show that what was read after that is lost.
    @Test func aNewIncarnationIsShownTheAnchorBeforeAnyBackfill() throws {
        func head(_ incarnation: String) -> StoreHead {
            StoreHead(store: "s", generation: "g", sequence: 100, incarnation: incarnation)
        }
        let upstream = Upstream("them", query: .changes(), backfillBeyond: 50)
        try upstream.open(turn())
        upstream.hear(head("one"), limit: AnchorVector(base: 100), turn())
        // 90 of the 100 are left for later; a page of them comes from the next process.
        let first = try #require(pull(upstream))
        #expect(first.query["after"] == 0 && first.query["incarnation"] == "one")
        var body: [String: Value] = ["through": 40, "rows": []]
        body["head"] = Value(head("two"))
        let shown = try #require(try next(after: first, [.object(body)], upstream))
        #expect(shown.query["after"] == 100 && shown.query["until"] == 100 && shown.query["incarnation"] == "one")
        body["through"] = 100
        let rest = try #require(try next(after: shown, [.object(body)], upstream))
        #expect(rest.query["after"] == 40 && rest.query["until"] == 100 && rest.query["incarnation"] == "two")
    }

    /// A store that was raised: the anchor that is presented is the one that was read, not the one gone ahead to.
    @Test func whoIsFarBehindShowsTheAnchorBeforeItGoesAhead() throws {
        let upstream = Upstream("them", query: .changes(), backfillBeyond: 50)
        try upstream.open(turn())
        var head = StoreHead(store: "s", generation: "g", sequence: 10, incarnation: "one")
        upstream.hear(head, limit: AnchorVector(base: 10), turn())
        var seen: [Int64] = []
        try accept(upstream, pages(try #require(pull(upstream)), through: [10], head: head), pages: &seen)
        (head.sequence, head.incarnation) = (1000, "two")
        upstream.hear(head, limit: AnchorVector(base: 1000), turn())
        let shown = try #require(pull(upstream))
        #expect(shown.query["after"] == 10 && shown.query["until"] == 10 && shown.query["incarnation"] == "one")
        let rest = try #require(try next(after: shown, pages(shown, through: [10], head: head), upstream))
        #expect(rest.query["after"] == 10 && rest.query["until"] == 1000 && rest.query["incarnation"] == "two")
    }

    /// What is asked for once these pages have arrived.
    private func next(after pull: Pull, _ pages: [Value], _ upstream: Upstream) throws -> Pull? {
        let turn = turn()
        _ = try upstream.accept(
            PullAnswer(pull: pull, result: .pages(pages)), turn, reset: { _ in }, apply: { _ in })
        return turn.takePulls().first
    }

    private func next(after pull: Pull, _ answer: PullAnswer, _ upstream: Upstream) throws -> Pull? {
        guard case .pages(let pages) = answer.result else { return nil }
        return try next(after: pull, pages, upstream)
    }

    @Test func rewoundItConsumesEverythingAgain() throws {
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        var seen: [Int64] = []
        try accept(upstream, pages(try #require(pull(upstream)), through: [100]), pages: &seen)
        let rewinding = turn()
        try upstream.rewind(rewinding)
        _ = try rewinding.commit()
        #expect(try opened().frontier == 0)
        let again = try #require(pull(upstream))
        #expect(again.query["after"] == 0 && again.query["store"] == "s")
    }

    /// A producer that refuses or sends unreadable answers moves no anchor and ends no process: it is asked again after
    /// a while.
    @Test(arguments: 0..<7) func whatIsRefusedOrGarbledIsAskedAgain(_ number: Int) throws {
        let good: [String: Value] = ["head": Value(head), "through": 100, "rows": []]
        func page(_ change: [String: Value]) -> PullAnswer.Result { .pages([.object(good.merging(change) { $1 })]) }
        let row: [String: Value] = [
            "seq": 1, "key": "figures/me/x", "topic": "figures.them", "user": "me", "day": 20_000, "deleted": true,
        ]
        func rows(_ change: [String: Value]) -> PullAnswer.Result {
            page(["rows": [.object(row), .object(row.merging(change) { $1 })]])
        }
        let answers: [PullAnswer.Result] = [
            .refused("no such query"), .pages([]), page(["head": 7]), page(["through": "x"]), rows(["key": .null]),
            rows(["day": .integer(.max)]),
            page(["head": ["store": "s", "generation": "g", "sequence": .integer(.min)]]),
        ]
        let upstream = try opened()
        upstream.hear(head, limit: AnchorVector(base: 100), turn())
        let asked = try #require(pull(upstream))
        let before = upstream.frontier
        guard case .inaccessible = try upstream.fetch(PullAnswer(pull: asked, result: answers[number]), turn()) else {
            Issue.record("it was taken")
            return
        }
        #expect(upstream.frontier == before && upstream.isHeldUp(turn()))
        #expect(pull(upstream, at: .seconds(9)) == nil)
        #expect(pull(upstream, at: .seconds(10))?.query["after"] == asked.query["after"])
    }
}
