import HealthModel
import SQLite

/// The contents of a sample.
package struct SampleContent: Sendable, Equatable {
    package var id: SampleID
    package var type: String
    package var start: Instant
    package var end: Instant
    /// NaN where there is no number.
    package var value: Double
    package var unit: String
    /// JSON; empty if there is none.
    package var metadata: String

    /// HealthKit's sync version, from the metadata; 0 if there is none.
    package var syncVersion: Int64 { Array(metadata.utf8).withUnsafeBytes(RecordClaim.syncVersion) }
}

/// What a HealthKit UUID refers to.
package enum UUIDStanding: Sendable, Equatable {
    /// The store has never had a sample with this UUID.
    case free
    /// A sample that isn't deleted, whether in quarantine or not.
    case taken
    /// A sample that was taken back, or is no longer in the store it came from; it may come again.
    case absent
    /// A sample that was deleted permanently, or will be if it arrives.
    case deleted
}

extension HealthStoreReader {
    /// What a UUID refers to among a user's samples.
    package func standing(of uuid: SampleID, user: String) throws -> UUIDStanding {
        try refresh()
        guard let user = users.ids[user] else { return .free }
        guard let entry = try uuids.entry(uuid, user: user) else { return .free }
        if entry.isDeleted { return .deleted }
        guard let sequence = entry.sequence else { return .free }
        return switch try lookup.row(at: sequence)?.state {
        case .absent, .replaced: .absent
        case .deleted: .deleted
        case .alive, .quarantined, nil: .taken
        }
    }

    /// The content of the sample with this UUID; nil if it doesn't exist or doesn't count. Blocks aren't searched: the
    /// caller asks for samples that were entered by hand, and those arrive one at a time.
    package func entered(uuid: SampleID, user: String) throws -> SampleContent? {
        try refresh()
        let find = try database.prepare("SELECT metadata FROM samples WHERE seq = ?")
        guard let user = users.ids[user], let row = try row(uuid: uuid, user: user), row.state == .alive,
            let metadata = try find.with(row.sequence.value).firstRow({ $0.string(0) })
        else { return nil }
        return SampleContent(
            id: row.id, type: try types.name(row.type), start: Instant(microseconds: row.start),
            end: Instant(microseconds: row.end), value: row.value, unit: units.names[row.unit] ?? "",
            metadata: metadata)
    }

    /// The UUIDs of the samples of a type that were entered by hand for the given instant and aren't deleted.
    package func entered(user: String, type: String, start: Instant) throws -> [SampleID] {
        try refresh()
        guard let user = users.ids[user], let type = types.ids[type] else { return [] }
        let find = try database.prepare(
            """
            SELECT uuid FROM samples WHERE user = ? AND type = ? AND second = ? AND start_us = ? AND state = 0
              AND flags & \(RecordFlags.manual.rawValue) != 0 AND uuid IS NOT NULL
            """)
        let second = start.flooredSecond
        return try find.with(user, type, second, start.microseconds &- second &* Instant.microsecondsPerSecond)
            .rows { $0.sampleID(0) }.compactMap { $0 }
    }
}
