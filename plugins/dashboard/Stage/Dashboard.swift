import Client
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Monitoring
import Protocol
import StageKit
import Synchronization

/// Answers requests for the page's files, and the requests that the page makes. It keeps only columns of numbers, which
/// it can read again.
package final class Dashboard: Sendable {
    package struct Parts: Sendable {
        package var stack: Stack
        package var files: PageFiles
        package var rule: SiteRule
        package var door: FrontDoor
        package var series: SeriesKeeper
        package var live: LivePages
        package var taps: TapStreams
        /// Its connection to the bus.
        package var client: StackClient
        /// Requests that wait for changes.
        package var waiting: ChangesWaiting
        /// The dashboard's own folder on disk, in which files are kept until they are passed on.
        package var folder: String
        package var clock: @Sendable () -> Instant
        /// Called with what couldn't be done ("answer", "changes", "/api/import"), and the reason.
        package var failed: @Sendable (_ path: String, _ error: any Error) -> Void

        package init(
            stack: Stack, files: PageFiles, rule: SiteRule, door: FrontDoor, series: SeriesKeeper,
            live: LivePages,
            taps: TapStreams, client: StackClient, waiting: ChangesWaiting, folder: String,
            clock: @escaping @Sendable () -> Instant,
            failed: @escaping @Sendable (_ path: String, _ error: any Error) -> Void
        ) {
            (self.stack, self.files, self.rule, self.door, self.series) = (
                stack, files, rule, door, series
            )
            (self.live, self.taps) = (live, taps)
            (self.client, self.waiting, self.folder, self.clock, self.failed) = (client, waiting, folder, clock, failed)
        }
    }

    let parts: Parts
    /// Answers that take several megabytes to produce are produced one at a time.
    let heavy = Mutex(())
    let syncs = Mutex(SyncTurns())

    package init(_ parts: Parts) { self.parts = parts }

    var stack: Stack { parts.stack }
    func reader() -> StackReader { stack.reader(over: parts.client) }

    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        dressed(
            answer {
                try parts.rule.check(request)
                return try answer(request)
            })
    }

    /// Adds the headers that every answer has.
    func dressed(_ answer: HTTPResponse) -> HTTPResponse {
        var answer = answer
        for (name, value) in Self.headers { answer.headers.add(name, value) }
        if answer.headers["Cache-Control"] == nil { answer.headers.add("Cache-Control", "no-store") }
        return answer
    }

    private static let headers = [
        (
            "Content-Security-Policy",
            "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ]

    /// Returns the answer of `body`, or the one for the error that it throws.
    func answer(_ body: () throws -> HTTPResponse) -> HTTPResponse {
        do {
            return try body()
        } catch let problem as DashboardProblem {
            return addressed(problem).answer
        } catch let refusal as HTTPRefusal {
            return refusal.answer
        } catch let failure as Failure {
            return addressed(DashboardProblem(failure)).answer
        } catch {
            parts.failed("answer", error)
            return addressed(DashboardProblem(Failure(of: error))).answer
        }
    }

    /// Makes the commands in a message refer to this stack.
    private func addressed(_ problem: DashboardProblem) -> DashboardProblem {
        DashboardProblem(
            problem.status, stack.advice.addressed(problem.message),
            hint: stack.advice.addressed(problem.hint),
            headers: problem.headers)
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        guard request.path.hasPrefix("/api/") else {
            guard request.method == "GET" || request.method == "HEAD" else {
                return .methodNotAllowed(["GET", "HEAD"])
            }
            if request.path == "/" { return try FrontPage.answer(request, parts.door, parts.files) }
            guard let file = parts.files.answer(request) else { throw DashboardProblem.notFound }
            return file
        }
        guard let route = DashboardRoute(rawValue: String(request.path.dropFirst(5))) else {
            throw DashboardProblem.notFound
        }
        guard route.methods.contains(request.method) else { return .methodNotAllowed(route.methods) }
        if route == .session {
            switch request.method {
            case "POST": return try parts.door.begin(request)
            case "DELETE": return parts.door.end(request)
            default: return json(try parts.door.visitor(request).value)
            }
        }
        let visitor = try parts.door.visitor(request)
        if route == .about { return json(try about(visitor, Parameters(request))) }
        guard visitor.mayRead else { throw DashboardProblem.unauthorized }
        return try answer(route, request, visitor)
    }

    private func answer(
        _ route: DashboardRoute, _ request: HTTPRequest, _ visitor: Visitor
    ) throws -> HTTPResponse {
        let parameters = Parameters(request, page: route.page)
        let user = try visitor.person(parameters["user"])
        switch route {
        case .session, .about: throw DashboardProblem.notFound
        case .figures: return json(figures)
        case .series: return HTTPResponse(status: 200, json: try series(user, parameters))
        case .days: return try heavy.withLock { _ in json(try days(user, parameters)) }
        case .day: return json(try day(user, parameters))
        case .explain: return try heavy.withLock { _ in json(try explain(user, parameters)) }
        case .nights: return json(try events(.night, user, parameters))
        case .workouts: return json(try events(.workout, user, parameters))
        case .workout:
            return try heavy.withLock { _ in
                json(
                    try WorkoutReport(stack, reader(), id: parameters.required("id").lowercased(), user: user)
                        .value)
            }
        case .pipeline: return json(parts.live.pipeline())
        case .waits: return HTTPResponse(status: 200, json: parts.live.waits())
        case .live:
            if request.method == "HEAD" { return .eventHead }
            let stream = parts.live.open(for: visitor.only)
            parts.series.look()
            return HTTPResponse(events: stream)
        case .tap: return request.method == "HEAD" ? .eventHead : try tap(visitor, parameters)
        case .retry: return json(try retry(request, visitor))
        case .sync: return json(Value(try sync(visitor)))
        case .freshness: return json(try freshness())
        case .history: return json(try HistoryReport(stack, reader(), now: Date()).value)
        case .imports: return json(try imports(visitor))
        case .changes: return try changes(request, user, parameters)
        }
    }

    func json(_ value: Value) -> HTTPResponse {
        HTTPResponse(status: 200, json: Array(value.json().utf8))
    }
}

/// The part of the path after `/api/`.
package enum DashboardRoute: String, CaseIterable {
    case session, about, figures, series, days, day, explain, nights, workouts, workout, pipeline,
        live, waits, tap
    case retry, sync, freshness, history, imports
    case changes = "v1/changes"

    var methods: [String] {
        switch self {
        case .session: ["GET", "HEAD", "POST", "DELETE"]
        case .retry, .sync: ["POST"]
        default: ["GET", "HEAD"]
        }
    }

    /// The page that lists its parameters.
    package var page: String { self == .changes ? "docs/sync.md" : "docs/dashboard.md" }
}

extension HTTPResponse {
    /// The answer to `HEAD` for a stream.
    fileprivate static let eventHead = HTTPResponse(
        status: 200, headers: ["Content-Type": "text/event-stream"])
}
