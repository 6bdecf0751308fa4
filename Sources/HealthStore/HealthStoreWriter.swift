import HealthModel
import SQLite

/// Writes one user's samples to the store. Every call runs inside a transaction opened by the caller.
///
/// It belongs to the thread of its database, and only the users' writers on that thread write to the store. A call that
/// throws leaves the transaction unfinished: roll it back. The writer then forgets what it cached during the
/// transaction, and the import session has to start again.
package final class HealthStoreWriter {
    package let user: String
    let database: Database
    let statements: WriterStatements
    let types: NameTable
    let units: NameTable
    let users: NameTable
    let origins: OriginTable
    let heads: HeadLedger
    let blocks: BlockTable
    let pieces: Pieces
    let brought: BroughtTable
    let sightings: WorkoutSightings
    let routes: RouteExports
    let names: SourceNames
    let unsettled: UnsettledTimes
    var window = RowWindow()
    /// New rows that haven't been written yet; none is kept beyond its batch.
    var pending = PendingBlock()
    /// The id of the repair in progress; nil if there is none.
    var repairing: String?
    /// The document whose parts are being received; nil between documents.
    var openDocument: OpenDocument?

    /// If fewer new rows than this arrive at a time, they go into the table of rows.
    let leastInBlock: Int

    private let sequences: any SequenceSource
    private var seenRollbacks: Int
    private var knownUser: Int?
    private var sessions: [WeakSession] = []

    private struct WeakSession { weak var session: ImportSession? }

    /// - Parameters:
    ///   - database: a store made by `HealthStoreSchema.create`.
    ///   - sequences: the source of each change's sequence.
    ///   - leastInBlock: if fewer new rows of a type than this arrive at a time, they are stored as rows.
    package init(database: Database, user: String, sequences: any SequenceSource, leastInBlock: Int = 64) throws {
        self.leastInBlock = leastInBlock
        self.database = database
        self.user = user
        self.sequences = sequences
        statements = try WriterStatements(in: database)
        types = try NameTable("types", in: database) {
            HealthType.known(HealthType.base(ofStatistics: $0) ?? $0) != nil
        }
        units = try NameTable("units", in: database)
        users = try NameTable("users", in: database)
        origins = try OriginTable(in: database)
        blocks = try BlockTable(in: database)
        pieces = try Pieces(in: database)
        brought = try BroughtTable(in: database)
        sightings = try WorkoutSightings(in: database)
        routes = try RouteExports(in: database)
        names = try SourceNames(in: database)
        unsettled = try UnsettledTimes(in: database)
        heads = try HeadLedger(in: database, blocks: blocks)
        seenRollbacks = database.rollbackCount
    }

    /// Whether an import or a document is in progress, in which case another writer for the same user can't take over.
    package var isInUse: Bool { openDocument != nil || sessions.contains { $0.session != nil } }

    /// The current sequence.
    var sequence: SequenceNumber { sequences.sequence }

    /// Runs one change, and writes heads when it's done.
    func change<Result>(settle: Bool = true, _ body: (_ user: Int) throws -> Result) throws -> Result {
        forgetWhatWasUndone()
        let user = try knownUser ?? users.id(self.user)
        knownUser = user
        pending.removeAll()
        let result = try body(user)
        try blocks.dropEmptied()
        try heads.flush(user: user, settle: settle)
        return result
    }

    func nextSequence() -> SequenceNumber { sequences.nextSequence() }

    /// Whatever was cached during a transaction that was rolled back is no longer valid.
    func forgetWhatWasUndone() {
        if database.rollbackCount != seenRollbacks { forget() }
    }

    private func forget() {
        types.forget()
        units.forget()
        users.forget()
        origins.forget()
        names.forget()
        heads.forget()
        knownUser = nil
        openDocument = nil
        seenRollbacks = database.rollbackCount
    }

    /// Ensures that the session's claims are updated whenever any session changes a row that this session has claimed.
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

    /// A changed row has a new sequence: references to the old one are updated.
    func follow(_ old: StoredRow, to row: StoredRow, user: Int) throws {
        // A UUID that the row has lost mustn't lead to its old sequence, which no row has any more.
        if let uuid = old.uuid, uuid != row.uuid { try unregister(uuid, user: user, sequence: old.sequence) }
        if let uuid = row.uuid {
            try register(uuid, user: user, sequence: row.sequence, deleted: row.state == .deleted)
        }
        for entry in sessions { entry.session?.move(old.sequence, to: row.sequence) }
        heads.replace(old, with: row)
    }

    /// A row took the place of another: the sessions that have claimed the one have claimed the other.
    func moveClaims(of old: StoredRow, to row: StoredRow) {
        for entry in sessions where entry.session?.hasClaimed(old) == true { entry.session?.claim(row, child: false) }
    }

    func register(_ uuid: SampleID, user: Int, sequence: SequenceNumber?, deleted: Bool) throws {
        let register = statements.registerUUID
        register.bind(1, user)
        register.bind(2, uuid)
        if let sequence { register.bind(3, sequence.value) } else { register.bindNull(3) }
        register.bind(4, deleted ? 1 : 0)
        try register.run()
    }

    /// Forgets a UUID if the row with that sequence has it. A permanent deletion is never forgotten.
    private func unregister(_ uuid: SampleID, user: Int, sequence: SequenceNumber) throws {
        let forget = statements.forgetUUID
        forget.bind(1, user)
        forget.bind(2, uuid)
        forget.bind(3, sequence.value)
        try forget.run()
    }
}

/// Provides the sequence for each change. It comes from the file's only counter, which the store shares with everything
/// else that changes in the file.
///
/// The counter only ever increases, possibly with gaps, and is saved in the same transaction as the change.
package protocol SequenceSource: AnyObject {
    /// The latest sequence provided.
    var sequence: SequenceNumber { get }
    func nextSequence() -> SequenceNumber
}
