import HealthModel
import SQLite

/// Puts one user's samples into the store. Every call runs inside a transaction that the caller has opened.
///
/// Belongs to the thread of its database, the store's only writer. A call that throws leaves the transaction half done: roll it
/// back. What the writer had cached of it is then forgotten by itself; the import session has to start again.
package final class HealthStoreWriter {
    package let user: String
    let database: Database
    let statements: WriterStatements
    let types: NameTable
    let units: NameTable
    let users: NameTable
    let origins: OriginTable
    let heads: HeadLedger
    var window = RowWindow()

    private let sequences: any SequenceSource
    private var seenRollbacks: Int
    private var knownUser: Int?
    private var sessions: [WeakSession] = []

    private struct WeakSession { weak var session: ImportSession? }

    /// - Parameters:
    ///   - database: a store made by `HealthStoreSchema.create`.
    ///   - sequences: where each change gets its sequence from.
    package init(database: Database, user: String, sequences: any SequenceSource) throws {
        self.database = database
        self.user = user
        self.sequences = sequences
        statements = try WriterStatements(in: database)
        types = try NameTable("types", in: database) { HealthType.known($0) != nil }
        units = try NameTable("units", in: database)
        users = try NameTable("users", in: database)
        origins = try OriginTable(in: database)
        heads = try HeadLedger(in: database)
        seenRollbacks = database.rollbackCount
    }

    /// Where the sequence stands.
    var sequence: SequenceNumber { sequences.sequence }

    /// Runs one change, and writes heads when it's done.
    func change<Result>(settle: Bool = true, _ body: (_ user: Int) throws -> Result) throws -> Result {
        forgetWhatWasUndone()
        let user = try knownUser ?? users.id(self.user)
        knownUser = user
        let result = try body(user)
        try heads.flush(user: user, settle: settle)
        return result
    }

    func nextSequence() -> SequenceNumber { sequences.nextSequence() }

    /// What was cached of a transaction that was rolled back isn't so.
    func forgetWhatWasUndone() {
        if database.rollbackCount != seenRollbacks { forget() }
    }

    private func forget() {
        types.forget()
        units.forget()
        users.forget()
        origins.forget()
        heads.forget()
        knownUser = nil
        seenRollbacks = database.rollbackCount
    }

    /// Makes sure that the session's claims follow the rows that any session changes.
    func join(_ session: ImportSession) throws {
        if let mark = session.rollbackCount {
            guard mark == database.rollbackCount else { throw HealthStoreError.sessionUndone(source: session.source) }
        } else {
            session.rollbackCount = database.rollbackCount
        }
        if !sessions.contains(where: { $0.session === session }) {
            sessions.removeAll { $0.session == nil }
            sessions.append(WeakSession(session: session))
        }
    }

    private func moveClaims(_ old: SequenceNumber, to new: SequenceNumber) {
        for entry in sessions { entry.session?.move(old, to: new) }
    }

    /// Writes a changed row as a new version. Its texts stay.
    func rewrite(_ row: inout StoredRow, was old: StoredRow, user: Int) throws {
        row.sequence = nextSequence()
        let update = statements.update
        update.bind(1, row.sequence.value)
        update.bind(2, Int64(row.state.rawValue))
        update.bind(3, row.startRemainder)
        update.bind(4, row.duration)
        update.bindNumber(5, row.value)
        update.bind(6, row.unit)
        update.bind(7, row.origin)
        update.bind(8, Int64(row.flags))
        update.bind(9, row.created)
        update.bind(10, row.id)
        update.bind(11, row.uuid)
        update.bind(12, old.sequence.value)
        try update.run()
        if let uuid = row.uuid {
            try register(uuid, user: user, sequence: row.sequence, deleted: row.state == .deleted)
        }
        moveClaims(old.sequence, to: row.sequence)
        heads.replace(old, with: row)
    }

    func register(_ uuid: SampleID, user: Int, sequence: SequenceNumber?, deleted: Bool) throws {
        let register = statements.registerUUID
        register.bind(1, user)
        register.bind(2, uuid)
        if let sequence { register.bind(3, sequence.value) } else { register.bindNull(3) }
        register.bind(4, deleted ? 1 : 0)
        try register.run()
    }

    /// The row of that sequence, with its text left in the database.
    func row(at sequence: SequenceNumber) throws -> StoredRow? {
        statements.rowAtSequence.bind(1, sequence.value)
        return try statements.rowAtSequence.firstRow { StoredRow($0) }
    }

    func row(user: Int, type: Int, second: Int64, id: SampleID) throws -> StoredRow? {
        let query = statements.rowByID
        query.bind(1, user)
        query.bind(2, type)
        query.bind(3, second)
        query.bind(4, id)
        return try query.firstRow { StoredRow($0) }
    }
}
