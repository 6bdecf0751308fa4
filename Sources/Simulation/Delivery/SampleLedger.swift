import HealthModel

/// What the person's devices recorded: deliveries are measured against it.
package struct SampleLedger {
    private struct Made {
        var uuid: SampleID
        var saved: Instant
        var isDeleted = false
    }

    private var made: [Made] = []
    private var index: [SampleID: Int32] = [:]

    package init() {}

    package var count: Int { made.count }

    package mutating func note(added: [LifeSample], deleted: [SampleID]) {
        for sample in added where index[sample.uuid] == nil {
            index[sample.uuid] = Int32(made.count)
            made.append(Made(uuid: sample.uuid, saved: sample.saved))
        }
        for uuid in deleted { if let place = index[uuid] { made[Int(place)].isDeleted = true } }
    }

    /// The result of delivery.
    package struct Outcome: Equatable {
        /// Seconds from a sample's end (for typed-in ones, from typing) to the backend, sorted.
        package var delays: [Double] = []
        /// Alive on the phone but not at the backend, or the other way round.
        package var lost = 0
        /// There more than once.
        package var doubled = 0
    }

    /// - Parameters:
    ///   - arrivals: when each sample first arrived at the backend.
    ///   - alive: what the backend holds, and how often.
    package func compare(arrivals: [SampleID: Instant], alive: [SampleID: Int]) -> Outcome {
        var outcome = Outcome()
        for sample in made {
            if let at = arrivals[sample.uuid] { outcome.delays.append(max(.zero, at - sample.saved).seconds) }
            let copies = alive[sample.uuid] ?? 0
            if sample.isDeleted != (copies == 0) { outcome.lost += 1 }
            if copies > 1 { outcome.doubled += copies - 1 }
        }
        outcome.delays.sort()
        return outcome
    }
}
