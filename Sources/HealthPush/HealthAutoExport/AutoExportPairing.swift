import Foundation
import HealthModel

/// How to set up the app Health Auto Export to send to a stack, as documented by its makers: its settings by name, and
/// links that set them.
///
/// https://help.healthyapps.dev/en/health-auto-export/automations/rest-api and …/deep-link
package struct AutoExportPairing: AppPairing {
    package static let name = "healthAutoExport"

    /// The app sends one kind of data per automation.
    package enum Automation: String, Sendable, CaseIterable {
        case metrics, workouts
    }

    package let url: String
    private let token: String

    package init(_ phone: PairedPhone) {
        url = phone.address + WayIn.healthAutoExport.path
        token = phone.token
    }

    var authorization: String { "Bearer \(token)" }

    /// The settings that both automations share.
    var common: [(name: String, value: String)] {
        [
            ("Automation Type", "REST API"), ("URL", url), ("Header Key", "Authorization"),
            ("Header Value", authorization), ("Export Format", "JSON"), ("Export Version", "v2"),
            // Each request contains yesterday and today: anything a watch hands over late is in the next one, and known
            // samples cost nothing.
            ("Date Range", "Default"), ("Batch Requests", "On"), ("Sync Cadence", "1 Hours"),
        ]
    }

    /// The settings of one automation.
    func settings(_ automation: Automation) -> [(name: String, value: String)] {
        switch automation {
        // Summaries can't be merged with data that arrives in other ways.
        case .metrics: [("Data Type", "Health Metrics"), ("Summarize Data", "Off")]
        case .workouts:
            [
                ("Data Type", "Workouts"), ("Include Route Data", "On"), ("Include Workout Metrics", "On"),
                ("Time Grouping", "Seconds"),
            ]
        }
    }

    /// A link that, when opened on the iPhone, creates the automation with all these settings. It contains the token.
    package func link(_ automation: Automation) -> String {
        var items = [
            ("url", url), ("name", "healthbus \(automation.rawValue)"), ("headers", "Authorization,\(authorization)"),
            ("datatype", automation == .metrics ? "healthMetrics" : "workouts"), ("format", "json"),
            ("exportversion", "v2"),
        ]
        switch automation {
        case .metrics: items += [("aggregatedata", "false"), ("aggregatesleep", "false")]
        case .workouts:
            items += [
                ("includeroutes", "true"), ("includeworkoutmetadata", "true"),
                ("workoutsmetadatainterval", "seconds"),
            ]
        }
        // Without `enabled` the app leaves the automation switched off. The date range isn't set, so the app's default
        // applies.
        items += [
            ("batchrequests", "true"), ("syncinterval", "hours"), ("syncquantity", "1"), ("enabled", "true"),
        ]
        let query = items.map { "\($0)=\(Self.escaped($1))" }.joined(separator: "&")
        return "com.HealthExport://automation?\(query)"
    }

    /// Escapes a value for a query, but only the characters that must be escaped (RFC 3986): a shorter link gives a
    /// code with larger squares.
    private static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/,@")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    package var value: Value {
        let links = Automation.allCases.map { ($0.rawValue, Value.string(link($0))) }
        return ["url": .string(url), "links": .object(Dictionary(uniqueKeysWithValues: links))]
    }

    package func text(code: (String) -> String?) -> String {
        var text = "In the app Health Auto Export on the iPhone (its REST API automations are a paid feature):\n\n"
        for (number, automation) in zip(1..., Automation.allCases) {
            let does = "makes the automation \"healthbus \(automation.rawValue)\""
            text +=
                code(link(automation)).map {
                    "\(number). Point the camera at this code and open it: it \(does).\n\n\($0)\n"
                }
                ?? "\(number). Open this link on the iPhone: it \(does).\n\n\(link(automation))\n\n"
        }
        text += "3. Run Manual Export in each: the first days arrive at once. 'healthbus days' shows them.\n"
        text +=
            "4. 'healthbus imports' says whether sums came instead of samples: then set Summarize Data to Off, and\n"
            + "   run Manual Export again.\n"
        return text + "\nBy hand instead of 1 and 2: Automations, New Automation, and\n\n\(byHand)"
    }

    private var byHand: String {
        let width = (common + settings(.metrics) + settings(.workouts)).map(\.name.utf8.count).max() ?? 0
        func lines(_ settings: [(name: String, value: String)]) -> String {
            settings.map { name, value in
                "   \(name)\(String(repeating: " ", count: width - name.utf8.count))  \(value)\n"
            }.joined()
        }
        return lines(common + settings(.metrics)) + "\nand a second one, the same but\n\n"
            + lines(settings(.workouts))
    }
}
