/// What a request may be pushed to that brings samples: by it quarantine lists name where an item came from.
package enum IngestWay: String, Sendable, CaseIterable {
    case samples = "/v1/samples"
    case autoExport = "/v1/health-auto-export"
}
