import Glibc
import HTTP
import HealthModel
import SQLite

/// The open database and its statements. One request at a time.
final class BackendCore {
    private let database: Database
    private let texts: InternedTexts
    private let writer: SyncWriter
    private let queries: BackendQueries
    private let generation: String
    private let audit: Bool

    init(databasePath: String, audit: Bool) throws {
        try Self.prepareFile(databasePath)
        database = try Database(path: databasePath)
        var random = SystemRandomNumberGenerator()
        let nonce = String(random.next() as UInt64, radix: 16) + String(random.next() as UInt64, radix: 16)
        try BackendSchema.create(in: database, generation: nonce)
        generation = try BackendSchema.meta("generation", in: database)
        texts = try InternedTexts(database)
        writer = try SyncWriter(database, texts: texts, audit: audit)
        queries = try BackendQueries(database, texts: texts)
        self.audit = audit
    }

    func answer(_ request: HTTPRequest, _ route: BackendRoute, now: Instant) throws -> HTTPResponse {
        switch route {
        case .sync(let metric):
            guard JSONScanner.isUTF8(request.body) else { throw SyncRefusal.malformed("the body isn't UTF-8") }
            return try request.body.withUnsafeBytes { body in
                let envelope = try SyncEnvelope(body, metric: metric)
                return try writer.write(envelope, metric: metric, now: now).answer(
                    generation: generation, serverTime: now)
            }
        case .samples: return try queries.samples(Question(request.query, limits: 1...BackendQueries.pageLimit))
        case .documents(let kind):
            return try queries.documents(kind, Question(request.query, limits: 1...BackendQueries.pageLimit))
        case .stats:
            return try BackendQueries.stats(
                database, texts: texts, user: request.query["user"], generation: generation, serverTime: now,
                audit: audit)
        }
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
