import Glibc
import HTTP
import HealthModel
import HealthViews
import JSON
import Protocol
import SQLite

/// The open database and its statements. One request at a time.
final class BackendCore {
    private let database: Database
    private let texts: InternedTexts
    private let writer: SyncWriter
    private let queries: BackendQueries
    private let identity: BackendIdentity
    private let audit: Bool
    private let notices: BackendNotices

    // Each type's samples of years lie all over the table. What one request touches is to stay in memory until it is committed; what
    // several touch is written into the file once; and what is written is written in few calls. 64 MiB of log, and a request's, at most.
    private static let cacheKibibytes = 8192
    private static let pageBytes = 16 << 10
    private static let checkpointPages = 4000

    init(databasePath: String, views: HealthViews, audit: Bool, notices: BackendNotices) throws {
        try Self.prepareFile(databasePath)
        database = try Database(
            path: databasePath, cacheKibibytes: Self.cacheKibibytes, checkpointPages: Self.checkpointPages,
            pageBytes: Self.pageBytes)
        try BackendSchema.create(in: database, generation: BackendIdentity.nonce())
        try BackendViews.create(views, in: database)
        identity = try BackendIdentity(database)
        texts = try InternedTexts(database)
        let unnamed = try BackendSchema.meta("unnamed", in: database)
        let kinds = try SampleKinds(database)
        writer = try SyncWriter(
            database, texts: texts, kinds: kinds, identity: identity, unnamed: unnamed, audit: audit)
        queries = try BackendQueries(database, texts: texts, kinds: kinds, unnamed: unnamed)
        self.audit = audit
        self.notices = notices
    }

    /// Whether the database is still where the next start looks for it.
    var isInPlace: Bool { !database.hasMoved }

    func answer(_ request: HTTPRequest, _ route: BackendRoute, now: Instant) throws -> HTTPResponse {
        switch route {
        case .sync(let metric):
            if let seen = request.headers[SeenBackend.header].flatMap({ SeenBackend($0) }) {
                let held = identity.sequence
                if try identity.beginAnew(unlessReached: seen) { notices.rolledBack(seen.sequence, held) }
            }
            if SampleDelivery.isNamed(by: request.headers["Content-Type"]) {
                return try writer.write(delivery(request.body, metric), now: now).answer(identity, serverTime: now)
            }
            guard JSONScanner.isUTF8(request.body) else { throw SyncRefusal.malformed("the body isn't UTF-8") }
            return try request.body.withUnsafeBytes { body in
                let envelope = try SyncEnvelope(body, metric: metric)
                return try writer.write(envelope, metric: metric, now: now).answer(identity, serverTime: now)
            }
        case .samples: return try queries.samples(Question(request.query, limits: 1...BackendQueries.pageLimit))
        case .documents(let kind):
            return try queries.documents(kind, Question(request.query, limits: 1...BackendQueries.pageLimit))
        case .versions:
            // A `verify` of an earlier release asks for 1; what an earlier backend answers to that is no number of the content.
            let contents = request.query["contents"]
            return try queries.versions(
                Question(request.query, limits: 1...BackendQueries.versionsLimit),
                list: try VersionList(request.query), withContents: contents == "1" || contents == "2",
                identity: identity)
        case .stats:
            if request.query["count"] == "rows", let missing = try RowCount.mend(database, identity) {
                notices.rowsMissing(missing)
            }
            return try BackendQueries.stats(
                database, texts: texts, user: request.query["user"], identity: identity, serverTime: now,
                audit: audit)
        }
    }

    /// A body of columns, checked as far as it is one.
    private func delivery(_ body: [UInt8], _ metric: SyncMetric) throws -> SampleDelivery {
        guard metric.lists.contains(.samples) else { throw SyncRefusal.noColumns(metric) }
        let delivery: SampleDelivery
        do {
            delivery = try SampleDelivery(body: body)
        } catch {
            throw SyncRefusal.malformed("\(error)")
        }
        guard delivery.count <= SampleDelivery.elementLimit else { throw SyncRefusal.tooMany }
        try SyncEnvelope.check(user: delivery.user, device: delivery.device, syncedAt: delivery.syncedAt)
        return delivery
    }

    /// Health data: only the owner reads it. SQLite gives its side files the mode of the database.
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
