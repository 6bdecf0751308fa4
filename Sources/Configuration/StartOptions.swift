import HealthModel

/// The options and variables of `up` that apply for as long as the stack runs, so that `healthbus start` can repeat
/// them, and other commands find the stack. Imports aren't repeated, and `--zone` only matters for people who are new at
/// that start.
package struct StartOptions: Codable, Sendable, Equatable {
    /// The absolute path of a folder from which files are imported automatically.
    package var inbox: String?
    /// The address at which the stack answers questions about its state: an `Endpoint`'s description.
    package var metrics: String?
    /// The values of those variables that were set and hold no secret, by name.
    @IfAny package var values: [String: String] = [:]
    /// The names of the other variables that were set. Their values may be secret, so `start` can't repeat them, only say
    /// which ones are missing.
    @IfAny package var variables: [String] = []

    /// - Parameters:
    ///   - environment: in which the stack is started.
    ///   - folders: the variables that hold the folders of destinations.
    package init(
        inbox: String? = nil, metrics: String? = nil, environment: [String: String] = [:], folders: Set<String> = []
    ) {
        (self.inbox, self.metrics) = (inbox, metrics)
        let plain = folders.union(Self.plain)
        values = environment.filter { plain.contains($0.key) && !$0.value.isEmpty }
        variables = Self.variables(in: environment).filter { !plain.contains($0) }
    }

    /// The variables that hold no secret, besides those that destinations declare for their folders: ports, and folders
    /// that are always absolute paths. Any other may hold one, whatever its name is: a server's URL can contain a
    /// password. `HEALTHBUS_PLUGINS` belongs to the release that is started, so it isn't kept either.
    package static let plain = ServerPort.allCases.map(\.variable) + [InboxFolder.variable]

    /// Those that `start` repeats, or that matter only to a person without a zone, or only for the log or for tests.
    private static let immaterial: Set = [
        "HEALTHBUS_STATE", "HEALTHBUS_CONFIG", "HEALTHBUS_ZONE", "HEALTHBUS_LOG", "HEALTHBUS_LOG_LEVEL",
        "HEALTHBUS_AUDIT",
    ]

    /// The names of the variables that decide what a stack does and may hold a secret, in order.
    package static func variables(in environment: [String: String]) -> [String] {
        environment.keys.filter { name in
            name.hasPrefix("HEALTHBUS_") && environment.filled(name) != nil
                && !immaterial.contains(name) && !plain.contains(name)
        }.sorted()
    }

    /// The variables set at the last start that aren't set now, and whose values aren't known.
    package func missing(in environment: [String: String]) -> [String] {
        variables.filter { environment.filled($0) == nil }
    }

    /// The variables set at the last start that aren't set now, with their values: what a command has to add to its
    /// environment in order to work on the stack as it was started. A person may have written others into the file.
    package func remembered(besides environment: [String: String]) -> [String: String] {
        values.filter { name, value in
            name.hasPrefix("HEALTHBUS_") && !Self.immaterial.contains(name) && name != "HEALTHBUS_PLUGINS"
                && !value.isEmpty && environment.filled(name) == nil
        }
    }

    /// The options as on the command line of `up`.
    package var words: [String] {
        (inbox.map { ["--inbox", $0] } ?? []) + (metrics.map { ["--metrics", $0] } ?? [])
    }
}
