import Foundation
import HealthModel
import Logging
import Synchronization

/// How a token has been used at a server. It holds nothing secret.
package struct TokenUse: Codable, Sendable, Equatable {
    /// When its holder was last let in.
    package var last: Instant?
    /// How many requests were refused since, because the token had ended or was revoked, and when the first and the
    /// last of them came.
    package var refused: Int64 = 0
    package var firstRefused: Instant?
    package var lastRefused: Instant?

    package init(last: Instant? = nil) { self.last = last }

    package mutating func note(isGranted: Bool, at now: Instant) {
        guard !isGranted else {
            self = TokenUse(last: now)
            return
        }
        refused += 1
        firstRefused = firstRefused ?? now
        lastRefused = now
    }

    /// What two servers have noted about the same token.
    package func merged(with other: TokenUse) -> TokenUse {
        func of(_ a: Instant?, _ b: Instant?, _ choose: (Instant, Instant) -> Instant) -> Instant? {
            a.map { a in b.map { choose(a, $0) } ?? a } ?? b
        }
        var both = TokenUse(last: of(last, other.last, max))
        both.refused = refused + other.refused
        both.firstRefused = of(firstRefused, other.firstRefused, min)
        both.lastRefused = of(lastRefused, other.lastRefused, max)
        return both
    }
}

/// What a server notes about the stack's own tokens, by their ids, in its own folder. Nothing is noted about a token
/// that the stack never made, so whoever guesses leaves nothing behind.
package final class TokenUses: Sendable {
    private let path: String
    private let held: Mutex<(uses: [String: TokenUse], isChanged: Bool, isFailing: Bool)>

    /// - Parameter folder: that of the server's instance.
    package init(folder: String) {
        path = folder + Self.name
        held = Mutex((Self.read(folder: folder), false, false))
    }

    private static let name = "/token-use.json"

    func note(_ id: String, isGranted: Bool, at now: Instant) {
        held.withLock {
            $0.uses[id, default: TokenUse()].note(isGranted: isGranted, at: now)
            $0.isChanged = true
        }
    }

    /// Writes what has been noted since it was last called. What can't be written is tried again by the next call.
    /// - Parameter failed: called with the first failure of several in a row.
    package func save(failed: (Failure) -> Void) {
        let uses = held.withLock { held -> [String: TokenUse]? in
            defer { held.isChanged = false }
            return held.isChanged ? held.uses : nil
        }
        guard let uses else { return }
        do throws(Failure) {
            try PrivateFile.write(Value(uses).json(pretty: true) + "\n", to: path)
            held.withLock { $0.isFailing = false }
        } catch {
            let isNew = held.withLock { held in
                defer { (held.isChanged, held.isFailing) = (true, true) }
                return !held.isFailing
            }
            if isNew { failed(error) }
        }
    }

    /// What a server has noted, by the tokens' ids. A file that can't be read counts as empty: it only says when
    /// something happened.
    package static func read(folder: String) -> [String: TokenUse] {
        FileManager.default.contents(atPath: folder + name).flatMap { try? Value(json: $0) }?
            .read([String: TokenUse].self) ?? [:]
    }
}
