/// A path that samples can be pushed to; the quarantine uses it to say where an item came from.
package enum IngestWay: String, Sendable, CaseIterable {
    case samples = "/v1/samples"
    case autoExport = "/v1/health-auto-export"
}
