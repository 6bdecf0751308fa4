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
}

/// Recognizes visitors by their token or their session.
package final class FrontDoor: Sendable {
    private let isOpen: Bool
    private let grant: @Sendable (_ secret: String) throws -> TokenGrant?
    private let now: @Sendable () -> MonotonicTime
    private let sessions = Mutex(Sessions())
    private let attempts = Mutex(FailedAttempts<UInt64>(allowed: 20, forgivenAfter: 3))

    /// - Parameters:
    ///   - isOpen: whether anybody may read.
    ///   - grant: what a token allows; nil for an invalid one.
    package init(
        isOpen: Bool, now: @escaping @Sendable () -> MonotonicTime,
        grant: @escaping @Sendable (_ secret: String) throws -> TokenGrant?
    ) {
        (self.isOpen, self.now, self.grant) = (isOpen, now, grant)
    }

    package func visitor(_ request: HTTPRequest) throws -> Visitor {
        let at = now()
        let session = Sessions.id(in: request.headers["Cookie"]).flatMap { id in
            sessions.withLock { $0.token(id, at: at) }
        }
        let shown = request.bearerToken ?? session
        guard let shown, let grant = try grant(shown) else {
            // If anybody may read, an expired session is no reason to refuse.
            guard request.bearerToken == nil else { throw wrong(request.peer) }
            return Visitor(user: "me", mayRead: isOpen, mayListen: isOpen, scopes: [])
        }
        return Visitor(
            user: grant.user, mayRead: isOpen || grant.allows(.read), mayListen: isOpen || grant.allows(.admin),
            scopes: grant.scopes, token: shown)
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

    /// Gives a cookie to a browser that shows its token.
    func begin(_ request: HTTPRequest, secure: Bool) throws -> HTTPResponse {
        guard let token = request.bearerToken else { throw DashboardProblem.unauthorized }
        let visitor = try visitor(request)
        let id = Sessions.newID()
        sessions.withLock { $0.begin(id, token: token, at: now()) }
        var answer = HTTPResponse(status: 200, json: Array(visitor.value.json().utf8))
        answer.headers.add("Set-Cookie", cookie(id, seconds: Sessions.hours * 3600, secure))
        return answer
    }

    func end(_ request: HTTPRequest, secure: Bool) -> HTTPResponse {
        if let id = Sessions.id(in: request.headers["Cookie"]) { sessions.withLock { $0.end(id) } }
        return HTTPResponse(status: 204, headers: ["Set-Cookie": cookie("", seconds: 0, secure)])
    }

    private func cookie(_ id: String, seconds: Int, _ secure: Bool) -> String {
        "\(Sessions.cookie)=\(id); Path=/; HttpOnly; SameSite=Strict; Max-Age=\(seconds)" + (secure ? "; Secure" : "")
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
