import BackgroundDelivery
import Changelog
import Configuration
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Delivers samples, events and daily summaries to a destination (the backend, in what follows): pulls them from their producers, sends them, and moves its anchors only after the backend
/// has answered for all of them.
///
/// How they are sent is the business of whoever performs its `UploadRequest`s. At least once, with a version on everything: a repeat or a late copy changes nothing.
package final class DeliveryStage: Stage {
    let samples: Upstream
    let documents: [Upstream]
    /// Under which metric a type's samples go; nil for what isn't delivered here.
    let family: (String) -> UploadMetric?
    var deliveries: [Delivery] = []
    var policy: UploadPolicy
    var generator: any RandomNumberGenerator
    /// Not before this time is anything sent again.
    var waitUntil = MonotonicTime.distantPast
    /// No samples are sent before this time, for 'samplesPerSecond'.
    var pacedUntil = MonotonicTime.distantPast
    var refreshToken = false
    var ledger = DeliveryLedger()
    var replay = UploadReplay()
    /// Whether a chunk of a historical sync was told lately.
    var isHistoryTold = false
    /// What a person asked for and hasn't begun yet, for a historical sync is under way.
    var waitingReplay: MendRequest?
    /// Why nothing moves at present, for people; nil while it does.
    var blocked: String?
    /// When it is tried again, by the clock, if the backend asked for that.
    var waitsUntil: Instant?
    let settings: DeliverySettings
    /// The comparison of what the backend holds with what it took.
    var check = BackendCheck()
    /// Elements that were refused alone, by metric.
    var suspicions: [UploadMetric: Suspicion] = [:]
    /// By metric, one element that the backend has taken.
    var goodElements: [UploadMetric: DeliveryGroup] = [:]
    /// Whether the backend has said that it takes samples in columns, and hasn't refused any since.
    var takesColumns = false
    /// Answers in a row that proved nothing.
    var unproven = 0
    /// A generation that answered before the present one and answers again.
    var returning = ReturningBackend()
    /// Only a person can mend what blocks.
    var isPaused = false
    private(set) var gate: PathGate {
        didSet {
            // A way that has come back is tried at once: what failed before failed for want of it.
            if gate.isOpen, !oldValue.isOpen { tryNow() }
        }
    }
    /// Since when something has waited and nothing was accepted.
    private var stuckSince: MonotonicTime?

    /// Requests under way at once: one is encoded while the other is being stored.
    static let concurrentRequests = 2
    /// Fetched sets that wait behind those.
    static let waitingSets = 3
    static let backfillBeyond: Int64 = 200_000
    /// How long a person is given to mend what only a person can, before the next try.
    static let pause = Duration.seconds(30)
    /// Nothing accepted for this long, though something waits: a person is told.
    static let alertAfter = Duration.seconds(15 * 60)

    /// - Parameters:
    ///   - handlers: instances whose events are delivered.
    ///   - needsPath: whether the backend is beyond this machine, so that sending waits for a network path.
    ///   - family: under which metric a type's samples go.
    package init(
        observer: String, handlers: [String], consolidator: String?, policy: UploadPolicy,
        settings: DeliverySettings = .init(),
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), instance: String,
        needsPath: Bool = false, family: @escaping (String) -> UploadMetric
    ) {
        // Workouts are delivered as events, so their samples aren't.
        samples = Upstream(
            observer,
            query: .samples(.allExcept([HealthType.workoutIdentifier])),
            backfillBeyond: Self.backfillBeyond, polls: false)
        documents =
            (consolidator.map { [Upstream($0, query: .changes(topic: "daily.summary"))] } ?? [])
            + handlers.map { Upstream($0, query: .changes(topic: "events.")) }
        self.policy = policy
        self.settings = settings
        self.generator = generator
        self.family = { type in
            let metric = family(type)
            return settings.choice.takes(type: type, of: metric) ? metric : nil
        }
        gate = PathGate(needsPath: needsPath)
        releaseTopic = "sync.\(instance)"
        controlTopic = "control.\(instance)"
    }

    private let releaseTopic: String
    private let controlTopic: String
    static let noPath = "there is no network path; it goes on when there is one"

    package var subscriptions: [Subscription] {
        [.exact(releaseTopic), .exact(controlTopic), .exact(Heartbeat.topic(samples.producer))]
            + documents.map { .exact(Heartbeat.topic($0.producer)) }
    }

    var upstreams: [Upstream] { documents + [samples] }

    package func open(_ turn: Turn) throws {
        try DeliveryTables.createTables(in: try turn.write().database)
        try ledger.open(turn)
        try replay.open(turn)
        try openBackend(turn)
        for upstream in upstreams { try upstream.open(turn) }
        // What wasn't taken before has been passed; versions make it harmless to deliver the rest once more.
        if try ledger.notes(settings.choice, turn) { for upstream in upstreams { try upstream.rewind(turn) } }
        turn.perform(WatchPath())
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic == releaseTopic {
            guard let release = message.body.read(Release.self) else { return }
            samples.hear(release.head, limit: release.released, off: Set(release.off), turn)
            ledger.checked(at: turn.now)
            hear(release.replay)
        } else if message.topic == controlTopic {
            hear(command: message.body)
        } else if let beat = Heartbeat(message), beat.instance == samples.producer {
            gate.device = beat.observer?.device?.network
        } else if let beat = Heartbeat(message), let head = beat.head,
            let upstream = documents.first(where: { $0.producer == beat.instance })
        {
            upstream.hear(head, limit: AnchorVector(base: head.sequence), turn)
        }
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        if try receive(replayed: answer, turn) { return }
        for upstream in upstreams {
            switch try upstream.fetch(answer, turn) {
            case .other: continue
            case .inaccessible: return
            case .reset: deliveries.removeAll { $0.upstream == upstream.name }
            case .pages(let fetched):
                let groups = try groups(fetched.pages, from: upstream.name, isSamples: upstream === samples)
                take(fetched, groups, of: upstream, turn)
            }
            return
        }
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        if let news = result.value as? PathNews { return hear(news, turn) }
        if let reply = result.value as? HoldingsReply {
            if result.id == check.effect { try compare(reply, turn) }
            return
        }
        guard let reply = result.value as? DeliveryReply else { return }
        if let metric = suspicions.first(where: { $0.value.probe?.effect == result.id })?.key {
            return try settle(probeOf: metric, reply, turn)
        }
        guard let index = deliveries.firstIndex(where: { $0.sent?.effect == result.id }),
            let sent = deliveries[index].sent
        else { return }
        deliveries[index].sent = nil
        try settle(index, sent, reply, turn)
    }

    private func hear(_ news: PathNews, _ turn: Turn) {
        switch news {
        case .path(let path):
            turn.log(.pathChanged, ["satisfied": path.isSatisfied, "interface": path.interface?.rawValue ?? "none"])
            gate.machine = path
        case .unknown(let why): turn.log(.pathUnknown, ["why": why])
        }
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        let times = [try moveSuspects(turn), try move(turn), try moveCheck(turn), try alertOfDelay(turn)]
        return times.compactMap { $0 }.min()
    }

    private func alertOfDelay(_ turn: Turn) throws -> MonotonicTime? {
        guard whatBlocks != nil, !deliveries.isEmpty else {
            stuckSince = nil
            return nil
        }
        let since = stuckSince ?? turn.monotonic
        stuckSince = since
        guard turn.monotonic - since >= Self.alertAfter else { return since + Self.alertAfter }
        try turn.raise(
            Alert(
                .degraded, subject: "delivery",
                text: "Nothing has reached the backend for a while, though something waits.",
                remedy: "Look at 'healthbus status': it says what delivery waits for."))
        return nil
    }

    private func move(_ turn: Turn) throws -> MonotonicTime? {
        try settleDone(turn)
        for upstream in upstreams where mayFetch(upstream) { upstream.pump(turn) }
        try pumpReplay(turn)
        guard gate.isOpen else {
            blocked = Self.noPath
            return nil
        }
        if blocked == Self.noPath { blocked = nil }
        guard turn.monotonic >= waitUntil else { return waitUntil }
        // Summaries and events first: they are small, and what a person looks at.
        let order = deliveries.indices.sorted { rank(deliveries[$0]) < rank(deliveries[$1]) }
        let waiting = waitingMetrics
        var next: MonotonicTime?
        for index in order {
            guard deliveries.count(where: { $0.sent != nil }) < Self.concurrentRequests else { break }
            guard deliveries[index].sent == nil else { continue }
            if isFilling(index, turn) {
                next = deliveries[index].fillsUntil
            } else if isPaced(index, turn) {
                next = pacedUntil
            } else {
                send(index, besides: waiting, turn)
            }
        }
        return next
    }

    /// What is delivered once more comes last: today never waits for the past.
    private func rank(_ delivery: Delivery) -> Int {
        delivery.fetched == nil ? 2 : delivery.upstream == samples.name ? 1 : 0
    }

    private func send(_ index: Int, besides waiting: Set<UploadMetric>, _ turn: Turn) {
        guard let group = deliveries[index].nextGroup(besides: waiting),
            let part = deliveries[index].groups[group].batch.next
        else { return }
        let effect = perform(deliveries[index].groups[group], part, turn)
        pace(deliveries[index].groups[group], part, turn)
        deliveries[index].sent = .init(effect: effect, group: group, part: part)
    }

    /// Has elements delivered.
    func perform(_ group: DeliveryGroup, _ part: Range<Int>, _ turn: Turn) -> Int64 {
        defer { refreshToken = false }
        return turn.perform(
            UploadRequest(
                group: group, part: part, deviceId: turn.head.store, syncedAt: turn.now, takesColumns: takesColumns,
                refreshToken: refreshToken, seen: seen))
    }

    /// Moves the anchors past deliveries that are complete, each upstream in order.
    func settleDone(_ turn: Turn) throws {
        for upstream in upstreams {
            while let index = deliveries.firstIndex(where: { $0.upstream == upstream.name }), deliveries[index].isDone {
                if let fetched = deliveries[index].fetched { _ = try upstream.settle(fetched, turn) }
                deliveries.remove(at: index)
            }
        }
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.consumed = samples.consumedByType
        common.replay = replay.report
        let own = UploaderDetails(
            deadLetters: ledger.deadLetters, droppedLetters: ledger.droppedLetters, delivered: ledger.delivered,
            lastDelivered: ledger.lastDelivered, delays: ledger.delaySummaries, delayBuckets: ledger.delayBuckets,
            answers: .init(created: ledger.created, updated: ledger.updated, known: ledger.known),
            blocked: whatBlocks, waitsUntil: waitsUntil, held: suspicions.keys.reduce(0) { $0 + held($1) },
            backend: backendReport, paused: isPaused, path: gate.path, waiting: deliveries.count)
        return StageReport(
            frontier: Dictionary(upstreams.map { ($0.producer, $0.frontier) }, uniquingKeysWith: { min($0, $1) }),
            details: HeartbeatDetails(own, common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: ledger.lastChecked)))
    }
}

extension DeliveryStage {
    /// Of a stack's instance.
    /// - Throws: `ConfigurationError` for 'types' that name nothing.
    package convenience init(
        stack: StackConfiguration, instance: StackConfiguration.Instance, address: String = "", needsPath: Bool,
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) throws(ConfigurationError) {
        let options = instance.configuration
        self.init(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name,
            policy: UploadPolicy(
                base: options["retryBaseSeconds"].double ?? 1, cap: options["retryCapSeconds"].double ?? 900,
                askedCap: options["retryAfterCapSeconds"].double ?? 900),
            settings: DeliverySettings(
                address: address, compareEvery: .seconds(options["compareSeconds"].double ?? 3600),
                refusedInARow: options["refusedInARow"].int.map { Int($0) } ?? 3,
                choice: try DeliveryChoice(of: instance, in: stack),
                samplesPerSecond: options["samplesPerSecond"].double ?? 0),
            generator: generator, instance: instance.name, needsPath: needsPath,
            family: { UploadMetric(family: stack.family(of: $0)) })
    }
}
