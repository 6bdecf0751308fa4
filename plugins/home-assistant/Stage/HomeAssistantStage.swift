import Changelog
import DeliveryKit
import HealthModel
import MQTT
import MessageBus
import Protocol
import StageKit

/// Shows daily figures in Home Assistant: pulls the consolidator's summaries, and keeps at an MQTT broker what those of
/// today and yesterday say.
///
/// There is no queue: what the broker should have follows from the days and the clock, and is compared with what it
/// has acknowledged. An anchor moves once nothing differs.
package final class HomeAssistantStage: Stage {
    /// Pages whose changes may not be acknowledged yet.
    private struct Waiting {
        var fetched: Upstream.Fetched
        var generation: String
    }

    let summaries: Upstream
    let zones: Upstream
    let discovery: Discovery
    /// nil shows all.
    let people: Set<String>?
    var timelines = Timelines()
    var book = DayBook()
    var board: BrokerBoard
    /// Pages in the order of their arrival.
    private var waiting: [Waiting] = []
    /// Handlers' heads, as heard: what they emit isn't shown here, so it is never behind.
    private var heads: [String: SequenceNumber] = [:]
    private let handlers: [String]
    private let controlTopic: String
    private let releaseTopic: String
    private var connection: Int64?
    var isConnected = false
    /// What is being published, and how.
    var sending: (effect: Int64, posts: [BrokerBoard.Post])?
    /// Why the broker can't be reached; nil while it is.
    var problem: MQTTError?
    /// When the consolidator was last heard from.
    private var heard: MonotonicTime?
    /// What is wanted must be determined again; at the latest at this instant.
    var isOutdated = true
    var changesAt: Instant?
    private var lookedAt: Instant?
    /// The descriptions and states that should be retained.
    private var content: [String: String] = [:]
    /// There have been some since the process began.
    private var hasShown = false
    private var stuckSince: MonotonicTime?
    private var lastChecked: Instant?
    var published: Int64 = 0
    var lastPublished: Instant?
    var check = BrokerCheck()
    /// How far the observer is covered by what the broker has.
    private var covered = SequenceNumber.beginning

    private static let waitingPages = 4
    /// Heartbeats come at least every 12 s, and a process that ended is back after 30 s.
    private static let silence = Duration.seconds(60)
    private static let alertAfter = Duration.seconds(15 * 60)

    /// - Parameters:
    ///   - handlers: instances that emit events, whose heads are reported as reached.
    ///   - people: users to show; nil shows all.
    package init(
        observer: String, handlers: [String], consolidator: String, instance: String, discovery: Discovery,
        people: Set<String>?
    ) {
        summaries = Upstream(consolidator, query: .changes(topic: "daily.summary"))
        zones = Upstream(observer, name: "zones", query: .zones)
        self.handlers = handlers
        self.discovery = discovery
        self.people = people
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
        try timelines.open(turn)
        try book.open(turn)
        try zones.open(turn)
        try summaries.open(turn)
        connection = turn.perform(KeepConnected(topics: discovery.topics))
    }

    // MARK: Inputs

    package func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic == controlTopic {
            guard let asked = CompareBackend(message.body), asked.id.utf8.count <= 100 else { return }
            // There is nothing to read back: everything is sent again.
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
                if try !timelines.learn(zonesPage.zones, from: zones.producer, turn).isEmpty { isOutdated = true }
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
                isOutdated = true
            }
        }
        waiting.append(Waiting(fetched: fetched, generation: generation))
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        if let news = result.value as? BrokerNews, result.id == connection { return hear(news, turn) }
        guard result.value is Published, let sent = sending, sent.effect == result.id else { return }
        sending = nil
        board.accept(sent.posts)
        published += Int64(sent.posts.count)
        lastPublished = turn.now
    }

    private func hear(_ news: BrokerNews, _ turn: Turn) {
        switch news {
        case .connected:
            isConnected = true
            problem = nil
            startOver()
        case .lost(let why, let seconds):
            if problem != why {
                if why.needsPerson {
                    turn.log(.uploadPaused, ["why": why.description])
                } else {
                    turn.log(.uploadRetry, ["why": why.description, "seconds": seconds])
                }
            }
            isConnected = false
            problem = why
            startOver()
        case .found(let topics):
            for topic in topics { board.found(topic) }
        case .status(let text):
            // The last will of an earlier connection may come late.
            if text != status(turn) { board.doubt(discovery.topics.status) }
        case .born: board.forget()
        }
    }

    private func startOver() {
        sending = nil
        board.forget()
    }

    // MARK: Work

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        zones.pump(turn)
        let ofContent = update(turn)
        try settle(turn)
        if isOutdated { _ = update(turn) }
        if waiting.count < Self.waitingPages { summaries.pump(turn) }
        send(turn)
        if isClean { check.end(at: turn.now) }
        let times = [ofContent, silentAt(turn), try alertOfDelay(turn)]
        return times.compactMap { $0 }.min()
    }

    /// Whether the consolidator has been heard from lately, so that figures are as they should be.
    func status(_ turn: Turn) -> String { silentAt(turn) == nil ? "offline" : "online" }

    /// When silence will have lasted too long; nil if it has.
    private func silentAt(_ turn: Turn) -> MonotonicTime? {
        guard let heard, turn.monotonic - heard < Self.silence else { return nil }
        return heard + Self.silence
    }

    /// Determines what the broker should have, if that may have changed.
    /// - Returns: when it will change though nothing happens: at the next midnight.
    private func update(_ turn: Turn) -> MonotonicTime? {
        // A clock that was set back has gone through a midnight, too.
        let isDue = changesAt.map { turn.now >= $0 } ?? false
        if isDue || lookedAt.map({ turn.now < $0 }) ?? false { isOutdated = true }
        lookedAt = turn.now
        if isOutdated {
            isOutdated = false
            if isDue { book.prune(now: turn.now) }
            content = messages(at: turn.now)
            if !content.isEmpty { hasShown = true }
        }
        board.want(content.merging([discovery.topics.status: status(turn)]) { own, _ in own })
        return changesAt.map { turn.monotonic + max(Duration.zero, $0 - turn.now) }
    }

    /// Whether what isn't wanted is gone for good: everything has been read, and something was there.
    private var mayRemove: Bool {
        waiting.isEmpty && summaries.isLevel && summaries.cursor.snapshotUntil == nil && zones.isLevel && hasShown
    }

    private var isClean: Bool { isConnected && sending == nil && board.due(mayRemove: mayRemove).isEmpty }

    private func send(_ turn: Turn) {
        guard isConnected, sending == nil else { return }
        let posts = board.due(mayRemove: mayRemove)
        guard !posts.isEmpty else { return }
        sending = (turn.perform(Publish(posts: posts)), posts)
    }

    /// Moves the anchor past everything that the broker has acknowledged.
    private func settle(_ turn: Turn) throws {
        guard isClean else { return }
        covered = zones.frontier
        guard !waiting.isEmpty else { return }
        for page in waiting where try summaries.settle(page.fetched, turn) {
            book.keep(only: page.generation)
            isOutdated = true
        }
        waiting = []
        try book.save(turn)
    }

    private func alertOfDelay(_ turn: Turn) throws -> MonotonicTime? {
        guard problem != nil else {
            if stuckSince != nil { try turn.clear(.degraded, subject: "delivery") }
            stuckSince = nil
            return nil
        }
        let since = stuckSince ?? turn.monotonic
        stuckSince = since
        guard turn.monotonic - since >= Self.alertAfter else { return since + Self.alertAfter }
        try turn.raise(
            Alert(
                .degraded, subject: "delivery", text: "Home Assistant's broker hasn't been reached for a while.",
                remedy: "Look at 'healthbus status': it says why."))
        return nil
    }

    /// Forgets everything that was read.
    func reset(_ turn: Turn) throws {
        waiting = []
        covered = .beginning
        try book.clear(turn)
        for upstream in [zones, summaries] { try upstream.forget(turn) }
        board.forget()
        isOutdated = true
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.pending = waiting.count
        common.blocked = problem?.description
        var frontier = heads
        frontier[zones.producer] = min(zones.frontier, covered)
        frontier[summaries.producer] = summaries.frontier
        return StageReport(
            frontier: frontier, details: HeartbeatDetails(delivery, common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: lastChecked)))
    }
}
