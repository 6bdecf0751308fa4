import HealthModel
import JSON
import SQLite

// The points of workouts' routes. A route may differ from export to export; that of the newest export wins, in whatever
// order exports are imported. If two exports have the same date, the route imported last wins.
extension HealthStoreWriter {
    /// Stores a stretch of a workout's route under the path that the workout's payload gives, unless the stored route
    /// is from a newer export. A route counts as stored from this export once its last stretch is.
    /// With its last stretch, any later points from an earlier version are deleted.
    /// - Parameter exported: when the export was made; nil counts as older than any other.
    /// - Returns: false if the stored route is from a newer export, and stays as it is.
    package func attachRoute(_ route: WorkoutRoute, exported: Instant?) throws -> Bool {
        let path = route.path
        return try change { user in
            let exported = (exported ?? .distantPast).microseconds
            let known = try routes.entry(path, user: user)
            if let known, known.exported > exported { return false }
            if let known, let piece = known.piece {
                // From here on, the stored route isn't that file.
                try pieces.forget(piece, user: user)
                try routes.note(path, .init(exported: known.exported, piece: nil), user: user)
            }
            let upsert = try database.prepare(
                """
                INSERT INTO routes VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (user, path, first_point) DO UPDATE SET points = excluded.points
                WHERE points <> excluded.points
                """)
            upsert.bind(1, user)
            upsert.bind(2, path)
            upsert.bind(3, route.firstPoint)
            route.json.withUnsafeBytes { upsert.bindText(4, $0) }
            try upsert.run()
            guard route.isLast else { return true }
            let cut = try database.prepare("DELETE FROM routes WHERE user = ? AND path = ? AND first_point > ?")
            cut.bind(1, user)
            cut.bind(2, path)
            cut.bind(3, route.firstPoint)
            try cut.run()
            try routes.note(path, .init(exported: exported, piece: nil), user: user)
            return true
        }
    }

    /// Notes that the file of the route just stored is a known piece, and needn't be read again. If the stored route is
    /// from a newer export, nothing is noted.
    /// - Parameter points: how many points the file has.
    package func endRoute(_ piece: PieceHash, path: String, points: Int, exported: Instant?) throws {
        try change { user in
            let exported = (exported ?? .distantPast).microseconds
            guard let known = try routes.entry(path, user: user), known.exported <= exported else { return }
            try pieces.note(piece, [], records: points, user: user)
            try routes.note(path, .init(exported: exported, piece: piece), user: user)
        }
    }

    /// Notes that an export contains the stored route.
    /// - Parameter piece: the route's file, as a known piece.
    /// - Returns: false if the stored route isn't that file; it must be read after all.
    package func seeRoute(_ piece: PieceHash, path: String, exported: Instant?) throws -> Bool {
        try change { user in
            let exported = (exported ?? .distantPast).microseconds
            guard let known = try routes.entry(path, user: user), known.piece == piece else {
                try pieces.forget(piece, user: user)
                return false
            }
            if exported > known.exported {
                try routes.note(path, .init(exported: exported, piece: piece), user: user)
            }
            return true
        }
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
