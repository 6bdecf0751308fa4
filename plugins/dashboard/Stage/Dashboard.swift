import Client
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Logging
import Protocol
import StageKit
import Synchronization

/// Answers requests: the page's files, and what the page asks. It holds nothing but columns of numbers, which it reads again.
package final class Dashboard: Sendable {
    package struct Parts: Sendable {
        package var stack: Stack
        package var files: PageFiles
        package var rule: SiteRule
        package var door: FrontDoor
        package var series: SeriesKeeper
        /// Its place on the bus.
        package var client: StackClient
        package var clock: @Sendable () -> Instant
        /// Gets the path and the reason of what couldn't be answered.
        package var failed: @Sendable (_ path: String, _ error: any Error) -> Void

        package init(
            stack: Stack, files: PageFiles, rule: SiteRule, door: FrontDoor, series: SeriesKeeper, client: StackClient,
            clock: @escaping @Sendable () -> Instant,
            failed: @escaping @Sendable (_ path: String, _ error: any Error) -> Void
        ) {
            (self.stack, self.files, self.rule, self.door, self.series) = (stack, files, rule, door, series)
            (self.client, self.clock, self.failed) = (client, clock, failed)
        }
    }

    let parts: Parts
    /// Answers that take some megabytes while they are made are made one after the other.
    private let heavy = Mutex(())

    package init(_ parts: Parts) { self.parts = parts }

    var stack: Stack { parts.stack }
    func reader() -> StackReader { stack.reader(over: parts.client) }

    package func handle(_ request: HTTPRequest) -> HTTPResponse {
        var answer = plain(request)
        for (name, value) in Self.headers { answer.headers.add(name, value) }
        if answer.headers["Cache-Control"] == nil { answer.headers.add("Cache-Control", "no-store") }
        return answer
    }

    private static let headers = [
        ("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ]

    private func plain(_ request: HTTPRequest) -> HTTPResponse {
        do {
            try parts.rule.check(request)
            return try answer(request)
        } catch let problem as DashboardProblem {
            return addressed(problem).answer
        } catch let failure as Failure {
            return addressed(DashboardProblem(failure)).answer
        } catch {
            parts.failed(request.path, error)
            return addressed(DashboardProblem(Failure(of: error))).answer
        }
    }

    /// Its commands mean this stack.
    private func addressed(_ problem: DashboardProblem) -> DashboardProblem {
        DashboardProblem(
            problem.status, stack.advice.addressed(problem.message), advice: stack.advice.addressed(problem.advice),
            headers: problem.headers)
    }

    private func answer(_ request: HTTPRequest) throws -> HTTPResponse {
        guard request.path.hasPrefix("/api/") else {
            guard request.method == "GET" || request.method == "HEAD" else {
                return .methodNotAllowed(["GET", "HEAD"])
            }
            guard let file = parts.files.answer(request) else { throw DashboardProblem.notFound }
            return file
        }
        guard let route = DashboardRoute(rawValue: String(request.path.dropFirst(5))) else {
            throw DashboardProblem.notFound
        }
        guard route.methods.contains(request.method) else { return .methodNotAllowed(route.methods) }
        if route == .session {
            // Behind a proxy that speaks TLS the browser is to send it by TLS alone.
            let secure = request.headers["X-Forwarded-Proto"] == "https"
            switch request.method {
            case "POST": return try parts.door.begin(request, secure: secure)
            case "DELETE": return parts.door.end(request, secure: secure)
            default: return json(try parts.door.visitor(request).value)
            }
        }
        let visitor = try parts.door.visitor(request)
        if route == .about { return json(try about(visitor, Parameters(request))) }
        guard visitor.mayRead else { throw DashboardProblem.unauthorized }
        return try answer(route, Parameters(request), visitor)
    }

    private func answer(
        _ route: DashboardRoute, _ parameters: Parameters, _ visitor: Visitor
    ) throws -> HTTPResponse {
        let user = parameters["user"] ?? visitor.user
        switch route {
        case .session, .about: throw DashboardProblem.notFound
        case .figures: return json(figures)
        case .series: return HTTPResponse(status: 200, json: try series(user, parameters))
        case .days: return try heavy.withLock { _ in json(try days(user, parameters)) }
        case .day: return json(try day(user, parameters))
        case .explain: return try heavy.withLock { _ in json(try explain(user, parameters)) }
        case .nights: return json(try events(.night, user, parameters))
        case .workouts: return json(try events(.workout, user, parameters))
        case .history: return json(try HistoryReport(stack, reader(), now: Date()).value)
        case .imports: return json(try ImportsReport(stack, reader()).value)
        }
    }

    func json(_ value: Value) -> HTTPResponse { HTTPResponse(status: 200, json: Array(value.json().utf8)) }
}

/// What follows `/api/`.
enum DashboardRoute: String, CaseIterable {
    case session, about, figures, series, days, day, explain, nights, workouts, history, imports

    var methods: [String] { self == .session ? ["GET", "HEAD", "POST", "DELETE"] : ["GET", "HEAD"] }
}
