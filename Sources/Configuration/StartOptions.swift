/// The options of `up` that apply for as long as the stack runs, so that `healthbus start` can repeat them. Imports are
/// done once, and `--zone` only matters at a state folder's first start.
package struct StartOptions: Codable, Sendable, Equatable {
    /// The absolute path of a folder from which files are imported automatically.
    package var inbox: String?
    /// Where the stack answers questions about its state: an `Endpoint`'s description.
    package var metrics: String?

    package init(inbox: String? = nil, metrics: String? = nil) {
        self.inbox = inbox
        self.metrics = metrics
    }

    /// As on the command line of `up`.
    package var words: [String] {
        (inbox.map { ["--inbox", $0] } ?? []) + (metrics.map { ["--metrics", $0] } ?? [])
    }
}
