import BackgroundDelivery
import Changelog
import HealthModel
import HealthStore
import MessageBus
import ObserverReading
import Protocol
import SQLite
import StageKit

extension StageDatabase: SequenceSource {}

/// Owns the health store: stores whatever comes in, keeps every sample once, and reports what has changed. HealthKit's
/// counterpart.
package final class ObserverStage: Stage {
    let instance: String
    private let app: String?
    let zone: String
    let defaultUser: String
    var writers: [String: HealthStoreWriter] = [:]
    let imports = ImportLedger()
    var zones = ZoneLedger()
    var attempt: ImportAttempt?
    /// Imports whose known pieces are read as well, because one of their rows was already claimed.
    var readsAll: Set<String> = []
    /// Files on their way into the inbox.
    var adopting: Set<String> = []
    /// Files currently coming over the bus, by id.
    var receptions: [String: FileReception] = [:]
    /// The folder from which files are imported automatically.
    let inbox: String?
    let drops = DropLedger()
    /// Why files can't be taken from that folder at present.
    var inboxProblem: String?
    /// Requests currently being pushed.
    var desk = IngestDesk()
    /// Which tool can send which import's bytes, and when it last said so, by the monotonic clock.
    var offers: [String: (sender: String, heard: MonotonicTime)] = [:]
    private(set) var heads: [String: SequenceNumber] = [:]
    var reader: HealthStoreReader?
    var changedTypes: Set<String> = []
    var quarantined: Int64 = 0
    /// What is currently being taken back.
    var undoing: Undoing?
    /// What is currently searched or repaired of what an earlier release stored twice.
    var doubling: DoublesJob?
    /// The users whose samples are still to be searched after an upgrade, the current one first, and how far that is.
    var surveys: [String] = []
    var surveying: DoublesProgress?
    /// How many samples are stored twice, as far as is known.
    var doubles: Int64 = 0
    /// Which sources people have left out.
    var leftOut: [LeftOutTable.Entry] = []
    /// The samples that are about to get new versions.
    var renewals: [PendingRenewal] = []
    /// The current request about the quarantine.
    var repair: QuarantineRepair?
    let delivery: ObserverDelivery
    /// Instances that may bring another stack's changes.
    let follows: Set<String>
    /// The instances whose other stack can't be followed at present, and since when that is known.
    var unanswered: [String: MonotonicTime] = [:]
    let rowsPerStep: Int

    /// - Parameters:
    ///   - zone: IANA name; a user's timeline begins with it.
    ///   - inbox: a folder from which files are imported automatically.
    ///   - delivery: how background delivery treats its consumers.
    ///   - locators: the consumers that may read positions; nil: all.
    ///   - readers: who may read health data at all; nil: everybody.
    ///   - plugins: the instances whose tools may read only what the instance itself may; nil: none.
    ///   - app: the instance whose app refreshes count as wakes.
    ///   - refusal: why a consumer may not register, with what to do; nil when it may.
    ///   - follows: the instances that may bring another stack's changes.
    ///   - rowsPerStep: how many rows to compare with a complete export in one turn.
    package init(
        instance: String, zone: String, defaultUser: String, inbox: String? = nil,
        delivery: SystemLimits = SystemLimits(), locators: [String]? = nil,
        readers: [String]? = nil, plugins: [String]? = nil, app: String? = nil,
        refusal: @escaping (String) -> String? = { _ in nil }, follows: Set<String> = [], rowsPerStep: Int = 50_000
    ) {
        (self.follows, self.rowsPerStep, self.instance, self.app) = (follows, rowsPerStep, instance, app)
        (self.zone, self.defaultUser, self.inbox) = (zone, defaultUser, inbox)
        self.delivery = ObserverDelivery(
            limits: delivery, locators: locators, readers: readers, plugins: plugins, refusal: refusal)
    }

    package var subscriptions: [Subscription] {
        [.exact("control.\(instance)"), .exact("acknowledged.\(instance)"), .exact(IngestPart.topic(instance))]
            + (delivery.countsWakes ? [app].compactMap { $0 }.map { .exact(Heartbeat.topic($0)) } : [])
    }

    package func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try ObserverSource.createTables(in: database)
        try FollowedTable.create(in: database)
        try forgetAlerts(turn)
        try zones.open(turn)
        try imports.open(turn)
        // A document that a crash left incomplete will be read again with its file.
        try HealthStoreSchema.dropUnfinished(in: database)
        try zones.ensure(user: defaultUser, zone: zone, turn)
        let reader = try HealthStoreReader(database: database)
        self.reader = reader
        try refreshHeads()
        changedTypes = []
        quarantined = Int64(try reader.quarantineCount())
        try openSurvey(turn)
        leftOut = try LeftOutTable.entries(in: database)
        try openRenewals(turn)
        try EnergySent.table.create(in: turn.write().database)
        for type in try delivery.open(turn) { try renew(type: type, turn) }
        turn.perform(ObserverEffect.discard(.everything(besides: imports.needed)))
        try watchInbox(turn)
    }

    /// Commands are only hints: the sender repeats one until it takes effect, and repeats do no harm.
    package func receive(_ message: Message, _ turn: Turn) throws {
        if let beat = Heartbeat(message) { return delivery.hear(beat, turn) }
        if message.topic.hasPrefix("acknowledged.") { return delivery.acknowledge(message.body, turn) }
        let body = message.body
        if message.topic == IngestPart.topic(instance) {
            // Anything that can't be read as a part isn't answered: its sender runs a different release, and reports
            // that there is no answer.
            if let part = IngestPart(body) { try take(part, from: message.header.from, turn) }
            return
        }
        switch CommandName.of(body) {
        case ImportFile.name: if let command = ImportFile(body) { try announce(command, turn) }
        case ChangeZone.name:
            guard let change = ChangeZone(body), let command = ZoneCommand(change) else { return }
            let user = change.user ?? defaultUser
            try zones.ensure(user: user, zone: zone, turn)
            try zones.apply(command, user: user, turn)
        case Register.name: try delivery.register(body, known: heads.keys, turn)
        case ChangeDevice.name: try delivery.change(body, known: heads.keys, turn)
        case SwitchTypes.name: for type in try delivery.setTypes(body, turn) { try renew(type: type, turn) }
        default: break
        }
    }

    private func announce(_ command: ImportFile, _ turn: Turn) throws {
        guard let id = command.id, Self.isFileName(id) else { return }
        let offer = FileOffer(command, heard: turn.now)
        if try imports.entry(id, turn) == nil {
            // A pipe's content isn't on disk: it is requested at once.
            let state: ImportLedger.State = offer != nil && offer?.file == nil ? .receiving : .announced
            try imports.save(
                .init(
                    id: id, path: command.path, user: command.user ?? defaultUser, state: state, submitted: turn.now,
                    added: [:], report: nil, problem: nil, seconds: 0, plan: ImportPlan(command), offer: offer),
                turn)
        }
        if let entry = try imports.entry(id, turn) { try hearOffer(entry, command, turn) }
    }

    /// An id becomes the name of a file in the inbox: only the characters of a UUID are allowed.
    private static func isFileName(_ id: String) -> Bool {
        (8...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { (97...102).contains($0) || (48...57).contains($0) || $0 == 45 }
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        if let changes = result.value as? LiveChanges { return try take(changes, turn) }
        if let reply = result.value as? RereadReply { return try take(reply, result.id, turn) }
        if let step = result.value as? FileStep { return try receive(step, turn) }
        if let event = result.value as? DropEvent { return try take(event, turn) }
        // The pieces of another attempt are ignored.
        if let event = result.value as? ImportEvent, let attempt, result.id == attempt.effect {
            try take(event, of: attempt, turn)
        }
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        for entry in imports.announced where !adopting.contains(entry.id) {
            adopting.insert(entry.id)
            turn.perform(
                ObserverEffect.adopt(
                    id: entry.id, path: entry.path, file: entry.offer?.file ?? drops.file(of: entry.id)))
        }
        let silence = try receiveFiles(turn)
        let moving = try settleDrops(turn)
        if attempt?.ending != nil { try goOnEnding(turn) }
        // Not while a file is being read: each of its parts might shift the days again.
        if attempt == nil { try zones.settle(turn) }
        if attempt == nil, var entry = imports.firstOpen {
            if entry.plan?.isTryingOut != true { try zones.ensure(user: entry.user, zone: zone, turn) }
            if entry.plan != nil, entry.plan?.begun == nil {
                entry.plan?.begun = turn.head.sequence
                try imports.save(entry, turn)
            }
            if entry.plan?.isTryingOut != true { try imports.noteFirst(entry, turn) }
            // In a trial each record is examined.
            let known =
                entry.plan?.isTryingOut == true || readsAll.contains(entry.id)
                ? [:] : try writer(for: entry.user, turn).knownPieces()
            let effect = turn.perform(ObserverEffect.read(id: entry.id, path: entry.path, known: known))
            let attempt = ImportAttempt(id: entry.id, source: entry.path, effect: effect, startedAt: turn.monotonic)
            if let kept = try ImportTables.rewrites.value(entry.id, in: turn.database)?.read(ImportRewrites.Kept.self) {
                attempt.rewrites.goOn(from: kept)
            }
            self.attempt = attempt
            turn.log(.importStarted, ["id": entry.id])
        }
        let isSearching = try goOnSurvey(turn)
        let isRenewing = try goOnRenewing(turn)
        if !changedTypes.isEmpty { try refreshHeads() }
        defer { changedTypes = [] }
        let next = try delivery.fire(changed: changedTypes, heads: heads, turn)
        // An import that is being compared with the store continues at once.
        let goesOn =
            isSearching || isRenewing || attempt?.ending != nil || (attempt == nil && imports.firstOpen != nil)
        return !goesOn ? [next, silence, moving].compactMap { $0 }.min() : turn.monotonic
    }

    func refreshHeads() throws {
        guard let reader else { return }
        // The known heads are per type: everything that has changed since has a higher number than all of them.
        for (type, sequence) in try reader.heads(after: heads.values.max() ?? .beginning) {
            heads[type] = sequence
            changedTypes.insert(type)
        }
    }

    /// How many writers are kept for later: keeping a thousand people's would waste memory.
    private static let keptWriters = 8

    func writer(for user: String, _ turn: Turn) throws -> HealthStoreWriter {
        if let writer = writers[user] { return writer }
        if writers.count >= Self.keptWriters { writers = writers.filter { $0.value.isInUse } }
        let stage = try turn.write()
        let writer = try HealthStoreWriter(database: stage.database, user: user, sequences: stage)
        writers[user] = writer
        return writer
    }

    package func report(_ turn: Turn) throws -> StageReport {
        let isCopying = try isCopying(in: turn.database)
        var details = ObserverDetails(importOpen: imports.isOpen || isCopying, quarantined: quarantined)
        if isCopying { details.copying = true }
        if doubles > 0 { details.doubles = doubles }
        details.reading = attempt.map {
            .init(id: $0.id, bytesRead: $0.bytesRead, bytesTotal: $0.bytesTotal, records: $0.records)
        }
        if let inbox { details.inbox = .init(path: inbox, problem: inboxProblem) }
        delivery.report(&details, head: turn.head.sequence, now: turn.now)
        return StageReport(heads: heads, details: HeartbeatDetails(details))
    }
}
