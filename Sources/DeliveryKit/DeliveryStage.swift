import BackgroundDelivery
import Changelog
import Configuration
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Delivers samples, events and daily summaries to a destination (called the backend below). It pulls them from their
/// producers, sends them, and moves its anchors only after the backend has answered for all of them.
///
/// How they are sent is up to the code that performs its `DeliveryRequest`s. Each element is sent at least once, with a
/// version, so a repeat or a late copy changes nothing.
package final class DeliveryStage: Stage {
    /// The name of the stage's instance.
    let instance: String
    let settings: DeliverySettings
    let samples: Upstream
    let documents: [Upstream]
    /// The instances whose events are delivered.
    let handlers: Set<String>
    private let metrics: TypeMetrics
    let contents: ContentOf

    // Each of these has rules of its own; the stage takes the steps between them.
    var ledger = DeliveryLedger()
    var deliveries: Deliveries
    var pace: Pace
    var blockage: Blockage
    var standstill = Standstill()
    var held: HeldElements
    var replay = DeliveryReplay()
    var met: MetBackend
    /// The comparison of what the backend holds with what it accepted.
    var check = BackendCheck()
    /// The comparison element by element.
    var proof = ProofTask()
    private(set) var gate: PathGate {
        didSet {
            // When the network path comes back, delivery is tried at once, since earlier failures were due to the
            // missing path.
            if gate.isOpen, !oldValue.isOpen { tryNow() }
        }
    }

    static let backfillBeyond: Int64 = 200_000
    /// A server on this machine that refuses connections is most likely being restarted: it is tried again at least
    /// this often, in seconds.
    static let refusedConnectionCap = 15.0

    /// - Parameters:
    ///   - handlers: instances whose events are delivered.
    ///   - needsPath: whether the backend is outside this machine, so that sending waits for a network path.
    ///   - family: the metric under which a type's samples are delivered.
    ///   - contents: how the contents of elements are compared with those that the destination keeps.
    package init(
        observer: String, handlers: [String], consolidator: String?, policy: RetryPolicy,
        settings: DeliverySettings = .init(),
        generator: any RandomNumberGenerator = SystemRandomNumberGenerator(), instance: String,
        needsPath: Bool = false, contents: @escaping ContentOf = DeliveryGroup.contentNumbers,
        family: @escaping (String) -> DeliveryMetric
    ) {
        self.contents = contents
        self.handlers = Set(handlers)
        // Workouts are delivered as events, so their samples aren't.
        samples = Upstream(
            observer,
            query: .samples(.allExcept([HealthType.workoutIdentifier])),
            backfillBeyond: Self.backfillBeyond, polls: false)
        documents = Upstream.documents(consolidator: consolidator, handlers: handlers)
        deliveries = Deliveries(samples: samples.name)
        blockage = Blockage(policy, generator)
        held = HeldElements(limit: settings.refusedInARow)
        met = MetBackend(address: settings.address)
        pace = Pace(samplesPerSecond: settings.samplesPerSecond)
        self.settings = settings
        metrics = TypeMetrics(family)
        gate = PathGate(needsPath: needsPath)
        self.instance = instance
        releaseTopic = "sync.\(instance)"
        controlTopic = "control.\(instance)"
    }

    /// The metric under which a type's samples are delivered; nil if they aren't delivered to this destination.
    func family(_ type: String) -> DeliveryMetric? {
        let metric = anyFamily(type)
        return settings.choice.takes(type: type, of: metric) ? metric : nil
    }

    /// The same for all types.
    func anyFamily(_ type: String) -> DeliveryMetric { metrics[type] }

    private let releaseTopic: String
    private let controlTopic: String

    package var subscriptions: [Subscription] {
        [.exact(releaseTopic), .exact(controlTopic), .exact(Heartbeat.topic(samples.producer))]
            + documents.map { .exact(Heartbeat.topic($0.producer)) }
    }

    /// What people call the destination, after "the".
    var word: String { settings.destination.word }
    /// The option with its address.
    var addressOption: String { settings.destination.place.first ?? "url" }
    /// Whether the destination has the backend's contract.
    var isBackend: Bool { settings.destination.kind == .backend }
    var upstreams: [Upstream] { documents + [samples] }

    package func open(_ turn: Turn) throws {
        try DeliveryTables.createTables(in: try turn.write().database)
        try ledger.open(turn)
        replay = DeliveryReplay(done: try ledger.lastReplay(turn))
        try openBackend(turn)
        for upstream in upstreams { try upstream.open(turn) }
        // The anchors have passed elements that weren't selected before. Thanks to versions, it is harmless to deliver
        // the rest again.
        if try ledger.notes(settings.selection, turn) {
            try ledger.beginsAgain(turn)
            for upstream in upstreams { try upstream.rewind(turn) }
        }
        try openAddress(turn)
        try openProof(turn)
        proof.opened = turn.monotonic
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
        if try receive(replayed: answer, turn) || receive(proof: answer, turn) { return }
        for upstream in upstreams {
            switch try upstream.fetch(answer, turn) {
            case .other: continue
            case .inaccessible: return
            case .reset:
                deliveries.forget(upstream.name)
                held.forgetGood()
                forgetProof(of: upstream)
                if upstream === samples { try ledger.beginsAgain(turn) }
            case .pages(let fetched):
                let found = try split(fetched.pages, from: upstream.name, isSamples: upstream === samples)
                deliveries.add(
                    fetched, found.taken, older: found.older, of: upstream.name, fills: fillsRequests,
                    at: turn.monotonic)
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
        if let reply = result.value as? HeldReply {
            if result.id == proof.effect { try receive(reply, turn) }
            return
        }
        guard let reply = result.value as? DeliveryReply else { return }
        if let (metric, evidence) = held.answered(result.id) {
            return try settle(probeOf: metric, evidence, reply, turn)
        }
        if let request = deliveries.answered(result.id) { try settle(request, reply, turn) }
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
        beginWaitingReplay()
        let times = [
            moveHeld(turn), try move(turn), try moveCheck(turn), try moveProof(turn), try alertOfDelay(turn),
        ]
        try alertOfLetters(turn)
        return times.compactMap { $0 }.min()
    }

    private func alertOfDelay(_ turn: Turn) throws -> MonotonicTime? {
        guard blockage.reason ?? heldText != nil, !deliveries.isEmpty else {
            standstill.end()
            return nil
        }
        return try standstill.alert(
            "Nothing has reached the \(word) for a while, though data is waiting.",
            remedy: "Look at 'healthbus status': it says what delivery is waiting for.", turn)
    }

    package func report(_ turn: Turn) throws -> StageReport {
        var common = StageDetails()
        common.consumed = samples.consumedByType
        common.replay = replay.report
        var own = UploaderDetails(
            deadLetters: ledger.deadLetters, droppedLetters: ledger.droppedLetters, delivered: ledger.delivered,
            lastDelivered: ledger.lastDelivered, delays: ledger.delaySummaries, delayBuckets: ledger.delayBuckets,
            answers: .init(created: ledger.created, updated: ledger.updated, known: ledger.known),
            blocked: blockage.reason(at: turn.now, unansweredSince: deliveries.unansweredSince) ?? heldText,
            waitsUntil: blockage.waitsUntil,
            held: held.count(in: deliveries), backend: backendReport, paused: blockage.isPaused, path: gate.path,
            waiting: deliveries.count)
        if settings.deliverSince != nil { own.keptLocal = ledger.keptLocal }
        // A conflict is other content under the same version.
        if settings.keepsVersions { own.conflicts = ledger.conflicts }
        own.proof = ledger.proof.last
        own.syncRequested = met.syncRequested
        if !settings.address.isEmpty { own.address = settings.address }
        return StageReport(
            frontier: Dictionary(upstreams.map { ($0.producer, $0.frontier) }, uniquingKeysWith: { min($0, $1) }),
            details: HeartbeatDetails(own, common),
            asides: HeartbeatDetails(CheckDetails(lastChecked: ledger.lastChecked)))
    }
}

extension Upstream {
    /// Where a destination gets days, nights and workouts from.
    package static func documents(consolidator: String?, handlers: [String]) -> [Upstream] {
        (consolidator.map { [Upstream($0, query: .changes(topic: "daily.summary"))] } ?? [])
            + handlers.map { Upstream($0, query: .changes(topic: "events.")) }
    }
}
