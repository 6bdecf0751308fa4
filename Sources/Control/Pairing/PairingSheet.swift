import Configuration
import HealthModel
import HealthPush
import Inspection

/// `healthbus pair`: the settings that a phone needs, and instructions for entering them.
package struct PairingSheet: Sendable {
    private let address: PairingAddress
    private let secret: TokenSecret
    private let entry: TokenEntry
    private let apps: [any AppPairing]

    package init(_ address: PairingAddress, _ secret: TokenSecret, _ entry: TokenEntry) {
        (self.address, self.secret, self.entry) = (address, secret, entry)
        apps = WayIn.all.compactMap(\.pairing).map { $0.init(address: address.url, token: secret.text) }
    }

    package var value: Value {
        var members = entry.report(at: entry.created).object ?? [:]
        members["token"] = .string(secret.text)
        members["address"] = .string(address.url)
        members["reachable"] = .bool(address.isReachable)
        for app in apps { members[type(of: app).name] = app.value }
        return .object(members)
    }

    /// For people.
    /// - Parameter code: draws a link as a code for a camera; returns nil to leave it out.
    package func text(code: (String) -> String?) -> String {
        """
        address  \(address.url)
        token    \(secret.text)
                 shown only now; '\(entry.id)' names it, for user \(entry.user), device \(entry.device)

        """ + apps.map { $0.text(code: code) }.joined(separator: "\n")
    }
}
