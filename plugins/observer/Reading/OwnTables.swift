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
        try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'own_types'").firstRow { _ in true } ?? false
    }

    // MARK: Types

    /// A type with its version, or only the version of one that was removed.
    package static func type(
        _ name: String, of user: String, in database: Database
    ) throws -> (row: OwnTypeRow?, version: Int64)? {
        let find = try database.prepare(
            "SELECT name, kind, unit, aggregation, version FROM own_types WHERE user = ? AND name = ?")
        find.bind(1, user)
        find.bind(2, name)
        return try find.firstRow { ($0.isNull(1) ? nil : Self.type($0), $0.int64(4)) }
    }

    package static func types(of user: String, in database: Database) throws -> [OwnTypeRow] {
        let list = try database.prepare(
            """
            SELECT name, kind, unit, aggregation, version FROM own_types WHERE user = ? AND kind IS NOT NULL
            ORDER BY name
            """)
        list.bind(1, user)
        var types: [OwnTypeRow] = []
        try list.forEachRow { types.append(Self.type($0)) }
        return types
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
        write.bind(1, user)
        write.bind(2, type.name)
        write.bind(3, sequence.value)
        write.bind(4, type.version)
        if isRemoved { write.bindNull(5) } else { write.bind(5, type.kind) }
        write.bind(6, type.unit)
        write.bind(7, type.aggregation)
        try write.run()
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
        find.bind(1, user)
        find.bind(2, id)
        return try find.firstRow { place($0) }
    }

    package static func event(with uuid: SampleID, of user: String, in database: Database) throws -> Place? {
        let find = try database.prepare("SELECT id, version, uuid FROM own_events WHERE user = ? AND uuid = ?")
        find.bind(1, user)
        find.bind(2, uuid.description)
        return try find.firstRow { place($0) }
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
        list.bind(1, user)
        list.bind(2, start)
        list.bind(3, limit)
        var places: [Place] = []
        try list.forEachRow { places.append(place($0)) }
        return places
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
        write.bind(1, user)
        write.bind(2, place.id)
        write.bind(3, place.version)
        if let uuid = place.uuid { write.bind(4, uuid.description) } else { write.bindNull(4) }
        try write.run()
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
