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
    let types: NameTable
    let units: NameTable
    let users: NameTable
    let origins: OriginTable
    let heads: HeadLedger
    let blocks: BlockTable
    let pieces: Pieces
    let rows: RowTable
    let uuids: UUIDTable
    let quarantined: QuarantineTable
    let documents: DocumentTable
    let brought: BroughtTable
    let sightings: WorkoutSightings
    let routes: RouteTable
    let names: SourceNames
    let unsettled: UnsettledTimes
    var window = RowWindow()
    /// The id of the repair in progress; nil if there is none.
    var repairing: String?

    private let sequences: any SequenceSource
    private var seenRollbacks: Int
    private var knownUser: Int?
    private(set) var sessions = ImportSessions()

    /// - Parameters:
    ///   - database: a store made by `HealthStoreSchema.create`.
    ///   - sequences: the source of each change's sequence.
    ///   - leastInBlock: if fewer new rows of a type than this arrive at a time, they are stored as rows.
    package init(database: Database, user: String, sequences: any SequenceSource, leastInBlock: Int = 64) throws {
        (self.database, self.user, self.sequences) = (database, user, sequences)
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
        routes = try RouteTable(in: database, pieces)
        names = try SourceNames(in: database)
        unsettled = try UnsettledTimes(in: database)
        heads = try HeadLedger(in: database, blocks: blocks)
        rows = try RowTable(in: database, blocks, heads, leastInBlock: leastInBlock)
        uuids = try UUIDTable(in: database)
        quarantined = try QuarantineTable(in: database, of: user)
        documents = try DocumentTable(in: database)
        seenRollbacks = database.rollbackCount
    }

    /// Whether an import or a document is in progress, in which case another writer for the same user can't take over.
    package var isInUse: Bool { documents.isReceiving || !sessions.isEmpty }

    /// The current sequence.
    var sequence: SequenceNumber { sequences.sequence }

    /// Runs one change, and writes heads when it's done.
    func change<Result>(settle: Bool = true, _ body: (_ user: Int) throws -> Result) throws -> Result {
        forgetWhatWasUndone()
        let user = try knownUser ?? users.id(self.user)
        knownUser = user
        rows.dropWaiting()
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
        documents.forget()
        seenRollbacks = database.rollbackCount
    }

    /// Ensures that the session's claims are updated whenever any session changes a row that this session has claimed.
    func join(_ session: ImportSession) throws { try sessions.join(session, rollbacks: database.rollbackCount) }

    // MARK: Changes of rows

    /// Adds a new row, under the next sequence.
    /// - Parameters:
    ///   - metadata: canonical JSON, empty if there is none; likewise the payload.
    func add(
        _ row: inout StoredRow, metadata: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, user: Int
    ) throws {
        row.sequence = nextSequence()
        row.born = row.sequence
        try rows.add(&row, metadata: metadata, payload: payload, user: user)
        heads.enter(row)
        try uuids.register(row, user: user)
    }

    /// Writes a changed row as a new version. Its metadata and payload stay as they are.
    func rewrite(_ row: inout StoredRow, was old: StoredRow, user: Int) throws {
        row.sequence = nextSequence()
        try rows.replace(old, with: &row, user: user)
        try follow(old, to: row, user: user)
    }

    /// The same as above, for a row that changes in a few columns or in none.
    @discardableResult
    func rewrite(_ old: StoredRow, user: Int, _ change: (inout StoredRow) -> Void = { _ in }) throws -> StoredRow {
        var row = old
        change(&row)
        try rewrite(&row, was: old, user: user)
        return row
    }

    /// A changed row has a new sequence: references to the old one are updated.
    func follow(_ old: StoredRow, to row: StoredRow, user: Int) throws {
        try uuids.follow(old, to: row, user: user)
        sessions.move(old.sequence, to: row.sequence)
        heads.replace(old, with: row)
    }

    /// Walks this user's rows of a window, in the order of their sequences.
    /// - Parameters:
    ///   - limit: how many rows to examine.
    ///   - wants: whether rows of a type may be wanted.
    ///   - visit: returns false to end the walk behind this row.
    /// - Returns: the sequence through which rows were examined, and whether that is the window's end.
    func walk(
        _ window: SequenceWindow, _ columns: RowWalk.Columns = .all, limit: Int, user: Int,
        wants: (_ type: Int) -> Bool = { _ in true }, _ visit: (StoredRow, WalkedTexts) throws -> Bool
    ) throws -> (reached: SequenceNumber, isWhole: Bool) {
        var (reached, scanned) = (window.after, 0)
        let isWhole = try RowWalk(columns, in: database, blocks).run(window, wants: { $0 == user && wants($1) }) {
            (reached, scanned) = ($0.row.sequence, scanned + 1)
            if $0.user == user, wants($0.row.type), try !visit($0.row, $1) { return false }
            return scanned < limit
        }
        return (isWhole ? window.through : reached, isWhole)
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
