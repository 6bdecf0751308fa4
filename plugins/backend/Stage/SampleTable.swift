import HealthModel
import JSON
import SQLite

/// A sample as stored in its row. Strings are stored as their numbers in `InternedTexts`.
struct SampleContent {
    var kind: SampleKind
    /// Microseconds since 1970.
    var start: Int64
    /// Not before `start`.
    var end: Int64
    /// Finite.
    var value: Double?
    var uuid: ElementID?
    /// JSON that has been checked: an object with members.
    var metadata: UnsafeRawBufferPointer?
    /// JSON that has been checked.
    var payload: UnsafeRawBufferPointer?
}

/// Writes samples and their tombstones: one upsert statement each, without looking up the row first.
///
/// Of manual samples with the same type and start, only the one with the highest version stays: the others become
/// tombstones of their own versions. Each id has a row of its own, so it makes no difference in which order a sample,
/// its deletion, and its replacement under another id arrive.
final class SampleTable {
    private let put: Statement
    private let tombstone: Statement
    private let displace: Statement
    private let held: Statement
    private let content: Statement
    private let kinds: SampleKinds
    private let repeated: RepeatedTexts
    private let database: Database
    private let replaced: ReplacedRow
    private var moment: [UInt8] = []

    /// `deleted` is 1 for a tombstone, which keeps the type and times but not the value. `metadata` is the number of a
    /// string, or the string itself. `moment` is the type and start of a manual sample that isn't deleted. Columns
    /// after `id` are ordered by how often they are read.
    ///
    /// Our own ids begin with the start time, so an id range is a time range and needs no index. A sample that can't be
    /// found that way (see `StoredTimes.areImplied`), like every manual one, has its start in `start`, and an entry in
    /// one or both of two indexes.
    static let tables = """
        CREATE TABLE IF NOT EXISTS sample_rows(
            user INTEGER NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL, deleted INTEGER NOT NULL,
            kind INTEGER NOT NULL, shift INTEGER, duration INTEGER, value REAL, batch INTEGER NOT NULL,
            metadata, payload TEXT, uuid BLOB, moment TEXT, start INTEGER, PRIMARY KEY(user, id)) WITHOUT ROWID;
        CREATE UNIQUE INDEX IF NOT EXISTS samples_moment ON sample_rows(user, moment) WHERE moment IS NOT NULL;
        CREATE INDEX IF NOT EXISTS samples_start ON sample_rows(user, start) WHERE start IS NOT NULL;
        CREATE INDEX IF NOT EXISTS samples_long ON sample_rows(user, start, duration) WHERE start IS NOT NULL AND \(isLong);
        """

    /// Must be worded exactly as in the index, or SQLite won't use it.
    static let isLong =
        "(duration > \(StoredTimes.longest / Instant.microsecondsPerSecond) OR duration < -\(StoredTimes.longest))"

    init(_ database: Database, texts: InternedTexts, kinds: SampleKinds, replaced: ReplacedRow) throws {
        (self.kinds, self.database, self.replaced) = (kinds, database, replaced)
        repeated = RepeatedTexts(texts)
        put = try database.prepare(
            """
            INSERT INTO sample_rows(user, id, version, deleted, kind, shift, duration, value, batch, metadata, payload, uuid,
                moment, start)
            VALUES(?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
            ON CONFLICT(user, id) DO UPDATE SET version = excluded.version + 0 * replaced(kind * 2 + deleted),
                deleted = 0, kind = excluded.kind, shift = excluded.shift, duration = excluded.duration,
                value = excluded.value, batch = excluded.batch, metadata = excluded.metadata, payload = excluded.payload,
                uuid = coalesce(excluded.uuid, uuid), moment = excluded.moment, start = excluded.start
                WHERE \(ReplacedRow.isNewer(noting: Self.differs))
            """)
        tombstone = try database.prepare(
            """
            INSERT INTO sample_rows(user, id, version, deleted, kind, batch) VALUES(?1, ?2, ?3, 1, 0, ?4)
            ON CONFLICT(user, id) DO UPDATE SET version = excluded.version + 0 * replaced(kind * 2 + deleted),
                batch = excluded.batch, \(Self.emptied)
                WHERE excluded.version > version OR (excluded.version = version AND deleted = 0)
            """)
        displace = try database.prepare(
            """
            UPDATE sample_rows SET batch = ?4, \(Self.emptied) WHERE user = ?1 AND moment = ?2 AND version < ?3
            RETURNING id, typeof(id) = 'blob'
            """)
        held = try database.prepare("SELECT version FROM sample_rows WHERE user = ?1 AND id = ?2")
        content = try database.prepare(
            """
            SELECT kind, shift, duration, value, iif(typeof(metadata) = 'integer',
                (SELECT text FROM texts WHERE texts.id = sample_rows.metadata), metadata), payload
            FROM sample_rows WHERE user = ?1 AND id = ?2
            """)
    }

    /// What makes a row a tombstone, which keeps its type and times.
    private static let emptied = """
        deleted = 1, kind = coalesce((SELECT bare FROM kinds WHERE kinds.id = sample_rows.kind), sample_rows.kind),
        value = NULL, metadata = NULL, payload = NULL, moment = NULL
        """

    /// Whether a row with this version has other values in its columns. Different values may still mean the same: see
    /// `isSame`.
    private static let differs = ["kind", "shift", "duration", "value", "metadata", "payload"].map {
        "\($0) IS NOT excluded.\($0)"
    }.joined(separator: " OR ")

    /// The result of a write: the verdict, and how the counts by type change.
    struct Effect {
        var verdict: SyncOutcome.Verdict
        var type: Int64 = 0
        /// Whether the row is a tombstone now.
        var isDeleted = false
        /// The type of the replaced row, and whether it was a tombstone.
        var previous: (type: Int64, isDeleted: Bool)?
        /// Another sample of the type that became a tombstone.
        var displaced: ElementID?
    }

