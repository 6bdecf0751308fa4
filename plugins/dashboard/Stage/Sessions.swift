import Foundation
import HTTP
import HealthModel

/// Browsers that have shown a ticket or a token: each uses its own cookie from then on, until the cookie expires. Pure:
/// secrets and times are passed in.
///
/// They are kept in memory only: while the dashboard is away, another account can listen on its port, and an open page
/// sends its cookie there. Once the dashboard is back, that cookie is worth nothing.
package struct Sessions: Sendable {
    /// How many hours a session lasts.
    static let hours = 12
    private static let most = 64

    /// What a browser has shown.
    package struct Session: Sendable, Equatable {
        /// Whether it has shown a ticket of the account that runs the stack.
        package var isOwners: Bool
        /// The token that was shown; it is checked again with each request, so that revoking it ends what it allows.
        package var token: String?

        package init(isOwners: Bool = false, token: String? = nil) { (self.isOwners, self.token) = (isOwners, token) }
    }

    private var sessions: [String: (session: Session, ends: MonotonicTime)] = [:]

    package init() {}

    /// - Parameter id: random, and known to nobody else.
    package mutating func begin(_ id: String, _ session: Session, at now: MonotonicTime) {
        sessions = sessions.filter { $0.value.ends > now }
        if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.ends < $1.value.ends }) {
            sessions[oldest.key] = nil
        }
        sessions[id] = (session, now + .seconds(Self.hours * 3600))
    }

    package mutating func end(_ id: String) { sessions[id] = nil }

    package func session(_ id: String, at now: MonotonicTime) -> Session? {
        sessions[id].flatMap { $0.ends > now ? $0.session : nil }
    }

    /// The name of the cookie: browsers send cookies to every port of a host (RFC 6265, section 8.5), so those of two
    /// stacks on one machine must differ.
    /// - Parameter host: the request's `Host`, with the port that the browser uses.
    package static func cookie(at host: String?) -> String {
        let host = host ?? ""
        let port = host.lastIndex(of: ":").map { host[host.index(after: $0)...] } ?? ""
        return "healthbus-session" + (UInt16(port).map { "-\($0)" } ?? "")
    }

    /// The session's id in the request's cookies.
    package static func id(in headers: HTTPHeaders) -> String? {
        let name = cookie(at: headers["Host"])
        for pair in (headers["Cookie"] ?? "").split(separator: ";") {
            let sides = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if sides.count == 2, sides[0] == name { return sides[1] }
        }
        return nil
    }

    /// 256 random bits.
    package static func newID() -> String {
        (0..<4).map { _ in
            let part = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - part.count) + part
        }.joined()
    }
}
