import Foundation

/// How to set up the app Health Auto Export to send to a stack, as documented by its makers: its settings by name, and
/// links that set them.
///
/// https://help.healthyapps.dev/en/health-auto-export/automations/rest-api and …/deep-link
package struct HealthAutoExport: Sendable {
    /// The app sends one kind of data per automation.
    package enum Automation: String, Sendable, CaseIterable {
        case metrics, workouts

        /// The name of the data type in the app's list.
        var dataType: String { self == .metrics ? "Health Metrics" : "Workouts" }
    }

    package let url: String
    private let token: String

    package init(address: PhoneAddress, token: String) {
        url = address.url + "/v1/health-auto-export"
        self.token = token
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
        let own: [(name: String, value: String)] =
            switch automation {
            // Summaries can't be merged with data that arrives in other ways.
            case .metrics: [("Summarize Data", "Off")]
            case .workouts:
                [("Include Route Data", "On"), ("Include Workout Metrics", "On"), ("Time Grouping", "Seconds")]
            }
        return [("Data Type", automation.dataType)] + own
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
}
