import Glibc
import HTTP
import HealthModel
import HealthViews
import Protocol
import SQLite

/// A database in one file, used by one backend: its statements, and what they share.
final class SQLiteStorage: BackendStorage {
    private let database: Database
    private let texts: InternedTexts
    private let writer: SyncWriter
    private let queries: BackendQueries
    private let identity: BackendIdentity
    private let audit: Bool
    private let log: ChangesLog

    // A type's samples, collected over years, are scattered across the whole table. Pages touched by one request should
    // stay in memory until it is committed; pages touched by several should be written to the file once; and writing
    // should take few calls. The log takes at most 64 MiB, plus what one request adds.
    private static let cacheKibibytes = 8192
    private static let pageBytes = 16 << 10
    private static let checkpointPages = 4000

    /// Opens or creates the database; a missing folder is created with mode 0700, the file with 0600.
    /// - Parameters:
    ///   - views: the views for querying the file.
    ///   - audit: whether to count every acceptance of an (id, version) separately.
    ///   - changesKept: how many of the latest changes of each user's list are kept.
    /// - Throws: `SQLiteError`, `BackendError`.
    init(path: String, views: HealthViews, audit: Bool, changesKept: Int64) throws {
        try Self.prepareFile(path)
        database = try Database(
            path: path, cacheKibibytes: Self.cacheKibibytes, checkpointPages: Self.checkpointPages,
            pageBytes: Self.pageBytes)
        try BackendSchema.create(in: database, generation: BackendIdentity.nonce())
        try BackendViews.create(views, in: database)
        identity = try BackendIdentity(database)
        texts = try InternedTexts(database)
        let unnamed = try BackendSchema.meta("unnamed", in: database)
        let kinds = try SampleKinds(database)
        log = ChangesLog(database, kept: changesKept)
        writer = try SyncWriter(
            database, texts: texts, kinds: kinds, identity: identity, log: log, unnamed: unnamed, audit: audit)
        queries = try BackendQueries(database, texts: texts, kinds: kinds, unnamed: unnamed)
        self.audit = audit
    }

    var isInPlace: Bool { !database.hasMoved }

    // No other process writes.
    func reading<Answer>(_ body: (BackendState) throws -> Answer) throws -> Answer { try body(identity.state) }

    func beginAgain(unlessReached seen: SeenBackend) throws -> Int64? {
        let held = identity.state.sequence
        return try identity.beginAgain(unlessReached: seen) ? held : nil
    }

    func write(_ envelope: SyncEnvelope, metric: SyncMetric, now: Instant) throws -> (SyncOutcome, BackendState) {
        (try writer.write(envelope, metric: metric, now: now), identity.state)
    }

    func write(_ delivery: SampleDelivery, now: Instant) throws -> (SyncOutcome, BackendState) {
        (try writer.write(delivery, now: now), identity.state)
    }

    func samples(_ question: Question) throws -> HTTPResponse { try queries.samples(question) }

    func documents(_ kind: DocumentKind, _ question: Question) throws -> HTTPResponse {
        try queries.documents(kind, question)
    }

    func versions(
        _ question: Question, list: VersionList, withContents: Bool, state: BackendState
    ) throws -> HTTPResponse {
        try queries.versions(question, list: list, withContents: withContents, state: state)
    }

    func changes(_ question: ChangesQuestion, state: BackendState, now: Instant) throws -> HTTPResponse {
        try queries.changes(question, log, state: state, now: now)
    }

    func repairRows() throws -> Int64? { try RowCount.repair(database, identity) }

    func holdings(of user: String?) throws -> BackendHoldings { try queries.holdings(of: user, audit: audit) }

    /// Health data: only the owner may read it. SQLite gives its side files the same mode as the database.
    private static func prepareFile(_ path: String) throws {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        if !folder.isEmpty, mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw BackendError.folder(path: folder, cause: String(cString: strerror(errno)))
        }
        let descriptor = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BackendError.folder(path: path, cause: String(cString: strerror(errno))) }
        close(descriptor)
    }
}
