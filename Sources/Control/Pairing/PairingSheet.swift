import Configuration
import HealthModel
import HealthPush
import Inspection

/// `healthbus pair`: the settings that a phone needs, and instructions for entering them.
package struct PairingSheet: Sendable {
    private let address: PairingAddress
    private let secret: TokenSecret
    private let entry: TokenEntry
    private let app: any AppPairing

    package init(_ app: WayIn.App, _ address: PairingAddress, _ secret: TokenSecret, _ entry: TokenEntry) {
        (self.address, self.secret, self.entry) = (address, secret, entry)
        self.app = app.pairing.init(PairedPhone(address: address.url, id: entry.id, token: secret.text))
    }

    package var value: Value {
        var members = entry.report(at: entry.created).object ?? [:]
        if !entry.isInvitation { members["token"] = .string(secret.text) }
        members["address"] = .string(address.url)
        members["reachable"] = .bool(address.isReachable)
        members[type(of: app).name] = app.value
        return .object(members)
    }

    /// For people.
    /// - Parameter code: draws a link as a code for a camera; returns nil to leave it out.
    package func text(code: (String) -> String?) -> String {
        """
        address  \(address.url)
        \(entry.isInvitation ? "code " : "token")    \(secret.text)
                 \(isOnce); '\(entry.id)' names it, for user \(entry.user), device \(entry.device)

        """ + app.text(code: code)
    }

    private var isOnce: String {
        entry.isInvitation ? "shown only now, and valid once, for seven days" : "shown only now"
    }
}
