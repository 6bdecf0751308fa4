import BackgroundDelivery
import Changelog
import HealthModel
import HealthStore
import MessageBus
import PluginKit
import SQLite
import Wire

extension StageDatabase: SequenceSource {}

/// Owns the health store: takes in what comes, keeps every sample once, and says what has changed. HealthKit's counterpart.
public final class ObserverStage: Stage {
    let instance: String
    let zone: String
    let defaultUser: String
    var writers: [String: HealthStoreWriter] = [:]
    let imports = ImportLedger()
    var attempt: ImportAttempt?
    /// Files on their way into the inbox.
    private var adopting: Set<String> = []
    private(set) var heads: [String: Int64] = [:]
    private var reader: HealthStoreReader?
    var changedTypes: Set<String> = []
    var quarantined: Int64 = 0
    let delivery: ObserverDelivery

    /// - Parameters:
    ///   - zone: IANA name; a user's timeline begins with it.
    ///   - delivery: how background delivery treats its consumers.
    ///   - refusal: why a consumer may not register, with what to do; nil when it may.
    public init(
        instance: String, zone: String, defaultUser: String, delivery: DeliveryPolicy = DeliveryPolicy(),
        refusal: @escaping (String) -> String? = { _ in nil }
    ) {
        self.instance = instance
        self.zone = zone
        self.defaultUser = defaultUser
        self.delivery = ObserverDelivery(policy: delivery, refusal: refusal)
    }

    public var subscriptions: [Subscription] { [.exact("control.\(instance)"), .exact("acknowledged.\(instance)")] }

    public func open(_ turn: Turn) throws {
        let database = try turn.write().database
        try HealthStoreSchema.create(in: database)
        try ImportLedger.createTables(in: database)
        try ZoneTable.createTables(in: database)
        try ObserverDelivery.createTables(in: database)
        try CharacteristicsTable.createTables(in: database)
        try imports.open(turn)
        try ZoneTable.ensure(user: defaultUser, zone: zone, turn)
        let reader = try HealthStoreReader(database: database)
        self.reader = reader
        try refreshHeads()
        changedTypes = []
        quarantined = Int64(try reader.quarantineCount())
        try delivery.open(turn)
        turn.perform(ObserverEffect.discard(.everything(besides: imports.needed)))
    }

    public func receive(_ message: Message, _ turn: Turn) throws {
        if message.topic.hasPrefix("acknowledged.") { return delivery.acknowledge(message.body, turn) }
        switch message.body["command"].string {
        case "import": try announce(message.body, turn)
        case "register": try delivery.register(message.body, known: heads.keys, turn)
        case "device": try delivery.change(message.body, known: heads.keys, turn)
        case "types": try delivery.setTypes(message.body, turn)
        default: break
        }
    }

    /// Commands are hints too: an import is announced until its row says so, and asking again changes nothing.
    private func announce(_ command: Value, _ turn: Turn) throws {
        guard let id = command["id"].string, let path = command["path"].string, Self.isFileName(id), imports[id] == nil
        else { return }
        try imports.save(
            .init(
                id: id, path: path, user: command["user"].string ?? defaultUser, state: .announced,
                submitted: turn.now,
                added: [:], report: nil, problem: nil, seconds: 0), turn)
    }

    /// An id becomes a file's name in the inbox: nothing but a UUID's characters.
    private static func isFileName(_ id: String) -> Bool {
        (8...64).contains(id.utf8.count)
            && id.utf8.allSatisfy { (97...102).contains($0) || (48...57).contains($0) || $0 == 45 }
    }

    public func receive(_ result: EffectResult, _ turn: Turn) throws {
        guard let event = result.value as? ImportEvent else { return }
        switch event {
        case .adopted(let id):
            adopting.remove(id)
            guard var entry = imports[id], entry.state == .announced else { return }
            entry.state = .open
            try imports.save(entry, turn)
        case .notAdopted(let id, let reason):
            adopting.remove(id)
            guard var entry = imports[id] else { return }
            entry.state = .failed
            entry.problem = reason
            try imports.save(entry, turn)
        default: try take(event, turn)
        }
    }

    public func tick(_ turn: Turn) throws -> Instant? {
        for entry in imports.announced where !adopting.contains(entry.id) {
            adopting.insert(entry.id)
            turn.perform(ObserverEffect.adopt(id: entry.id, path: entry.path))
        }
        if attempt == nil, let entry = imports.firstOpen {
            try ZoneTable.ensure(user: entry.user, zone: zone, turn)
            attempt = ImportAttempt(id: entry.id, source: entry.path, startedAt: turn.monotonic)
            turn.log.info("import.started", ("id", entry.id))
            turn.perform(ObserverEffect.read(id: entry.id, path: entry.path))
        }
        if !changedTypes.isEmpty { try refreshHeads() }
        defer { changedTypes = [] }
        return try delivery.fire(changed: changedTypes, heads: heads, turn)
    }

    private func refreshHeads() throws {
        guard let reader else { return }
        for head in try reader.heads() where head.sequence > heads[head.type] ?? 0 {
            heads[head.type] = head.sequence
            changedTypes.insert(head.type)
        }
    }

    func writer(for user: String, _ turn: Turn) throws -> HealthStoreWriter {
        if let writer = writers[user] { return writer }
        let stage = try turn.write()
        let writer = try HealthStoreWriter(database: stage.database, user: user, sequences: stage)
        writers[user] = writer
        return writer
    }

    public func report(_ turn: Turn) throws -> StageReport {
        var details: [String: Value] = [
            "importOpen": .bool(imports.isOpen), "quarantined": .integer(quarantined),
        ]
        if let attempt {
            details["import"] = [
                "id": .string(attempt.id), "bytesRead": .integer(attempt.bytesRead),
                "bytesTotal": .integer(attempt.bytesTotal),
                "records": .integer(attempt.records),
            ]
        }
        details.merge(delivery.details(head: turn.head.sequence)) { own, _ in own }
        return StageReport(heads: heads, details: details)
    }
}
