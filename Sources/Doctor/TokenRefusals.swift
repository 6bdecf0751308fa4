import Configuration
import HealthModel
import Inspection
import Logging
import Terminal

/// How the stack's tokens have been used at all of its servers.
package enum TokenRecord {
    /// By the tokens' ids.
    package static func uses(of stack: Stack) -> [String: TokenUse] {
        stack.configuration.instances.filter { [.ingest, .dashboard].contains($0.manifest.kind) }
            .reduce(into: [:]) { all, server in
                all.merge(TokenUses.read(folder: stack.state.instance(server.name))) { $0.merged(with: $1) }
            }
    }
}

/// Devices that keep knocking with a token that has ended or was revoked: nothing of theirs arrives. Pure.
package enum TokenRefusals {
    /// A device that hasn't come for so long has been given another token, or given up.
    private static let lasting = Duration.seconds(24 * 3600)

    /// - Parameters:
    ///   - subject: the state folder, whose tokens they are.
    ///   - uses: by the tokens' ids.
    package static func findings(
        _ list: TokenList, _ uses: [String: TokenUse], subject: String, now: Instant
    ) -> [Finding] {
        list.entries.compactMap { entry in
            guard let use = uses[entry.id], use.refused > 0, let first = use.firstRefused,
                let last = use.lastRefused, now - last < lasting
            else { return nil }
            let since = InstantText.iso8601(Instant(seconds: first.flooredSecond))
            let times = HumanFormat.count(Int(use.refused), "request")
            let who = "'\(entry.device)' of \(entry.user) (token \(entry.id))"
            let another = "'healthbus pair --user \(Advice.quoted(entry.user))' makes another token for it"
            switch entry.state(at: now) {
            case .valid: return nil
            case .ended:
                return Finding(
                    .warning, subject, "the token of \(who) has ended: \(times) refused since \(since)", remedy: another
                )
            case .revoked:
                // Whoever revoked it wants this.
                return Finding(
                    .note, subject,
                    "the token of \(who) was revoked, but is still used: \(times) refused since \(since)",
                    remedy: "nothing if the device is lost; if it is in use, \(another)")
            }
        }
    }
}
