import HealthModel

// See `RouteTable` for which of several routes counts.
extension HealthStoreWriter {
    /// Stores a stretch of a workout's route under the path that the workout's payload gives, unless the stored route
    /// is from a newer export. A route counts as stored from this export once its last stretch is.
    /// With its last stretch, any later points from an earlier version are deleted.
    /// - Parameter exported: when the export was made; nil counts as older than any other.
    /// - Returns: false if the stored route is from a newer export, and stays as it is.
    package func attachRoute(_ route: WorkoutRoute, exported: Instant?) throws -> Bool {
        try change { try routes.attach(route, exported: exported.orOldest, user: $0) }
    }

    /// Notes that the file of the route just stored is a known piece, and needn't be read again. If the stored route is
    /// from a newer export, nothing is noted.
    /// - Parameter points: how many points the file has.
    package func endRoute(_ piece: PieceHash, path: String, points: Int, exported: Instant?) throws {
        try change { try routes.end(piece, path: path, points: points, exported: exported.orOldest, user: $0) }
    }

    /// Notes that an export contains the stored route.
    /// - Parameter piece: the route's file, as a known piece.
    /// - Returns: false if the stored route isn't that file; it must be read after all.
    package func seeRoute(_ piece: PieceHash, path: String, exported: Instant?) throws -> Bool {
        try change { try routes.see(piece, path: path, exported: exported.orOldest, user: $0) }
    }
}

extension Instant? {
    /// When an export was made, in µs since 1970; an export that doesn't say counts as older than any other.
    var orOldest: Int64 { (self ?? .distantPast).microseconds }
}
