import HealthModel
import SQLite

/// What became of a page received from another store.
package struct FollowCounts: Sendable, Equatable {
    /// Samples that are new, have different content now, or were deleted.
    package var changed = 0
    /// Samples that are unchanged, and deletions of samples that this store doesn't have or has deleted already.
    package var known = 0
    /// Samples that this store didn't take, because they are deleted here for good or were kept apart.
    package var refused = 0
    /// How many entries the quarantine has gained; negative if it has shrunk.
    package var quarantined = 0
    /// HealthKit UUIDs of samples that people have entered and whose content is different now.
    package var revised: [SampleID] = []

    package init() {}
}

// See `FollowedRows`.
extension HealthStoreWriter {
    /// Takes in a page of another store's changes.
    ///
    /// A sample that is deleted there disappears here, and comes back if it comes back there. A sample that was deleted
    /// here by id or HealthKit UUID stays deleted. A sample that can't be true here, or has names for which there is no
    /// room, is kept apart in quarantine, and its earlier version here no longer counts.
    /// - Parameters:
    ///   - page: a page with all columns, as returned by `HealthStoreReader.anchored`.
    ///   - source: the name used in the quarantine.
    ///   - plausibility: applied to each row that is new, changed or restored.
    /// - Throws: `HealthStoreError`, `SQLiteError`; in either case, roll the transaction back.
    package func follow(
        _ page: SamplePage, source: String, plausibility: PlausibilityRule
    ) throws -> FollowCounts {
        guard page.isEmpty || !page.unit.isEmpty else { throw HealthStoreError.malformedBatch("no units of samples") }
        return try change { user in
            var (newTypes, newUnits): (Set<String>, Set<String>) = ([], [])
            let strange = RefusedNames(
                types: try types.refused(page.types, besides: &newTypes),
                units: try units.refused(page.units, besides: &newUnits))
            let mayBeKeptApart = try quarantined.mayHoldText(from: source, user: user)
            let uuids = Set(page.healthKitUUID.compactMap { $0 })
            var counts = FollowCounts()
            for (number, numbers) in page.rowsByTypeAndTime() {
                let name = page.types[number]
                let isStrange = strange.types.contains(name)
                var guest = FollowedRows(
                    writer: self, page: page, uuids: uuids, type: isStrange ? BatchIngest.unknown : try types.id(name),
                    isStrange: isStrange,
                    strangeUnits: strange.units, user: user, source: source, mayBeKeptApart: mayBeKeptApart,
                    rule: plausibility(name), counts: counts)
                // Deletions come first, so that the rows that count are consecutive and fit into blocks.
                for row in numbers where page.flags[row].contains(.deleted) { try guest.delete(row) }
                for row in numbers where !page.flags[row].contains(.deleted) { try guest.take(row) }
                try rows.flush(user: user)
                counts = guest.counts
            }
            return counts
        }
    }
}
