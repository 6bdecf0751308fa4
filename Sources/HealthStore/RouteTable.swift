import HealthModel
import JSON
import SQLite

/// The tables of the points of workouts' routes, and of which export each route comes from. A route may differ from export
/// to export; that of the newest export wins, in whatever order exports are imported. If two exports have the same date,
/// the route imported last wins.
///
/// `route_exports` records for each stored route when the newest export that contains it was made, and the piece that is
/// known to be its file. Of a path's files, only the stored one is a known piece, so any other file is read when an
/// export contains it.
final class RouteTable {
    private struct Entry {
        /// µs since 1970.
        var exported: Int64
        /// Nil for a route inside its workout, and for a file in which something was odd.
        var piece: PieceHash?
    }

    private let pieces: Pieces
    private let find: Statement
    private let write: Statement
    private let add: Statement
    private let cut: Statement

    init(in database: Database, _ pieces: Pieces) throws {
        self.pieces = pieces
        find = try database.prepare("SELECT exported, piece FROM route_exports WHERE user = ? AND path = ?")
        write = try database.prepare(
            "INSERT OR REPLACE INTO route_exports (user, path, exported, piece) VALUES (?, ?, ?, ?)")
        add = try database.prepare(
            """
            INSERT INTO routes VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (user, path, first_point) DO UPDATE SET points = excluded.points
            WHERE points <> excluded.points
            """)
        cut = try database.prepare("DELETE FROM routes WHERE user = ? AND path = ? AND first_point > ?")
    }

    /// Creates the table `route_exports`. Existing routes count as older than any export, so the next export's routes
    /// replace them. It isn't known which of the known pieces are their files, so all pieces without records are read
    /// again.
    static func begin(in database: Database) throws {
        if try database.hasTable("route_exports") { return }
        try database.execute(
            """
            CREATE TABLE route_exports (user INTEGER NOT NULL, path TEXT NOT NULL, exported INTEGER NOT NULL,
              piece BLOB, PRIMARY KEY (user, path)) WITHOUT ROWID
            """)
        try Pieces.forgetThoseWithoutRecords(in: database)
    }

    /// Stores a stretch of a route, as at `HealthStoreWriter.attachRoute`.
    func attach(_ route: WorkoutRoute, exported: Int64, user: Int) throws -> Bool {
        let known = try entry(route.path, user: user)
        if let known, known.exported > exported { return false }
        if let known, let piece = known.piece {
            // From here on, the stored route isn't that file.
            try pieces.forget(piece, user: user)
            try note(route.path, .init(exported: known.exported, piece: nil), user: user)
        }
        try add.with(user, route.path, route.firstPoint, String(decoding: route.json, as: UTF8.self)).run()
        guard route.isLast else { return true }
        try cut.with(user, route.path, route.firstPoint).run()
        try note(route.path, .init(exported: exported, piece: nil), user: user)
        return true
    }

    /// Notes that the file of the route just stored is a known piece, as at `HealthStoreWriter.endRoute`.
    func end(_ piece: PieceHash, path: String, points: Int, exported: Int64, user: Int) throws {
        guard let known = try entry(path, user: user), known.exported <= exported else { return }
        try pieces.note(piece, [], records: points, user: user)
        try note(path, .init(exported: exported, piece: piece), user: user)
    }

    /// Notes that an export contains the stored route.
    /// - Returns: false if the stored route isn't that file.
    func see(_ piece: PieceHash, path: String, exported: Int64, user: Int) throws -> Bool {
        guard let known = try entry(path, user: user), known.piece == piece else {
            try pieces.forget(piece, user: user)
            return false
        }
        if exported > known.exported { try note(path, .init(exported: exported, piece: piece), user: user) }
        return true
    }

    /// What is recorded for a route; nil if nothing is.
    private func entry(_ path: String, user: Int) throws -> Entry? {
        try find.with(user, path).firstRow { row in
            Entry(exported: row.int64(0), piece: row.pieceHash(1))
        }
    }

    private func note(_ path: String, _ entry: Entry, user: Int) throws {
        try write.with(user, path, entry.exported, entry.piece).run()
    }
}

extension WorkoutRoute {
    /// The points in columns, as they are stored: a JSON object with an array for each, null where a point has no
    /// number.
    fileprivate var json: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(count * 96 + 128)
        func column(_ name: StaticString, _ append: (inout [UInt8], Int) -> Void) {
            out.append(out.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            out.append(json: name)
            for point in 0..<count {
                out.append(point == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
                append(&out, point)
            }
            out.append(json: count == 0 ? "[]" : "]")
        }
        column("\"course\":") { $0.append(json: course[$1]) }
        column("\"elevation\":") { $0.append(json: elevation[$1]) }
        column("\"horizontalAccuracy\":") { $0.append(json: horizontalAccuracy[$1]) }
        column("\"latitude\":") { $0.append(json: latitude[$1]) }
        column("\"longitude\":") { $0.append(json: longitude[$1]) }
        column("\"speed\":") { $0.append(json: speed[$1]) }
        column("\"time\":") { $0.append(json: time[$1].microseconds) }
        column("\"verticalAccuracy\":") { $0.append(json: verticalAccuracy[$1]) }
        out.append(UInt8(ascii: "}"))
        return out
    }
}
