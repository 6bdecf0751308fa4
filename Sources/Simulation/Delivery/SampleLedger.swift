import HealthModel

/// What the person's devices recorded, against which deliveries are measured.
package struct SampleLedger {
    private struct Made {
        var uuid: SampleID
        var saved: Instant
        /// Which of `metrics`.
        var metric: UInt16
        /// The local hour in which the sample was saved.
        var hour: UInt8
        var isDeleted = false
    }

    private var made: [Made] = []
    private var index: [SampleID: Int32] = [:]
    private var metrics: [String] = []
    private var metricOfType: [String: UInt16] = [:]
    private let family: (String) -> String

    /// - Parameter family: the metric that a type belongs to.
    package init(family: @escaping (String) -> String) { self.family = family }

    /// - Parameter hour: the local hour of a moment.
    package mutating func note(added: [LifeSample], deleted: [SampleID], hour: (Instant) -> Int) {
        for sample in added where index[sample.uuid] == nil {
            index[sample.uuid] = Int32(made.count)
            made.append(
                Made(
                    uuid: sample.uuid, saved: sample.saved, metric: metric(of: sample.type),
                    hour: UInt8(hour(sample.saved))))
        }
        for uuid in deleted { if let place = index[uuid] { made[Int(place)].isDeleted = true } }
    }

    private mutating func metric(of type: String) -> UInt16 {
        if let known = metricOfType[type] { return known }
        let name = family(type)
        let place = metrics.firstIndex(of: name) ?? metrics.count
        if place == metrics.count { metrics.append(name) }
        metricOfType[type] = UInt16(place)
        return UInt16(place)
    }

    /// The result of delivery.
    package struct Outcome: Equatable {
        package var all = DelayFigures.Collector()
        package var byMetric: [String: DelayFigures.Collector] = [:]
        /// The number of samples, including those that were deleted before they arrived.
        package var recorded: [String: Int] = [:]
        /// The figures by the local hour in which a sample was saved.
        package var byHour = Array(repeating: DelayFigures.Collector(), count: 24)
        /// How many samples are alive on the phone but not at the backend, or the other way round.
        package var lost = 0
        /// How many copies the backend holds besides the first one of each sample.
        package var doubled = 0
        package var arrived = 0
    }

    /// - Parameters:
    ///   - arrivals: when each sample first arrived at the backend.
    ///   - alive: the samples that the backend holds, and how often each occurs.
    package func compare(arrivals: [SampleID: Instant], alive: [SampleID: Int]) -> Outcome {
        var outcome = Outcome()
        var byMetric = Array(repeating: DelayFigures.Collector(), count: metrics.count)
        for sample in made {
            outcome.recorded[metrics[Int(sample.metric)], default: 0] += 1
            let at = arrivals[sample.uuid]
            let copies = alive[sample.uuid] ?? 0
            if sample.isDeleted != (copies == 0) { outcome.lost += 1 }
            if copies > 1 { outcome.doubled += copies - 1 }
            if at != nil { outcome.arrived += 1 }
            // A sample that was deleted before its turn came needn't arrive.
            if at == nil, sample.isDeleted { continue }
            let delay = at.map { max(.zero, $0 - sample.saved).seconds }
            outcome.all.add(delay)
            byMetric[Int(sample.metric)].add(delay)
            outcome.byHour[Int(sample.hour)].add(delay)
        }
        outcome.byMetric = Dictionary(zip(metrics, byMetric)) { first, _ in first }
        return outcome
    }
}
