import HealthModel

/// The option 'samplesPerSecond'. Pure.
package struct Pace {
    /// 0 for no limit.
    private let samplesPerSecond: Double
    /// No samples are sent before this time.
    package private(set) var until = MonotonicTime.distantPast

    package init(samplesPerSecond: Double) { self.samplesPerSecond = samplesPerSecond }

    var isLimited: Bool { samplesPerSecond > 0 }

    /// Whether a delivery has to wait.
    package func delays(_ delivery: Delivery, at now: MonotonicTime) -> Bool {
        now < until && delivery.groups.contains { $0.isSamples && $0.batch.next != nil }
    }

    /// Counts what is sent towards the limit.
    package mutating func sent(_ group: DeliveryGroup, _ part: Range<Int>, at now: MonotonicTime) {
        guard isLimited, group.isSamples else { return }
        until = max(until, now) + .seconds(Double(part.count) / samplesPerSecond)
    }
}
