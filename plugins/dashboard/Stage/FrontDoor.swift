import Configuration
import HTTP
import HealthModel
import Synchronization

/// Who is asking, and what they may do.
package struct Visitor: Sendable {
    /// The person whose days are requested if the request names no user.
    package var user: String
    package var mayRead: Bool
    /// Whether the visitor may see the messages between processes, which are about everybody.
    package var mayListen: Bool
    package var scopes: Set<TokenScope>
    /// The token that the visitor showed, to be passed to the ingest.
    package var token: String?

    /// The one person whose data the visitor may read: a token stands for one person, unless it is the operator's. nil:
    /// everybody's.
    package var only: String? { token == nil || scopes.contains(.admin) ? nil : user }

    /// The person whose data a request is about.
    /// - Parameter named: the user that the request names, if any.
    /// - Throws: 403 for somebody whose data the visitor may not read.
    package func person(_ named: String?) throws(DashboardProblem) -> String {
        let person = named ?? user
        guard let only, person != only else { return person }
        throw DashboardProblem(
            403, "this token is for another person's data", hint: "leave 'user' out, or use that person's token")
    }

    /// - Parameter what: what needs a token with that scope.
    /// - Returns: the token.
    /// - Throws: 401 without a token, 403 with one that doesn't have the scope.
    @discardableResult
    func require(_ scope: TokenScope, for what: String) throws(DashboardProblem) -> String {
        if scopes.contains(scope), let token { return token }
        throw DashboardProblem(
            token == nil ? 401 : 403, "\(what) needs a token with the scope \(scope.rawValue)",
            hint: "make one with 'healthbus token new --scope \(scope.rawValue)'")
    }
}

/// Recognizes visitors by their token or their session, and begins sessions.
package final class FrontDoor: Sendable {
    private let isOpen: Bool
    private let grant: @Sendable (_ secret: String) throws -> TokenGrant?
    private let redeem: @Sendable (_ ticket: String) -> Bool
    private let now: @Sendable () -> MonotonicTime
    private let sessions = Mutex(Sessions())
    private let attempts = Mutex(FailedAttempts<UInt64>(allowed: 20, forgivenAfter: 3))

    /// - Parameters:
    ///   - isOpen: whether anybody may read.
    ///   - redeem: uses up a ticket, and says whether it was valid.
    ///   - grant: what a token allows; nil for an invalid one.
    package init(
        isOpen: Bool, now: @escaping @Sendable () -> MonotonicTime,
        redeem: @escaping @Sendable (_ ticket: String) -> Bool,
        grant: @escaping @Sendable (_ secret: String) throws -> TokenGrant?
    ) {
        (self.isOpen, self.now, self.redeem, self.grant) = (isOpen, now, redeem, grant)
    }

    package func visitor(_ request: HTTPRequest) throws -> Visitor {
        let session = session(request)
        // The account that runs the stack may read its files, too.
        let isFree = isOpen || session?.isOwners == true
        let shown = request.bearerToken ?? session?.token
        guard let shown, let grant = try grant(shown) else {
            // If anybody may read, an expired session is no reason to refuse.
            guard request.bearerToken == nil else { throw wrong(request.peer) }
            return Visitor(user: "me", mayRead: isFree, mayListen: isFree, scopes: [])
        }
        return Visitor(
            user: grant.user, mayRead: isFree || grant.allows(.read), mayListen: isFree || grant.allows(.admin),
            scopes: grant.scopes, token: shown)
    }

    private func session(_ request: HTTPRequest) -> Sessions.Session? {
        let at = now()
        return Sessions.id(in: request.headers).flatMap { id in sessions.withLock { $0.session(id, at: at) } }
    }

    private func wrong(_ peer: UInt64) -> DashboardProblem {
        let seconds = Double(now().microseconds) / 1e6
        return attempts.withLock { attempts in
            if let wait = attempts.wait(peer, at: seconds) {
                return DashboardProblem(
                    429, "too many wrong tokens", hint: "try again after Retry-After",
                    headers: ["Retry-After": String(Int(wait.rounded(.up)))])
            }
            attempts.failed(peer, at: seconds)
            return DashboardProblem(
                401, "this token isn't valid", hint: "make one with 'healthbus token new --scope read'",
                headers: ["WWW-Authenticate": "Bearer"])
        }
    }

    /// Gives a cookie to a browser that shows its token. What its ticket allows stays.
    package func begin(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let token = request.bearerToken else { throw DashboardProblem.unauthorized }
        let visitor = try visitor(request)
        var answer = HTTPResponse(status: 200, json: Array(visitor.value.json().utf8))
        let isOwners = session(request)?.isOwners == true
        answer.headers.add("Set-Cookie", cookie(for: Sessions.Session(isOwners: isOwners, token: token), request))
        return answer
    }

    /// The cookie for a browser that shows a valid ticket; nil for any other. A token that it has shown stays.
    package func cookie(forTicketOf request: HTTPRequest) -> String? {
        // Programs that look at a link in advance use HEAD.
        guard request.method == "GET", let ticket = request.query["ticket"], redeem(ticket) else { return nil }
        return cookie(for: Sessions.Session(isOwners: true, token: session(request)?.token), request)
    }

    package func end(_ request: HTTPRequest) -> HTTPResponse {
        if let id = Sessions.id(in: request.headers) { sessions.withLock { $0.end(id) } }
        return HTTPResponse(status: 204, headers: ["Set-Cookie": cookie("", seconds: 0, request)])
    }

    /// Begins a session in place of the browser's former one.
    private func cookie(for session: Sessions.Session, _ request: HTTPRequest) -> String {
        let (id, at) = (Sessions.newID(), now())
        sessions.withLock { sessions in
            if let former = Sessions.id(in: request.headers) { sessions.end(former) }
            sessions.begin(id, session, at: at)
        }
        return cookie(id, seconds: Sessions.hours * 3600, request)
    }

    private func cookie(_ id: String, seconds: Int, _ request: HTTPRequest) -> String {
        // Behind a proxy that speaks TLS, the browser must send the cookie only over TLS.
        let isSecure = request.headers["X-Forwarded-Proto"] == "https"
        return "\(Sessions.cookie(at: request.headers["Host"]))=\(id); Path=/; HttpOnly; SameSite=Strict; "
            + "Max-Age=\(seconds)" + (isSecure ? "; Secure" : "")
    }
}

extension Visitor {
    var value: Value {
        [
            "user": .string(user), "reads": .bool(mayRead),
            "scopes": .array(scopes.map(\.rawValue).sorted().map { .string($0) }),
        ]
    }
}
