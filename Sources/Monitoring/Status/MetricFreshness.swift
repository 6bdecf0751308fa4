import Client
import Configuration
import HandlerKit
import HealthModel
import Inspection
import Protocol

/// When a metric was last synced, which only samples move, and when its handler last looked for some.
package struct MetricFreshness: Codable, Sendable, Equatable {
    /// The handler.
    package var metric: String
    /// In ISO 8601, UTC; nil for a metric that has had no samples.
    @OrNull package var lastSynced: String?
    /// The same; nil if the handler doesn't run, or hasn't looked yet.
    @OrNull package var lastChecked: String?
    /// Days still to be computed; nil if that isn't known.
    @OrNull package var pending: Int?

    package init(metric: String, lastSynced: String?, lastChecked: String?, pending: Int?) {
        (self.metric, self.lastSynced, self.lastChecked, self.pending) = (metric, lastSynced, lastChecked, pending)
    }

    /// - Parameter beat: the handler's heartbeat. If there is none, its file is read.
    init(
        _ handler: StackConfiguration.Instance, _ stack: Stack, _ reader: StackReader, _ beat: Heartbeat?
    ) throws {
        var (synced, pending) = (beat?.handler?.lastSynced, beat?.stage.pending)
        if beat == nil {
            (synced, pending) =
                try stack.kept(handler.name, reader) { database in
                    (try Freshness.lastSynced(in: database), try DirtyDays.count(in: database))
                } ?? (nil, nil)
        }
        func iso(_ instant: Instant?) -> String? { instant.map { InstantText.iso8601($0) } }
        self.init(
            metric: handler.name, lastSynced: iso(synced), lastChecked: iso(beat?.lastChecked), pending: pending)
    }

    /// All metrics, the stalest first; those that have had no samples come last.
    package static func all(_ stack: Stack, _ reader: StackReader) throws -> [MetricFreshness] {
        let handlers = stack.configuration.handlers
        let running = try handlers.map(\.name).filter { try reader.isRunning($0) }
        let beats = running.isEmpty ? [:] : try reader.gather(running, within: 1.5)
        return stalestFirst(
            try handlers.map { try MetricFreshness($0, stack, reader, beats[$0.name]?.beat) })
    }

    package static func stalestFirst(_ metrics: [MetricFreshness]) -> [MetricFreshness] {
        // Later than any date.
        func key(_ one: MetricFreshness) -> (String, String) { (one.lastSynced ?? "never", one.metric) }
        return metrics.sorted { key($0) < key($1) }
    }
}
