import Configuration
import HealthModel
import Inspection

/// `healthbus pair`: the settings that a phone needs, and instructions for entering them.
package struct PairingSheet: Sendable {
    private let address: PhoneAddress
    private let secret: TokenSecret
    private let entry: TokenEntry
    private let app: HealthAutoExport

    package init(_ address: PhoneAddress, _ secret: TokenSecret, _ entry: TokenEntry) {
        self.address = address
        self.secret = secret
        self.entry = entry
        app = HealthAutoExport(address: address, token: secret.text)
    }

    package var value: Value {
        var members = entry.report(at: entry.created).object ?? [:]
        members["token"] = .string(secret.text)
        members["address"] = .string(address.url)
        members["reachable"] = .bool(address.isReachable)
        members["healthAutoExport"] = [
            "url": .string(app.url),
            "links": .object(
                Dictionary(
                    uniqueKeysWithValues: HealthAutoExport.Automation.allCases.map {
                        ($0.rawValue, .string(app.link($0)))
                    })),
        ]
        return .object(members)
    }

    /// For people.
    /// - Parameter code: draws a link as a code for a camera; returns nil to leave it out.
    package func text(code: (String) -> String?) -> String {
        let codes = HealthAutoExport.Automation.allCases.map { (automation: $0, code: code(app.link($0))) }
        var text = """
            address  \(address.url)
            token    \(secret.text)
                     shown only now; '\(entry.id)' names it, for user \(entry.user), device \(entry.device)

            In the app Health Auto Export on the iPhone (its REST API automations are a paid feature):


            """
        for (number, (automation, code)) in zip(1..., codes) {
            let does = "makes the automation \"healthbus \(automation.rawValue)\""
            text +=
                code.map { "\(number). Point the camera at this code and open it: it \(does).\n\n\($0)\n" }
                ?? "\(number). Open this link on the iPhone: it \(does).\n\n\(app.link(automation))\n\n"
        }
        text += "3. Run Manual Export in each: the first days arrive at once. 'healthbus days' shows them.\n"
        text +=
            "4. 'healthbus imports' says whether sums came instead of samples: then set Summarize Data to Off, and\n"
            + "   run Manual Export again.\n"
        return text + "\nBy hand instead of 1 and 2: Automations, New Automation, and\n\n\(byHand)"
    }

    private var byHand: String {
        let width = (app.common + app.settings(.metrics) + app.settings(.workouts)).map(\.name.utf8.count).max() ?? 0
        func lines(_ settings: [(name: String, value: String)]) -> String {
            settings.map { name, value in
                "   \(name)\(String(repeating: " ", count: width - name.utf8.count))  \(value)\n"
            }.joined()
        }
        return lines(app.common + app.settings(.metrics)) + "\nand a second one, the same but\n\n"
            + lines(app.settings(.workouts))
    }
}
