import Glibc
import HTTP
import HealthModel
import HealthViews
import JSON
import PostgresStore
import SQLite
import Synchronization

/// The reference backend: accepts what an uploader delivers, keeps each element once at its highest version, and
/// answers questions.
///
/// `docs/backend.md` is the contract. Requests may arrive on several threads; they are handled one after another. Each
/// write is one transaction, and is answered only once it is on disk.
package final class Backend: Sendable {
    /// Microseconds since 1970, UTC.
    package typealias Clock = @Sendable () -> Instant

    private let token: SecretToken
    private let clock: Clock
    private let notices: BackendNotices
    private let families: Set<String>
    private let core: Mutex<BackendCore?>

    /// Opens or creates the database in a file; a missing folder is created with mode 0700, the file with 0600.
    /// - Parameters:
    ///   - families: those under which samples may be delivered, besides "other".
    ///   - views: the views for querying the file.
    ///   - audit: whether to count every acceptance of an (id, version) separately, for tests: `acceptedTwice` in the
    ///     statistics.
    ///   - changesKept: how many of the latest changes of each user's list are kept for clients that follow.
    /// - Throws: `SQLiteError`, `BackendError`.
    package convenience init(
        databasePath: String, token: SecretToken, families: Set<String>, views: HealthViews = HealthViews(figures: []),
        audit: Bool = false, changesKept: Int64 = ChangesLog.usual,
        clock: @escaping Clock = Backend.now, notices: BackendNotices = .init()
    ) throws {
        self.init(
            token, families, clock, notices,
            try SQLiteStorage(path: databasePath, views: views, audit: audit, changesKept: changesKept))
    }

    /// The same with PostgreSQL, where any number of backends may share the tables. Connects at the first request.
    /// - Parameters:
    ///   - url: `postgresql://user:password@host:5432/database`.
    ///   - schema: created if it doesn't exist.
    /// - Throws: for an unreadable URL, or an invalid schema name.
    package convenience init(
        postgresURL url: String, schema name: String, token: SecretToken, families: Set<String>,
        views: HealthViews = HealthViews(figures: []),
        clock: @escaping Clock = Backend.now, notices: BackendNotices = .init()
    ) throws {
        guard let schema = PostgresSchema(name, views: views, adding: PostgresStorage.parts) else {
            throw BackendError.schemaName(name)
        }
        self.init(token, families, clock, notices, try PostgresStorage(url: url, schema: schema))
    }

    private init(
        _ token: SecretToken, _ families: Set<String>, _ clock: @escaping Clock, _ notices: BackendNotices,
        _ storage: sending any BackendStorage
    ) {
        (self.token, self.clock, self.notices, self.families) = (token, clock, notices, families)
        core = Mutex(BackendCore(storage, notices: notices))
    }

    /// The machine's clock.
    package static let now: Clock = {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Instant(
            microseconds: Int64(time.tv_sec) * Instant.microsecondsPerSecond + Int64(time.tv_nsec) / 1000)
    }

    /// The answer for a caller without the token, decided from the request's head; nil for a caller that has it.
    package func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard !token.matches(request.bearerToken) else { return nil }
        return .problem(
            401, "the bearer token is missing or wrong", "send Authorization: Bearer <token>",
            headers: ["WWW-Authenticate": "Bearer"])
    }

    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        if let refusal = refusal(of: request) { return refusal }
        guard let route = BackendRoute(request.path, families: families) else {
            return .problem(404, "no such path", "see docs/backend.md for the paths")
        }
        guard route.methods.contains(request.method) else {
            return .problem(
                405, "this path doesn't support that method", "use \(route.methods[0])",
                headers: ["Allow": route.methods.joined(separator: ", ")])
        }
        do {
            return try core.withLock { core in
                guard let core else { throw BackendError.closed }
                let answer = try core.answer(request, route, now: clock())
                // Checked after the commit: anything written to a file that is gone is lost.
                guard core.isInPlace else { throw BackendError.moved }
                return answer
            }
        } catch let refusal as SyncRefusal {
            return refusal.answer
        } catch let error as JSONScanError {
            return .problem(400, error.description, "send well-formed JSON in UTF-8")
        } catch BackendError.moved {
            // Reported once, by the code that ends the process.
            return .problem(
                503, "the database was removed or replaced", "nothing in this request was stored; send it again later")
        } catch let error as SQLiteError {
            // The error's text contains SQL and a path: it is for the operator, not for the network.
            return unusable("\(error)")
        } catch BackendError.database(let problem) {
            return unusable(problem)
        } catch {
            notices.failed("\(error)")
            return .problem(503, "the backend is stopping", "send it again later")
        }
    }

    private func unusable(_ problem: String) -> HTTPResponse {
        notices.failed(problem)
        return .problem(
            503, "the database can't be used at the moment", "nothing in this request was stored; send it again later")
    }

    /// Whether what it accepts will be kept, that is, whether its database is still where the next start will look for
    /// it. A closed backend accepts nothing.
    package var keepsWhatItTakes: Bool { core.withLock { $0?.isInPlace ?? true } }

    /// Finishes the current request and closes the database; later requests are answered with 503.
    package func close() { core.withLock { $0 = nil } }
}

/// What a backend's operator needs to know, without health values.
package struct BackendNotices: Sendable {
    /// A failure that the client can't fix.
    package var failed: @Sendable (String) -> Void
    /// A caller has seen more of this database than it now holds: a new generation has begun.
    package var rolledBack: @Sendable (_ seen: Int64, _ held: Int64) -> Void
    /// At least this many rows were removed behind the backend's back: a new generation has begun.
    package var rowsMissing: @Sendable (Int64) -> Void

    package init(
        failed: @escaping @Sendable (String) -> Void = { _ in },
        rolledBack: @escaping @Sendable (_ seen: Int64, _ held: Int64) -> Void = { _, _ in },
        rowsMissing: @escaping @Sendable (Int64) -> Void = { _ in }
    ) {
        (self.failed, self.rolledBack, self.rowsMissing) = (failed, rolledBack, rowsMissing)
    }
}

enum BackendRoute {
    case sync(SyncMetric)
    case samples
    case documents(DocumentKind)
    case versions
    case changes
    case stats

    init?(_ path: String, families: Set<String>) {
        guard path.hasPrefix("/api/v1/") else { return nil }
        switch path.dropFirst(8) {
        case "samples": self = .samples
        case "days": self = .documents(.day)
        case "workouts": self = .documents(.workout)
        case "nights": self = .documents(.night)
        case "versions": self = .versions
        case "changes": self = .changes
        case "stats": self = .stats
        case let rest:
            guard rest.hasPrefix("sync/"), let metric = SyncMetric(String(rest.dropFirst(5)), families: families) else {
                return nil
            }
            self = .sync(metric)
        }
    }

    /// The server sends no body in answer to HEAD; its headers are those of GET.
    var methods: [String] {
        if case .sync = self { return ["POST"] }
        return ["GET", "HEAD"]
    }
}
