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
        let find = try database.prepare(
            """
            SELECT deleted, uuids.seq, state FROM uuids LEFT JOIN samples ON samples.seq = uuids.seq
            WHERE uuids.user = ? AND uuids.uuid = ?
            """)
        return try find.with(user, uuid).firstRow { row in
            if row.int64(0) != 0 { return .deleted }
            if row.isNull(1) { return .free }
            // A row that isn't in the table of rows is in a block, and blocks contain no deleted rows.
            let state = row.isNull(2) ? .alive : SampleState(rawValue: UInt8(clamping: row.int64(2)))
            return switch state {
            case .absent, .replaced: .absent
            case .deleted: .deleted
            case .alive, .quarantined, nil: .taken
            }
        } ?? .free
    }

    /// The content of the sample with this UUID; nil if it doesn't exist or doesn't count. Blocks aren't searched: the
    /// caller asks for samples that were entered by hand, and those arrive one at a time.
    package func entered(uuid: SampleID, user: String) throws -> SampleContent? {
        try refresh()
        guard let user = users.ids[user] else { return nil }
        let find = try database.prepare(
            """
            SELECT samples.id, type, second, start_us, duration, value, unit, metadata FROM uuids
            JOIN samples ON samples.seq = uuids.seq WHERE uuids.user = ? AND uuids.uuid = ? AND state = 0
            """)
        return try find.with(user, uuid).firstRow { row in
            let start = row.int64(2) &* Instant.microsecondsPerSecond &+ row.int64(3)
            return SampleContent(
                id: row.sampleID(0) ?? SampleID(high: 0, low: 0), type: try types.name(row.int(1)),
                start: Instant(microseconds: start), end: Instant(microseconds: start &+ row.int64(4)),
                value: row.isNull(5) ? .nan : row.double(5), unit: units.names[row.int(6)] ?? "",
                metadata: row.string(7))
        }
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
        var found: [SampleID] = []
        try find.with(user, type, second, start.microseconds &- second &* Instant.microsecondsPerSecond).forEachRow {
            row in
            if let uuid = row.sampleID(0) { found.append(uuid) }
        }
        return found
    }
}
