/// What can be asked for.
package enum IngestRoute: String, CaseIterable {
    case samples = "/v1/samples"
    case healthAutoExport = "/v1/health-auto-export"
    case wake = "/v1/wake"
    /// Whether the process is there: the only one without a token.
    case health = "/v1/health"

    package var method: String { self == .health ? "GET" : "POST" }
}
