import SQLite

/// The writer's statements, prepared once.
final class WriterStatements {
    let rowsBySecond: Statement
    let rowByID: Statement
    let rowAtSequence: Statement
    let insert: Statement
    let update: Statement
    let metadata: Statement
    let payload: Statement
    let setMetadata: Statement
    let setPayload: Statement
    let findUUID: Statement
    let registerUUID: Statement
    let forgetUUID: Statement
    let addQuarantine: Statement
    let countQuarantined: Statement
    let renameQuarantined: Statement
    let forgetQuarantined: Statement
    let findDropped: Statement

    init(in database: Database) throws {
        let columns = StoredRow.columns
        let identity = "FROM samples INDEXED BY samples_identity WHERE user = ?1 AND type = ?2"
        rowsBySecond = try database.prepare(
            "SELECT \(columns) \(identity) AND second >= ?3 AND second <= ?4 ORDER BY second")
        rowByID = try database.prepare("SELECT \(columns) \(identity) AND second = ?3 AND id = ?4")
        rowAtSequence = try database.prepare("SELECT \(columns) FROM samples WHERE seq = ?")
        insert = try database.prepare(
            """
            INSERT INTO samples (user, type, seq, state, second, start_us, duration, value, origin, flags, id, unit, created,
              uuid, metadata, payload, born) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)
            """)
        update = try database.prepare(
            """
            UPDATE samples SET seq = ?1, state = ?2, start_us = ?3, duration = ?4, value = ?5, unit = ?6, origin = ?7, flags = ?8,
              created = ?9, id = ?10, uuid = ?11, born = CASE born WHEN 0 THEN seq ELSE born END WHERE seq = ?12
            """)
        metadata = try database.prepare("SELECT metadata FROM samples WHERE seq = ?")
        payload = try database.prepare("SELECT payload FROM samples WHERE seq = ?")
        setMetadata = try database.prepare("UPDATE samples SET metadata = ?2 WHERE seq = ?1")
        setPayload = try database.prepare("UPDATE samples SET payload = ?2 WHERE seq = ?1")
        findUUID = try database.prepare("SELECT seq, deleted FROM uuids WHERE user = ? AND uuid = ?")
        registerUUID = try database.prepare("INSERT OR REPLACE INTO uuids VALUES (?, ?, ?, ?)")
        forgetUUID = try database.prepare(
            "DELETE FROM uuids WHERE user = ? AND uuid = ? AND seq = ? AND deleted = 0")
        addQuarantine = try database.prepare(
            """
            INSERT INTO quarantine (user, content, sample, source, line, reason, raw) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (user, content) DO NOTHING
            """)
        countQuarantined = try database.prepare("UPDATE quarantine SET seen = seen + 1 WHERE user = ? AND content = ?")
        renameQuarantined = try database.prepare(
            "UPDATE quarantine SET sample = ?1, content = ?1 WHERE user = ?3 AND sample = ?2")
        forgetQuarantined = try database.prepare(
            "DELETE FROM quarantine WHERE user = ? AND content = ? AND dropped = 0")
        findDropped = try database.prepare(
            "SELECT 1 FROM quarantine WHERE user = ? AND content = ? AND dropped = 1")
    }
}
