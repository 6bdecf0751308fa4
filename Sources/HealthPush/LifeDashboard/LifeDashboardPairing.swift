import Foundation
import HealthModel

/// How to set up the app Life Dashboard Companion: a link that the app takes, with the address and the secret with which
/// it signs.
///
/// https://github.com/owen282000/life-dashboard-companion-app-ios
package struct LifeDashboardPairing: AppPairing {
    package static let name = "lifeDashboard"

    /// Where the phone sends: the address names it.
    package let url: String
    private let secret: String

    package init(_ phone: PairedPhone) {
        url = phone.address + WayIn.lifeDashboard.path.replacing("{phone}", with: phone.id)
        secret = phone.token
    }

    /// What it contains comes after `#`, which no browser sends to a server.
    package var link: String {
        let members = [
            ("v", "1"), ("url", url), ("secret", secret), ("name", "healthbus"), ("sources", "health_connect"),
        ]
        return "lifedashboard://pair#" + members.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
    }

    private static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    package var value: Value { ["url": .string(url), "link": .string(link)] }

    package func text(code: (String) -> String?) -> String {
        let scan =
            code(link).map { "1. Point the camera at this code and open it: the app takes the address.\n\n\($0)\n" }
            ?? "1. Open this link on the phone: the app takes the address.\n\n\(link)\n\n"
        return """
            In the app Life Dashboard Companion (free, for iPhone and Android):

            \(scan)2. Choose what it may read, active and total calories both, and tap Sync Now: the last week arrives.
               'healthbus days' shows it.
            3. For earlier times tap Backfill, or import an export once.

            By hand instead of 1: Webhooks, Add, this URL, and as the signing secret the token above:

               \(url)

            """
    }
}
