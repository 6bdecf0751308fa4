import HealthModel
import SQLite

/// What a sample consists of.
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
}

extension HealthStoreReader {
    /// The content of a sample that was entered by hand and isn't deleted; nil when there is none with that UUID. Such
    /// samples come one at a time, so none is in a block.
    package func entered(uuid: SampleID, user: String) throws -> SampleContent? {
        try refresh()
        guard let user = users.ids[user] else { return nil }
        let find = try database.prepare(
            """
            SELECT samples.id, type, second, start_us, duration, value, unit, metadata FROM uuids
            JOIN samples ON samples.seq = uuids.seq WHERE uuids.user = ? AND uuids.uuid = ? AND state = 0
            """)
        find.bind(1, user)
        find.bind(2, uuid)
        return try find.firstRow { row in
            let start = row.int64(2) &* Instant.microsecondsPerSecond &+ row.int64(3)
            return SampleContent(
                id: row.sampleID(0) ?? SampleID(high: 0, low: 0), type: try types.name(row.int(1)),
                start: Instant(microseconds: start), end: Instant(microseconds: start &+ row.int64(4)),
                value: row.isNull(5) ? .nan : row.double(5), unit: units.names[row.int(6)] ?? "",
                metadata: row.string(7))
        }
    }

    /// The UUIDs of the samples of a type that were entered by hand for that instant and aren't deleted.
    package func entered(user: String, type: String, start: Instant) throws -> [SampleID] {
        try refresh()
        guard let user = users.ids[user], let type = types.ids[type] else { return [] }
        let find = try database.prepare(
            """
            SELECT uuid FROM samples WHERE user = ? AND type = ? AND second = ? AND start_us = ? AND state = 0
              AND flags & \(RecordFlags.manual.rawValue) != 0 AND uuid IS NOT NULL
            """)
        let second = start.flooredSecond
        find.bind(1, user)
        find.bind(2, type)
        find.bind(3, second)
        find.bind(4, start.microseconds &- second &* Instant.microsecondsPerSecond)
        var found: [SampleID] = []
        try find.forEachRow { row in
            if let uuid = row.sampleID(0) { found.append(uuid) }
        }
        return found
    }
}
