/// How many entries of a metric were taken as statistics rather than samples, and why.
package struct TakenStatistics: Codable, Sendable, Equatable {
    /// The identifier of the samples' type; the entries are under `HealthType.statistics(of:)`.
    package var type: String
    package var count: Int64
    package var reason: String

    package init(type: String, count: Int64, reason: String) {
        (self.type, self.count, self.reason) = (type, count, reason)
    }
}
