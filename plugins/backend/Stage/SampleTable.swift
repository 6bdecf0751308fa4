import HTTP
import HealthModel
import JSON
import SQLite

/// Writes samples and their tombstones: one upsert statement, no check before it.
final class SampleTable {
    private let upsert: Statement
    private let held: Statement
    private let texts: InternedTexts
    private let database: Database
    private let replaced: ReplacedRow

    /// A tombstone keeps type and times, and forgets what was measured.
    init(_ database: Database, texts: InternedTexts, replaced: ReplacedRow) throws {
        self.texts = texts
        self.database = database
        self.replaced = replaced
        let set = """
            version = excluded.version + 0 * replaced(type * 2 + deleted), deleted = excluded.deleted,
            type = iif(excluded.deleted, type, excluded.type), start = iif(excluded.deleted, start, excluded.start),
            "end" = iif(excluded.deleted, "end", excluded."end"),
            source_type = iif(excluded.deleted, source_type, excluded.source_type),
            value = excluded.value, unit = excluded.unit, source = excluded.source,
            uuid = coalesce(excluded.uuid, uuid), device = excluded.device, synced = excluded.synced,
            metadata = excluded.metadata, payload = excluded.payload
            """
        upsert = try database.prepare(
            """
            INSERT INTO samples(user, id, version, deleted, type, start, "end", value, unit, source, source_type, uuid,
                device, synced, metadata, payload)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
            ON CONFLICT(user, id) DO UPDATE SET \(set)
                WHERE excluded.version > version OR (excluded.version = version AND excluded.deleted > deleted)
            ON CONFLICT(user, type, start) WHERE source_type <> 0 AND deleted = 0 DO UPDATE SET \(set)
                WHERE excluded.version > version
            """)
        held = try database.prepare("SELECT version FROM samples WHERE user = ?1 AND id = ?2")
    }

    /// What a write did: the verdict, and how the counts of types move.
    struct Effect {
        var verdict: SyncOutcome.Verdict
        var type: Int64 = 0
        /// type · 2 + deleted of what was replaced.
        var previous: Int64?
    }

    func write(
        _ element: SampleElement, id: ElementID, version: Int64, start: Instant, end: Instant, in batch: SyncBatch
    ) throws -> Effect {
        bindHead(id, version: version, deleted: false, batch)
        let type = try texts.id(of: element.type, .type)
        upsert.bind(5, type)
        upsert.bind(6, start.microseconds)
        upsert.bind(7, end.microseconds)
        if let value = element.value?.double { upsert.bind(8, value) }
        upsert.bind(9, try texts.id(of: element.unit, .unit))
        upsert.bind(10, try texts.id(of: element.source, .source))
        upsert.bind(11, element.isManual ? 1 : 0)
        ElementID(element.healthKitUUID)?.bind(to: upsert, 12)
        if let metadata = element.metadata, metadata.bytes.count > 2 { upsert.bindText(15, borrowed: metadata.bytes) }
        if let payload = element.payload { upsert.bindText(16, borrowed: payload.rawText) }
        return try run(type: type)
    }

    func delete(id: ElementID, version: Int64, in batch: SyncBatch) throws -> Effect {
        bindHead(id, version: version, deleted: true, batch)
        upsert.bind(5, 0)
        upsert.bind(11, 0)
        return try run(type: nil)
    }

    /// The version kept under this id; nil when the id isn't a row's.
    func heldVersion(_ id: ElementID, user: Int64) throws -> Int64? {
        held.bind(1, user)
        id.bind(to: held, 2)
        return try held.firstRow { $0.int64(0) }
    }

    private func bindHead(_ id: ElementID, version: Int64, deleted: Bool, _ batch: SyncBatch) {
        upsert.bind(1, batch.user)
        id.bind(to: upsert, 2)
        upsert.bind(3, version)
        upsert.bind(4, deleted ? 1 : 0)
        upsert.bind(13, batch.device)
        upsert.bind(14, batch.syncedAt.microseconds)
    }

    /// - Parameter type: of the row to be; nil for a tombstone, which keeps the type of what it replaces.
    private func run(type: Int64?) throws -> Effect {
        replaced.row = nil
        do {
            try upsert.run()
            if database.changes == 0 { return Effect(verdict: .known) }
            guard let row = replaced.row else { return Effect(verdict: .created, type: type ?? 0) }
            return Effect(verdict: .updated, type: type ?? row >> 1, previous: row)
        } catch let error as SQLiteError where error.isUniqueViolation {
            // A manual event moved, or came back, onto the type and time of another one: the two are one, and that one stands.
            return Effect(verdict: .known)
        }
    }
}

extension SQLiteError {
    /// SQLITE_CONSTRAINT_UNIQUE.
    fileprivate var isUniqueViolation: Bool { code == 2067 }
}

extension JSONSpan {
    /// The value's JSON text, a string's quotes included.
    var rawText: UnsafeRawBufferPointer {
        guard isString, let start = bytes.baseAddress else { return bytes }
        return UnsafeRawBufferPointer(start: start - 1, count: bytes.count + 2)
    }
}
