import HealthModel
import SQLite

extension SampleTable {
    /// In schema 3 the table had the name that the view has now, and no column for starts that ids don't contain.
    static func giveWayToView(in database: Database) throws {
        try database.execute(
            "ALTER TABLE samples RENAME TO sample_rows; ALTER TABLE sample_rows ADD COLUMN start INTEGER")
    }

    /// Sets aside the samples of a database with schema 1 or 2, which repeated everything in every row, until
    /// `takeSetAside`.
    static func setAside(in database: Database) throws {
        try database.execute(
            "ALTER TABLE samples RENAME TO samples_before; DROP INDEX IF EXISTS samples_manual")
    }

    /// Moves the samples set aside into the current table, row by row in key order, without holding them in memory.
    ///
    /// The file grows by the size of the new table; the old one's space is reused later.
    static func takeSetAside(in database: Database) throws {
        let (texts, kinds) = (try InternedTexts(database), try SampleKinds(database))
        let (repeated, batches) = (RepeatedTexts(texts), try SyncBatches(database))
        let insert = try database.prepare(
            """
            INSERT INTO sample_rows(user, id, version, deleted, kind, shift, duration, value, batch, metadata, payload, uuid,
                moment, start) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
            """)
        let rows = try database.prepare(
            """
            SELECT user, id, version, deleted, type, start, "end", value, unit, source, source_type, uuid, device, synced,
                metadata, payload, typeof(id) = 'blob', typeof(uuid) = 'blob'
            FROM samples_before ORDER BY user, id
            """)
        var moment: [UInt8] = []
        try rows.forEachRow { row in
            let (isDeleted, isManual) = (row.int(3) != 0, row.int(10) != 0)
            var kind = SampleKind(
                type: row.int64(4), unit: row.int64(8), source: row.int64(9), isManual: isManual)
            if isDeleted { kind = kind.bare }
            let id = row.elementID(1, isUUID: 16)
            insert.bind(1, row.int64(0))
            id.bind(to: insert, 2)
            insert.bind(3, row.int64(2))
            insert.bind(4, isDeleted ? 1 : 0)
            insert.bind(5, try kinds.number(of: kind))
            if !row.isNull(5) {
                let times = StoredTimes(start: row.int64(5), end: row.int64(6), id: id)
                insert.bind(6, times.shift)
                insert.bind(7, times.duration)
                if isManual || !times.areImplied(by: id) { insert.bind(14, row.int64(5)) }
            }
            if !row.isNull(7) { insert.bind(8, row.double(7)) }
            insert.bind(9, try batches.number(device: row.int64(12), syncedAt: row.int64(13)))
            if !row.isNull(14) {
                try row.withBytes(14) { metadata in
                    switch try repeated.place(of: metadata) {
                    case .row: insert.bindText(10, metadata)
                    case .number(let number): insert.bind(10, number)
                    }
                }
            }
            if !row.isNull(15) { row.withBytes(15) { insert.bindText(11, $0) } }
            if !row.isNull(11) { row.elementID(11, isUUID: 17).bind(to: insert, 12) }
            if isManual, !isDeleted {
                moment.removeAll(keepingCapacity: true)
                append(momentOf: kind.type, start: row.int64(5), to: &moment)
                moment.withUnsafeBytes { insert.bindText(13, $0) }
            }
            try insert.run()
        }
        try database.execute("DROP TABLE samples_before")
    }

    /// Stores the start for rows of a schema 3 database whose ids don't contain it.
    static func fillStarts(in database: Database) throws {
        let next = try database.prepare(
            """
            SELECT user, id, shift, duration, typeof(id) = 'blob' FROM sample_rows
            WHERE (user, id) > (?1, ?2) AND shift IS NOT NULL AND (moment IS NOT NULL OR typeof(id) = 'text'
                OR shift < 0 OR shift >= \(Instant.microsecondsPerSecond) OR \(isLong)) ORDER BY user, id LIMIT 1
            """)
        let write = try database.prepare("UPDATE sample_rows SET start = ?3 WHERE user = ?1 AND id = ?2")
        var at: (user: Int64, id: ElementID, start: Int64)?
        repeat {
            at = try next.with(at?.user ?? .min, at?.id ?? .text("")).firstRow { row in
                let id = row.elementID(1, isUUID: 4)
                return (row.int64(0), id, StoredTimes(shift: row.int64(2), duration: row.int64(3)).times(id: id).start)
            }
            if let at { try write.with(at.user, at.id, at.start).run() }
        } while at != nil
    }
}
