import Foundation
import Glibc
import HealthModel
import Logging

/// The tickets with which `healthbus open` signs a browser in at the dashboard: each counts once, within a minute.
///
/// Whoever can write into the folder (0700) is the account that runs the stack, or root. A ticket is a file, named after
/// the hash of its text; it contains when it was made. Removing the file uses the ticket up, so it can't count twice,
/// whatever ends in between. The text itself is 256 random bits and isn't kept; because it is looked up by its hash,
/// the time that takes reveals nothing about other tickets.
package struct SignInTickets: Sendable {
    /// How long a ticket is valid.
    package static let lifetime = Duration.seconds(60)

    private let folder: String

    package init(_ state: StateFolder) { folder = state.secrets + "/sign-in" }

    /// Makes a ticket, and removes those that are over.
    /// - Returns: the ticket's text, to be shown once.
    /// - Throws: `Failure` when it can't be written, and `StateFolderError`.
    package func make(now: Instant) throws -> String {
        try StateFolder.make(folder)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            guard SecretDigest(hexadecimal: name) != nil, !Self.isValid(made(name), at: now) else { continue }
            unlink(path(name))
        }
        var generator = SystemRandomNumberGenerator()
        let secret = TokenSecret.make(using: &generator)
        try PrivateFile.write("\(now.microseconds)\n", to: path("\(secret.digest)"))
        return secret.text
    }

    /// Uses a ticket up.
    /// - Returns: whether it was valid. It never is again.
    package func redeem(_ text: String, now: Instant) -> Bool {
        guard let name = TokenSecret(text).map({ "\($0.digest)" }) else { return false }
        let made = made(name)
        // Of two at once, one removes the file.
        guard unlink(path(name)) == 0 else { return false }
        return Self.isValid(made, at: now)
    }

    /// A ticket from the future was made before the clock was set back: how old it is isn't known.
    private static func isValid(_ made: Instant?, at now: Instant) -> Bool {
        guard let made else { return false }
        return made <= now && now - made < lifetime
    }

    private func made(_ name: String) -> Instant? {
        (try? String(contentsOfFile: path(name), encoding: .utf8))
            .flatMap { Int64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            .map { Instant(microseconds: $0) }
    }

    private func path(_ name: String) -> String { folder + "/" + name }
}
