import HealthModel

/// The baseline: no anchor; each wake sends whatever is dated since the previous wake, at most a day back, and then
/// forgets it. Whatever it misses is lost for good.
package struct NaiveSync {
    private var store: [SampleID: LifeSample] = [:]
    private var lastWake: Instant?
    package private(set) var arrivals: [SampleID: Instant] = [:]

    private static let reach = Duration.seconds(24 * 3600)

    package init() {}

    package var alive: [SampleID: Int] { arrivals.mapValues { _ in 1 } }

    package mutating func arrive(added: [LifeSample], deleted: [SampleID], at now: Instant) {
        for sample in added { store[sample.uuid] = sample }
        for uuid in deleted { store[uuid] = nil }
        // Samples older than that are never requested again.
        if store.count > 20_000 {
            let first = now - Self.reach * 2
            store = store.filter { $0.value.end > first }
        }
    }

    /// - Parameter isOnline: without a network, whatever it would have sent is lost.
    package mutating func wake(at now: Instant, isOnline: Bool) {
        let since = max(lastWake ?? .distantPast, now - Self.reach)
        lastWake = now
        guard isOnline else { return }
        for (uuid, sample) in store where sample.start >= since && arrivals[uuid] == nil { arrivals[uuid] = now }
    }
}
