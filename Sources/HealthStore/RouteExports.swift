import HealthModel
import SQLite

/// The table `route_exports`, which records for each stored route when the newest export that contains it was made, and
/// the piece that is known to be its file. Of a path's files, only the stored one is a known piece, so any other file
/// is read when an export contains it.
final class RouteExports {
    struct Entry: Equatable {
        /// µs since 1970.
        var exported: Int64
        /// Nil for a route inside its workout, and for a file in which something was odd.
        var piece: PieceHash?
    }

    private let find: Statement
    private let write: Statement

    init(in database: Database) throws {
        find = try database.prepare("SELECT exported, piece FROM route_exports WHERE user = ? AND path = ?")
        write = try database.prepare(
            "INSERT OR REPLACE INTO route_exports (user, path, exported, piece) VALUES (?, ?, ?, ?)")
    }

    /// Creates the table. Existing routes count as older than any export, so the next export's routes replace them. It
    /// isn't known which of the known pieces are their files, so all pieces without records are read again.
    static func begin(in database: Database) throws {
        let exists = try database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'route_exports'").firstRow { _ in
            true
        }
        if exists == true { return }
        try database.execute(
            """
            CREATE TABLE route_exports (user INTEGER NOT NULL, path TEXT NOT NULL, exported INTEGER NOT NULL,
              piece BLOB, PRIMARY KEY (user, path)) WITHOUT ROWID
            """)
        try Pieces.forgetThoseWithoutRecords(in: database)
    }

    /// What is recorded for a route; nil if nothing is.
    func entry(_ path: String, user: Int) throws -> Entry? {
        find.bind(1, user)
        find.bind(2, path)
        return try find.firstRow { row in
            Entry(exported: row.int64(0), piece: row.sampleID(1).map { PieceHash(high: $0.high, low: $0.low) })
        }
    }

    func note(_ path: String, _ entry: Entry, user: Int) throws {
        write.bind(1, user)
        write.bind(2, path)
        write.bind(3, entry.exported)
        write.bind(4, entry.piece.map { SampleID(high: $0.high, low: $0.low) })
        try write.run()
    }
}
