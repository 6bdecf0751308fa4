import Configuration
import HealthModel
import Terminal

/// `healthbus token list`: who may use the stack's servers. It never contains a secret or its hash.
package struct TokenReport: Sendable {
    private let list: TokenList
    private let now: Instant
    private let uses: [String: TokenUse]

    /// - Parameter uses: by the tokens' ids.
    package init(_ list: TokenList, uses: [String: TokenUse] = [:], now: Instant) {
        (self.list, self.uses, self.now) = (list, uses, now)
    }

    package func table(for terminal: Terminal) -> String {
        var table = Table([
            .init("id"), .init("user"), .init("device"), .init("scope"), .init("created", givesWay: 1), .init("ends"),
            .init("last used"),
        ])
        for entry in list.entries {
            table.add([
                entry.id, entry.user, entry.device, entry.scope.rawValue, InstantText.iso8601(entry.created),
                end(of: entry), lastUse(of: entry),
            ])
        }
        return table.render(for: terminal)
    }

    private func lastUse(of entry: TokenEntry) -> String {
        guard let use = uses[entry.id] else { return "" }
        let last = use.last.map { InstantText.iso8601(Instant(seconds: $0.flooredSecond)) } ?? ""
        return use.refused == 0 ? last : (last.isEmpty ? "" : last + ", ") + "then refused \(use.refused) times"
    }

    private func end(of entry: TokenEntry) -> String {
        if let revoked = entry.revoked { return "revoked \(InstantText.iso8601(revoked))" }
        guard let ends = entry.ends else { return "never" }
        return (entry.state(at: now) == .ended ? "ended " : "") + InstantText.iso8601(ends)
    }

    package var value: Value {
        [
            "tokens": .array(
                list.entries.map { entry in
                    var members = entry.report(at: now).object ?? [:]
                    let use = uses[entry.id]
                    members["lastUsed"] = Value(use?.last.map { InstantText.iso8601($0) })
                    members["refused"] = .integer(use?.refused ?? 0)
                    members["lastRefused"] = Value(use?.lastRefused.map { InstantText.iso8601($0) })
                    return .object(members)
                })
        ]
    }
}

extension TokenEntry {
    /// What tools report about a token; `state` is valid, ended or revoked.
    package func report(at now: Instant) -> Value {
        [
            "id": .string(id), "user": .string(user), "device": .string(device), "scope": .string(scope.rawValue),
            "created": .string(InstantText.iso8601(created)), "ends": Value(ends.map { InstantText.iso8601($0) }),
            "revoked": Value(revoked.map { InstantText.iso8601($0) }), "state": .string(state(at: now).rawValue),
        ]
    }
}
