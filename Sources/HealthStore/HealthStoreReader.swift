import HealthModel
import SQLite

/// Answers questions about the store alongside its writer, on a connection and a thread of its own.
///
/// Run each call inside `database.readTransaction`; calls that must see the same state have to share one transaction.
package final class HealthStoreReader {
    let database: Database
    let blocks: BlockTable
    let lookup: RowLookup
    let uuids: UUIDTable
    let types: Names
    let units: Names
    let users: Names
    private var origins: [Int: Origin] = [:]
    private var originBytes = 0
    private let readOrigin: Statement
    /// The maximum size, in bytes, of origins kept in memory, because hostile input can have a new origin in every
    /// record.
    private static let originLimit = 4 << 20
    private let readHead: Statement
    /// The types for which a user has samples that aren't deleted, with each type's reach.
    let liveTypes: Statement
    var walks: [Bool: RowWalk] = [:]
    /// Reads which names belong to one source; nil until first needed.
    var links: Statement?
    var slices: [SliceCursor.Key: [Statement]] = [:]

    /// Names by number. Numbers only ever increase, so only new names are read.
    final class Names {
        let table: String
        private(set) var names: [Int: String] = [:]
        private(set) var ids: [String: Int] = [:]
        private(set) var newest = 0
        private let query: Statement

        init(_ table: String, in database: Database) throws {
            self.table = table
            query = try database.prepare("SELECT id, name FROM \(table) WHERE id > ?")
        }

        func refresh() throws {
            try query.with(newest).forEachRow { row in
                let id = row.int(0)
                let name = row.string(1)
                names[id] = name
                ids[name] = id
                newest = max(newest, id)
            }
        }

        func name(_ id: Int) throws -> String {
            guard let name = names[id] else { throw HealthStoreError.danglingName(table: table, id: id) }
            return name
        }
    }

    /// - Parameter database: a store, opened read-only if the writer has another connection.
    package init(database: Database) throws {
        self.database = database
        blocks = try BlockTable(in: database)
        lookup = try RowLookup(in: database, blocks)
        uuids = try UUIDTable(in: database)
        types = try Names("types", in: database)
        units = try Names("units", in: database)
        users = try Names("users", in: database)
        readOrigin = try database.prepare("SELECT source, version, product, device FROM origins WHERE id = ?")
        liveTypes = try database.prepare(
            "SELECT type, reach FROM heads WHERE user = ? AND alive > 0 ORDER BY type")
        readHead = try database.prepare("SELECT max(seq) FROM samples")
    }

    /// The sequence of the latest change to a sample; `.beginning` if there are no samples.
    package func head() throws -> SequenceNumber {
        let row = try readHead.firstRow { $0.int64(0) } ?? 0
        return try SequenceNumber(max(row, blocks.newest() ?? 0))
    }

    func refresh() throws {
        try types.refresh()
        try units.refresh()
        try users.refresh()
    }

    func origin(_ id: Int) throws -> Origin {
        if let origin = origins[id] { return origin }
        let found = try readOrigin.with(id).firstRow {
            Origin(
                sourceName: $0.string(0), sourceVersion: $0.string(1), productType: $0.string(2), device: $0.string(3))
        }
        guard let origin = found else { throw HealthStoreError.danglingName(table: "origins", id: id) }
        if originBytes > Self.originLimit {
            origins.removeAll()
            originBytes = 0
        }
        origins[id] = origin
        originBytes += origin.byteCount
        return origin
    }
}
