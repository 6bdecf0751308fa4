import HealthModel
import HealthStore
import Protocol
import SQLite

/// Stores what people make themselves: their types, and which sample is which event. The events' content is only in
/// their samples.
package enum OwnTables {
    /// A removed type keeps its row, but without a kind, so that the changelog reports the removal.
    static func create(in database: Database) throws {
        try database.execute(
            """
            CREATE TABLE IF NOT EXISTS own_types(
                user TEXT NOT NULL, name TEXT NOT NULL, seq INTEGER NOT NULL, version INTEGER NOT NULL, kind TEXT,
                unit TEXT NOT NULL, aggregation TEXT NOT NULL, PRIMARY KEY (user, name)) WITHOUT ROWID;
            CREATE TABLE IF NOT EXISTS own_events(
                number INTEGER PRIMARY KEY, user TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, uuid TEXT,
                UNIQUE (user, id));
            CREATE INDEX IF NOT EXISTS own_events_uuid ON own_events(user, uuid) WHERE uuid IS NOT NULL
            """)
    }

    /// A store from an earlier release has no such tables until this release's observer has opened it.
    static func exist(in database: Database) throws -> Bool {
        try database.hasTable("own_types")
    }

    // MARK: Types

    /// A type with its version, or only the version of one that was removed.
    package static func type(
        _ name: String, of user: String, in database: Database
    ) throws -> (row: OwnTypeRow?, version: Int64)? {
        let find = try database.prepare(
            "SELECT name, kind, unit, aggregation, version FROM own_types WHERE user = ? AND name = ?")
        return try find.with(user, name).firstRow { ($0.isNull(1) ? nil : Self.type($0), $0.int64(4)) }
    }

    package static func types(of user: String, in database: Database) throws -> [OwnTypeRow] {
        let list = try database.prepare(
            """
            SELECT name, kind, unit, aggregation, version FROM own_types WHERE user = ? AND kind IS NOT NULL
            ORDER BY name
            """)
        return try list.with(user).rows { Self.type($0) }
    }

    private static func type(_ row: Statement) -> OwnTypeRow {
        OwnTypeRow(
            name: row.string(0), kind: row.string(1), unit: row.string(2), aggregation: row.string(3),
            version: row.int64(4))
    }

    /// - Parameter isRemoved: whether the type is removed; its row stays.
    package static func save(
        _ type: OwnTypeRow, isRemoved: Bool = false, of user: String, at sequence: SequenceNumber,
        in database: Database
    ) throws {
        let write = try database.prepare("INSERT OR REPLACE INTO own_types VALUES (?, ?, ?, ?, ?, ?, ?)")
        let kind = isRemoved ? nil : type.kind
        try write.with(user, type.name, sequence.value, type.version, kind, type.unit, type.aggregation).run()
    }

    /// How types are aggregated, by name: of `users`, and of those with a change within a window.
    static func aggregations(
        _ database: Database, after: SequenceNumber, through: SequenceNumber, users: Set<String>
    ) throws -> [String: Value] {
        guard try exist(in: database) else { return [:] }
        var byUser: [String: [String: Value]] = [:]
        var changed = users
        try database.prepare("SELECT user, name, seq, kind, unit, aggregation FROM own_types").forEachRow { row in
            let (user, sequence) = (row.string(0), SequenceNumber(row.int64(2)))
            if sequence > after, sequence <= through { changed.insert(user) }
            var types = byUser[user] ?? [:]
            if !row.isNull(3) {
                types[row.string(1)] = ["aggregation": .string(row.string(5)), "unit": .string(row.string(4))]
            }
            byUser[user] = types
        }
        return byUser.filter { changed.contains($0.key) }.mapValues { .object($0) }
    }

    // MARK: Events

    /// Where an event is stored.
    package struct Place: Sendable, Equatable {
        package var id: String
        package var version: Int64
        /// The UUID of the event's sample; nil once that is deleted.
        package var uuid: SampleID?

        package init(id: String, version: Int64, uuid: SampleID?) {
            (self.id, self.version, self.uuid) = (id, version, uuid)
        }
    }

    package static func event(_ id: String, of user: String, in database: Database) throws -> Place? {
        let find = try database.prepare("SELECT id, version, uuid FROM own_events WHERE user = ? AND id = ?")
        return try find.with(user, id).firstRow { place($0) }
    }

    package static func event(with uuid: SampleID, of user: String, in database: Database) throws -> Place? {
        let find = try database.prepare("SELECT id, version, uuid FROM own_events WHERE user = ? AND uuid = ?")
        return try find.with(user, uuid.description).firstRow { place($0) }
    }

    /// Events, the latest entered first.
    /// - Parameter start: the prefix of their ids; an event with exactly this id comes before all others.
    static func events(
        of user: String, beginning start: String, limit: Int, in database: Database
    ) throws -> [Place] {
        let list = try database.prepare(
            """
            SELECT id, version, uuid FROM own_events
            WHERE user = ?1 AND substr(id, 1, length(?2)) = ?2 AND uuid IS NOT NULL
            ORDER BY id = ?2 DESC, number DESC LIMIT ?3
            """)
        return try list.with(user, start, limit).rows { place($0) }
    }

    private static func place(_ row: Statement) -> Place {
        Place(id: row.string(0), version: row.int64(1), uuid: row.isNull(2) ? nil : SampleID(row.string(2)))
    }

    package static func save(_ place: Place, of user: String, in database: Database) throws {
        let write = try database.prepare(
            """
            INSERT INTO own_events (user, id, version, uuid) VALUES (?, ?, ?, ?)
            ON CONFLICT (user, id) DO UPDATE SET version = excluded.version, uuid = excluded.uuid
            """)
        try write.with(user, place.id, place.version, place.uuid?.description).run()
    }

    /// An event with its content; nil when its sample is gone.
    package static func read(
        _ place: Place, of user: String, in store: HealthStoreReader
    ) throws -> (row: OwnEventRow, content: SampleContent)? {
        guard let uuid = place.uuid, let content = try store.entered(uuid: uuid, user: user) else { return nil }
        let metadata = content.metadata.isEmpty ? Value.null : try Value(json: Array(content.metadata.utf8))
        let row = OwnEventRow(
            id: place.id, version: place.version, type: content.type, start: content.start, end: content.end,
            value: content.value.isFinite ? content.value : nil, unit: content.unit,
            note: metadata[noteMember].string, sample: content.id.description)
        return (row, content)
    }

    /// The member of a sample's metadata that holds the note.
    package static let noteMember = "note"
}
