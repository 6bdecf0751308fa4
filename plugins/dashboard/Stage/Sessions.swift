import Foundation
import HealthModel

/// Browsers that have shown a token: each uses its own cookie from then on, until the cookie expires. Pure: secrets and
/// times are passed in.
package struct Sessions: Sendable {
    package static let cookie = "healthbus-session"
    /// How many hours a session lasts.
    static let hours = 12
    private static let most = 64

    private struct Session {
        /// The token that was shown; it is checked again with each request, so that revoking it ends its sessions.
        var token: String
        var ends: MonotonicTime
    }

    private var sessions: [String: Session] = [:]

    package init() {}

    /// - Parameter id: random, and known to nobody else.
    package mutating func begin(_ id: String, token: String, at now: MonotonicTime) {
        sessions = sessions.filter { $0.value.ends > now }
        if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.ends < $1.value.ends }) {
            sessions[oldest.key] = nil
        }
        sessions[id] = Session(token: token, ends: now + .seconds(Self.hours * 3600))
    }

    package mutating func end(_ id: String) { sessions[id] = nil }

    /// The token with which the session was opened.
    package func token(_ id: String, at now: MonotonicTime) -> String? {
        sessions[id].flatMap { $0.ends > now ? $0.token : nil }
    }

    /// The session's id in a `Cookie` header.
    package static func id(in header: String?) -> String? {
        for pair in (header ?? "").split(separator: ";") {
            let sides = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if sides.count == 2, sides[0] == cookie { return sides[1] }
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
