import Changelog
import DeliveryKit
import HealthModel
import MQTT
import MessageBus
import Protocol
import StageKit

/// Shows daily figures in Home Assistant: pulls the consolidator's summaries, and keeps today's and yesterday's figures
/// up to date on an MQTT broker.
///
/// There is no queue: what the broker should have follows from the days and the clock, and is compared with what it has
/// acknowledged. An anchor moves once all figures are acknowledged; anything to be removed is found on the broker again
/// at each connection, so it needs no anchor.
package final class HomeAssistantStage: Stage {
    /// Pages whose changes may not have been acknowledged yet.
    private struct Waiting {
        var fetched: Upstream.Fetched
        var generation: String
    }

    let summaries: Upstream
    let zones: Upstream
    var discovery: Discovery
    /// nil shows all.
    let people: Set<String>?
    var timelines = Timelines()
    var book = DayBook()
    var board: BrokerBoard
    /// Pages in the order of their arrival.
    private var waiting: [Waiting] = []
    /// The latest heads heard from handlers: their events aren't shown here, so this stage is never behind them.
    private var heads: [String: SequenceNumber] = [:]
    private let handlers: [String]
    private let controlTopic: String
    private let releaseTopic: String
    private var connection: Int64?
    var link = BrokerLink()
    /// What is being published.
    var sending: (effect: Int64, count: Int)?
    /// Who else publishes on our topics.
    var rivalry = Rivalry()
    /// When the consolidator was last heard from.
    private var heard: MonotonicTime?
    /// What is shown for each user, and the users for whom that must be determined again.
    var shown: [String: Shown] = [:]
    var outdated: Set<String> = []
    /// When the wanted content changes without any news: at somebody's next midnight.
    var changesAt: Instant?
    private var lookedAt: Instant?
    /// Whether there has ever been something to show; saved in the database once the broker has everything.
    var hasShown = false
    private var isShownSaved = false
    /// The position in the consolidator's changes up to which the broker's content is complete, removals included.
    private var delivered = SequenceNumber.beginning
    private var mayHaveAlert = true
    private var lastChecked: Instant?
    var published: Int64 = 0
    var lastPublished: Instant?
    var check = BrokerCheck()
    /// The position in the observer's changes up to which the broker's content is complete.
    private var covered = SequenceNumber.beginning

    private static let kept = ValueTable("kept")
    private static let waitingPages = 4
    /// Heartbeats come at least every 12 s, and a process that ended is back after 30 s.
    private static let silence = Duration.seconds(60)

    /// - Parameters:
    ///   - handlers: instances that emit events, whose heads are reported as reached.
    ///   - people: users to show; nil shows all.
    package init(
        observer: String, handlers: [String], consolidator: String, instance: String, discovery: Discovery,
        people: Set<String>?
    ) {
        summaries = Upstream(consolidator, query: .changes(topic: "daily.summary"))
        zones = Upstream(observer, name: "zones", query: .zones)
        (self.handlers, self.discovery, self.people) = (handlers, discovery, people)
        board = BrokerBoard(discovery.topics)
        controlTopic = "control.\(instance)"
        releaseTopic = Release.topic(instance)
    }

    package var subscriptions: [Subscription] {
        [.exact(controlTopic), .exact(releaseTopic)]
            + ([zones.producer, summaries.producer] + handlers).map { .exact(Heartbeat.topic($0)) }
    }

    package func open(_ turn: Turn) throws {
        let database = try turn.write().database
        // Empty here, but tools ask every destination for its dead letters.
        try DeliveryTables.createTables(in: database)
        try Timelines.createTables(in: database)
        try DayBook.createTables(in: database)
        try Self.kept.create(in: database)
        hasShown = try Self.kept.value("shown", in: database)?.bool ?? false
        isShownSaved = hasShown
        discovery.owner = String(turn.head.store.prefix(8))
        try timelines.open(turn)
        try book.open(turn)
        try zones.open(turn)
        try summaries.open(turn)
        delivered = summaries.frontier
        outdated = book.takeChanged()
        connection = turn.perform(KeepConnected(topics: discovery.topics, owner: discovery.owner))
    }

    // MARK: Inputs

    package func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic == controlTopic {
            guard let asked = CompareBackend(message.body), asked.id.utf8.count <= 100 else { return }
            // There is nothing to read back, because everything is sent again.
            if check.begin(asked.id) { board.forget() }
        } else if message.topic == releaseTopic {
            lastChecked = turn.now
        } else if let beat = Heartbeat(message), let head = beat.head {
            let limit = AnchorVector(base: head.sequence)
            if beat.instance == zones.producer {
                zones.hear(head, limit: limit, turn)
            } else if beat.instance == summaries.producer {
                heard = turn.monotonic
                summaries.hear(head, limit: limit, turn)
            } else if handlers.contains(beat.instance) {
                heads[beat.instance] = head.sequence
            }
        }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        let isOfZones = try zones.accept(
            answer, turn, reset: { _ in },
            apply: { page in
                let zonesPage = try page.page(ZonesPage.self, from: zones.producer)
                outdated.formUnion(try timelines.learn(zonesPage.zones, from: zones.producer, turn).map(\.user))
            })
        if isOfZones { return }
        let fetched: Upstream.Fetched
        switch try summaries.fetch(answer, turn) {
        case .other, .inaccessible: return
        case .reset:
            // What is shown stays until the new history has been read.
            waiting = []
            return
        case .pages(let pages): fetched = pages
        }
        var generation = summaries.cursor.generation ?? ""
        for page in fetched.pages {
            generation = page.read(CoveredPage.self)?.head?.generation ?? generation
            for row in try page.page(ChangesPage.self, from: summaries.producer).rows {
                book.apply(row, generation: generation, now: turn.now)
            }
        }
        waiting.append(Waiting(fetched: fetched, generation: generation))
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        if let news = result.value as? BrokerNews, result.id == connection { return hear(news, turn) }
        guard result.value is Published, let sent = sending, sent.effect == result.id else { return }
        sending = nil
        board.accept()
        published += Int64(sent.count)
        lastPublished = turn.now
        link.progress(at: turn.monotonic)
    }

    // MARK: Work

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        zones.pump(turn)
        if book.lacksDays(now: turn.now) {
            waiting = []
            try summaries.forget(turn)
            try book.beginAgain(turn)
        }
        update(turn)
        try settle(turn)
        // The end of a new history may have removed days.
        update(turn)
        if waiting.count < Self.waitingPages { summaries.pump(turn) }
        let ofDisputes = correct(turn)
        send(turn)
        if isClean(turn) {
            let removes = hasShown && !rivalry.isOn(at: turn.monotonic)
            if board.isSettled(mayRemove: removes) { delivered = summaries.frontier }
            check.end(at: turn.now)
        }
        let midnight = changesAt.map { turn.monotonic + max(Duration.zero, $0 - turn.now) }
        let ofRival = rivalry.isOn(at: turn.monotonic) ? rivalry.end : nil
        return [midnight, silentAt(turn), ofDisputes, ofRival, try alertOfDelay(turn)].compactMap { $0 }.min()
    }

    /// `online` if the consolidator has been heard from lately, so that figures can be trusted; otherwise `offline`.
    func status(_ turn: Turn) -> String { silentAt(turn) == nil ? "offline" : "online" }

    /// When silence will have lasted too long; nil if it already has, or if the consolidator was never heard from.
    private func silentAt(_ turn: Turn) -> MonotonicTime? {
        guard let heard, turn.monotonic - heard < Self.silence else { return nil }
        return heard + Self.silence
    }

    /// Determines what the broker should have, wherever that may have changed.
    private func update(_ turn: Turn) {
        outdated.formUnion(book.takeChanged())
        // A clock that was set back counts as having passed a midnight.
        if lookedAt.map({ turn.now < $0 }) ?? false {
            outdated.formUnion(shown.keys)
        } else if let due = changesAt, turn.now >= due {
            book.prune(now: turn.now)
            outdated.formUnion(shown.filter { $0.value.until.map { turn.now >= $0 } ?? false }.keys)
        }
        lookedAt = turn.now
        board.want(discovery.topics.status, status(turn))
        guard !outdated.isEmpty else { return }
        for user in outdated { show(user, at: turn.now) }
        outdated = []
        changesAt = shown.values.compactMap(\.until).min()
        if !shown.isEmpty { hasShown = true }
    }

    /// Whether anything not wanted can be removed: everything has been read, something was there, and it is ours.
    private func mayRemove(_ turn: Turn) -> Bool {
        waiting.isEmpty && summaries.isLevel && summaries.cursor.snapshotUntil == nil && zones.isLevel && hasShown
            && !rivalry.isOn(at: turn.monotonic)
    }

    private func isClean(_ turn: Turn) -> Bool {
        link.isOpen && sending == nil && rivalry.mayPublish(at: turn.monotonic)
            && board.isSettled(mayRemove: mayRemove(turn))
    }

    private func send(_ turn: Turn) {
        guard link.isOpen, sending == nil, rivalry.mayPublish(at: turn.monotonic) else { return }
        let posts = board.due(mayRemove: mayRemove(turn))
        guard !posts.isEmpty else { return }
        board.send(posts)
        sending = (turn.perform(Publish(posts: posts)), posts.count)
    }

    /// Moves the anchor past everything that the broker has acknowledged.
    private func settle(_ turn: Turn) throws {
        guard isClean(turn) else { return }
        covered = zones.frontier
        if hasShown, !isShownSaved {
            try Self.kept.set("shown", to: true, turn)
            isShownSaved = true
        }
        guard !waiting.isEmpty else { return }
        for page in waiting where try summaries.settle(page.fetched, turn) {
            book.keep(only: page.generation)
        }
        waiting = []
        try book.save(turn)
    }

    private func alertOfDelay(_ turn: Turn) throws -> MonotonicTime? {
        switch link.watch(isClean: isClean(turn), at: turn.monotonic) {
        case .fine:
            // This includes an alert raised by this process's predecessor.
            if mayHaveAlert { try turn.clear(.degraded, subject: "delivery") }
            mayHaveAlert = false
            return nil
        case .waiting(let next): return next
        case .stuck:
            mayHaveAlert = true
            try turn.raise(
                Alert(
                    .degraded, subject: "delivery",
                    text: "Home Assistant's broker hasn't accepted the figures for a while.",
                    remedy: "Look at 'healthbus status': it says why."))
            return nil
        }
    }

    /// Forgets everything that was read.
    func reset(_ turn: Turn) throws {
        waiting = []
        covered = .beginning
        try book.clear(turn)
        for upstream in [zones, summaries] { try upstream.forget(turn) }
        delivered = .beginning
        board.forget()
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.pending = waiting.count
        common.blocked = problem(at: turn.monotonic)?.description
        var frontier = heads
        frontier[zones.producer] = min(zones.frontier, covered)
        frontier[summaries.producer] = min(summaries.frontier, delivered)
        return StageReport(
            frontier: frontier, details: HeartbeatDetails(delivery(at: turn.monotonic), common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: lastChecked)))
    }
}
