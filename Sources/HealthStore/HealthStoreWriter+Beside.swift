import HealthModel
import SQLite

// Apple's ring summaries, which are stored in addition to the samples.
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
            return try summaries.reduce(0) { changed, summary in
                try upsert.with(user, summary.date, summary.payload, exported.orOldest).run()
                return changed + database.changes
            }
        }
    }
}
