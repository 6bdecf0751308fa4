import HealthModel
import SQLite

/// Answers questions about the store, beside its writer: on a connection and a thread of its own.
///
/// Run each call, or all calls that must see the same moment, inside `database.readTransaction`.
public final class HealthStoreReader {
    let database: Database
    let types: Names
    let units: Names
    let users: Names
    private(set) var origins: [Int: Origin] = [:]
    private var newestOrigin = 0
    private let newOrigins: Statement
    private let readHead: Statement
    var walks: [Bool: Statement] = [:]
    var slices: [SliceCursor.Key: [Statement]] = [:]

    /// Names by number; numbers only ever rise, so only new ones are read.
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
            query.bind(1, newest)
            try query.forEachRow { row in
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

    /// - Parameter database: a store; read-only where the writer has another connection.
    public init(database: Database) throws {
        self.database = database
        types = try Names("types", in: database)
        units = try Names("units", in: database)
        users = try Names("users", in: database)
        newOrigins = try database.prepare("SELECT id, source, version, product, device FROM origins WHERE id > ?")
        readHead = try database.prepare("SELECT value FROM store_meta WHERE key = 'sequence'")
    }

    /// The newest sequence of the store; nil while it has none.
    public func head() throws -> Int64? { try readHead.firstRow { $0.int64(0) } }

    func refresh() throws {
        try types.refresh()
        try units.refresh()
        try users.refresh()
        newOrigins.bind(1, newestOrigin)
        try newOrigins.forEachRow { row in
            let id = row.int(0)
            origins[id] = Origin(
                sourceName: row.string(1), sourceVersion: row.string(2), productType: row.string(3),
                device: row.string(4))
            newestOrigin = max(newestOrigin, id)
        }
    }

    func origin(_ id: Int) throws -> Origin {
        guard let origin = origins[id] else { throw HealthStoreError.danglingName(table: "origins", id: id) }
        return origin
    }
}