    func write(_ sample: SampleContent, id: ElementID, version: Int64, in batch: SyncBatch) throws -> Effect {
        let times = StoredTimes(start: sample.start, end: sample.end, id: id)
        if sample.kind.isManual {
            moment.removeAll(keepingCapacity: true)
            Self.append(momentOf: sample.kind.type, start: sample.start, to: &moment)
        }
        var effect: Effect
        do {
            effect = try upsert(sample, times, id: id, version: version, in: batch)
        } catch let error as SQLiteError where error.isUniqueViolation {
            effect = try settle(sample, times, id: id, version: version, in: batch)
        }
        if replaced.isContradicted, try !isSame(sample, times, id: id, user: batch.user) { effect.verdict = .conflict }
        return effect
    }

    /// Writes a manual sample to whose moment another one has a claim: the one with the lower version gives way.
    private func settle(
        _ sample: SampleContent, _ times: StoredTimes, id: ElementID, version: Int64, in batch: SyncBatch
    ) throws -> Effect {
        displace.bind(1, batch.user)
        moment.withUnsafeBytes { displace.bindText(2, $0) }
        displace.bind(3, version)
        displace.bind(4, batch.number)
        if let displaced = try displace.firstRow({ $0.elementID(0, isUUID: 1) }) {
            var effect = try upsert(sample, times, id: id, version: version, in: batch)
            effect.displaced = displaced
            return effect
        }
        // This one gives way. If it has a row, that is of an older version, which no longer counts either.
        replaced.forget()
        guard try heldVersion(id, user: batch.user) != nil else { return Effect(verdict: .known) }
        return try delete(id: id, version: version, in: batch)
    }

    /// - Throws: an `SQLiteError` with `isUniqueViolation` for a sample that would be written if another manual one
    ///   didn't have its moment.
    private func upsert(
        _ sample: SampleContent, _ times: StoredTimes, id: ElementID, version: Int64, in batch: SyncBatch
    ) throws -> Effect {
        put.bind(1, batch.user)
        id.bind(to: put, 2)
        put.bind(3, version)
        put.bind(4, try kinds.number(of: sample.kind))
        put.bind(5, times.shift)
        put.bind(6, times.duration)
        if let value = sample.value { put.bind(7, value) }
        put.bind(8, batch.number)
        if let metadata = sample.metadata {
            switch try repeated.place(of: metadata) {
            case .row: put.bindText(9, borrowed: metadata)
            case .number(let number): put.bind(9, number)
            }
        }
        if let payload = sample.payload { put.bindText(10, borrowed: payload) }
        sample.uuid?.bind(to: put, 11)
        // The id of a manual sample needn't begin with its time.
        if sample.kind.isManual || !times.areImplied(by: id) { put.bind(13, sample.start) }
        guard sample.kind.isManual else { return try run(put, type: sample.kind.type) }
        return try moment.withUnsafeBytes {
            put.bindText(12, borrowed: $0)
            return try run(put, type: sample.kind.type)
        }
    }

    /// Whether the row under this id has the same content, although its columns differ: metadata may be in the row or in
    /// `texts`, and JSON may be written in several ways.
    private func isSame(_ sample: SampleContent, _ times: StoredTimes, id: ElementID, user: Int64) throws -> Bool {
        content.bind(1, user)
        id.bind(to: content, 2)
        return try content.firstRow { row in
            guard try kinds.kind(row.int64(0)) == sample.kind, row.int64(1) == times.shift,
                row.int64(2) == times.duration, (row.isNull(3) ? nil : row.double(3)) == sample.value
            else { return false }
            func holds(_ column: Int, _ json: UnsafeRawBufferPointer?) -> Bool {
                row.withBytes(column) { SameContent.holds(row.isNull(column) ? nil : $0, json) }
            }
            return holds(4, sample.metadata) && holds(5, sample.payload)
        } ?? true
    }

    /// The second key of a manual sample.
    static func append(momentOf type: Int64, start: Int64, to text: inout [UInt8]) {
        text.append(json: type)
        text.append(UInt8(ascii: " "))
        text.append(json: start)
    }

    func delete(id: ElementID, version: Int64, in batch: SyncBatch) throws -> Effect {
        tombstone.bind(1, batch.user)
        id.bind(to: tombstone, 2)
        tombstone.bind(3, version)
        tombstone.bind(4, batch.number)
        return try run(tombstone, type: nil)
    }

    /// The version stored under this id; nil when no row has the id.
    func heldVersion(_ id: ElementID, user: Int64) throws -> Int64? {
        held.bind(1, user)
        id.bind(to: held, 2)
        return try held.firstRow { $0.int64(0) }
    }

    /// Whether this metadata was seen recently, and so is known to be an object.
    func isKnown(metadata: UnsafeRawBufferPointer) -> Bool { repeated.isKnown(metadata) }

    func forget() { repeated.forget() }

    /// - Parameter type: the new row's type; nil for a tombstone, which keeps the type of what it replaces.
    private func run(_ statement: Statement, type: Int64?) throws -> Effect {
        replaced.forget()
        try statement.run()
        if database.changes == 0 { return Effect(verdict: .known) }
        guard let row = replaced.row else { return Effect(verdict: .created, type: type ?? 0, isDeleted: type == nil) }
        let previous = try kinds.kind(row >> 1).type
        return Effect(
            verdict: .updated, type: type ?? previous, isDeleted: type == nil, previous: (previous, row & 1 == 1))
    }
}

extension SQLiteError {
    /// SQLITE_CONSTRAINT_UNIQUE.
    fileprivate var isUniqueViolation: Bool { code == 2067 }
}
