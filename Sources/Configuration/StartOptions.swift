import HealthModel

/// The options of `up` that apply for as long as the stack runs, so that `healthbus start` can repeat them. Imports
/// aren't repeated, and `--zone` only matters for people who are new at that start.
package struct StartOptions: Codable, Sendable, Equatable {
    /// The absolute path of a folder from which files are imported automatically.
    package var inbox: String?
    /// The address at which the stack answers questions about its state: an `Endpoint`'s description.
    package var metrics: String?
    /// The names of the variables that were set. Their values may be secret, so `start` can't repeat them, only say which
    /// ones are missing.
    @IfAny package var variables: [String] = []

    package init(inbox: String? = nil, metrics: String? = nil, variables: [String] = []) {
        self.inbox = inbox
        self.metrics = metrics
        self.variables = variables
    }

    /// Those that `start` repeats, or that matter only to a person without a zone, or only for the log or for tests.
    private static let immaterial: Set = [
        "HEALTHBUS_STATE", "HEALTHBUS_CONFIG", "HEALTHBUS_ZONE", "HEALTHBUS_LOG", "HEALTHBUS_LOG_LEVEL",
        "HEALTHBUS_AUDIT",
    ]

    /// The names of the variables that decide what a stack does, in order.
    package static func variables(in environment: [String: String]) -> [String] {
        environment.filter { $0.key.hasPrefix("HEALTHBUS_") && !$0.value.isEmpty && !immaterial.contains($0.key) }
            .keys.sorted()
    }

    /// The variables set at the last start that aren't set now.
    package func missing(in environment: [String: String]) -> [String] {
        let set = Set(Self.variables(in: environment))
        return variables.filter { !set.contains($0) }
    }

    /// The options as on the command line of `up`.
    package var words: [String] {
        (inbox.map { ["--inbox", $0] } ?? []) + (metrics.map { ["--metrics", $0] } ?? [])
    }
}
