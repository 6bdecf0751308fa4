import HealthModel
import SQLite

// What is stored in addition to the samples: Apple's ring summaries and workout routes.
extension HealthStoreWriter {
    /// Stores Apple's own daily figures. A day's figures grow until it is over, so the figures of the newest export
    /// win, in whatever order exports are imported. Of two exports with the same date, the same one always wins.
    /// - Parameter exported: when the export was made; nil counts as older than any other.
    /// - Returns: how many rows were written.
    @discardableResult
    package func upsertActivitySummaries(_ summaries: [ActivitySummaryRecord], exported: Instant?) throws -> Int {
        for summary in summaries where LocalDay(summary.date) == nil { throw HealthStoreError.badDate(summary.date) }
        return try change { user in
            let upsert = try database.prepare(
                """
                INSERT INTO activity_summaries(user, date, payload, exported) VALUES (?, ?, ?, ?)
                ON CONFLICT (user, date) DO UPDATE SET payload = excluded.payload, exported = excluded.exported
                WHERE (excluded.exported, excluded.payload) > (exported, payload)
                """)
            var changed = 0
            for summary in summaries {
                upsert.bind(1, user)
                upsert.bind(2, summary.date)
                upsert.bind(3, summary.payload)
                upsert.bind(4, (exported ?? .distantPast).microseconds)
                try upsert.run()
                changed += database.changes
            }
            return changed
        }
    }

    /// Stores a stretch of a workout's route under the path that the workout's payload gives.
    /// - Parameters:
    ///   - path: the path as in the payload: "/workout-routes/route_2025-03-30_8.15am.gpx".
    ///   - firstPoint: how many points of the route come before these.
    ///   - points: The points as JSON.
    ///   - isLast: whether the route ends here; if so, any later points from an earlier version are deleted.
    /// - Returns: whether the stretch is new or has changed.
    @discardableResult
    package func attachRoute(path: String, firstPoint: Int, points: [UInt8], isLast: Bool) throws -> Bool {
        try change { user in
            let upsert = try database.prepare(
                """
                INSERT INTO routes VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (user, path, first_point) DO UPDATE SET points = excluded.points
                WHERE points <> excluded.points
                """)
            upsert.bind(1, user)
            upsert.bind(2, path)
            upsert.bind(3, firstPoint)
            points.withUnsafeBytes { upsert.bindText(4, $0) }
            try upsert.run()
            var isChanged = database.changes > 0
            guard isLast else { return isChanged }
            let cut = try database.prepare("DELETE FROM routes WHERE user = ? AND path = ? AND first_point > ?")
            cut.bind(1, user)
            cut.bind(2, path)
            cut.bind(3, firstPoint)
            try cut.run()
            isChanged = isChanged || database.changes > 0
            return isChanged
        }
    }
}
