import HealthModel

/// When a sample's steps were done, as far as the stages' stores and one look after another show. Pure.
///
/// A stage that doesn't record when it passed a sample on is only seen to have done so, perhaps after the next stage
/// has already committed its part. Its step can't be later than what followed from it.
package struct StepTimes {
    /// When each step was last seen not to be done.
    private var undone: [String: Instant] = [:]
    /// A heartbeat may say a moment late that a step is done.
    private static let lag = Duration.seconds(1)

    package init() {}

    /// - Parameters:
    ///   - asked: the time of the look; nil for the first one: whatever is done then was done before.
    /// - Returns: each step, without the time of a row that is older than the sample's passing, and by when it was done.
    package mutating func look(_ trace: SampleTrace, asked: Instant, isFirst: Bool) -> [(
        step: SampleTrace.Step, seen: Instant?
    )] {
        let stored = trace.steps.first?.at
        let steps = trace.steps.map { step in
            var step = step
            let earliest = [stored, undone[Self.key(step)].map { $0 - Self.lag }].compactMap { $0 }.max()
            // A row that the sample didn't change has the time of its last change.
            if let at = step.at, let earliest, at < earliest { step.at = nil }
            return step
        }
        for step in steps where step.isDone != true { undone[Self.key(step)] = asked }
        return steps.enumerated().map { place, step in
            guard !isFirst else { return (step, nil) }
            let after =
                Self.causes.contains(step.name) ? steps[place...].compactMap { $0.isDone == true ? $0.at : nil } : []
            let latest = after.min().map { max($0, undone[Self.key(step)].map { $0 - Self.lag } ?? $0) }
            return (step, min(asked, latest ?? asked))
        }
    }

    /// The steps from which all later ones follow.
    private static let causes: Set<String> = ["fired", "released"]

    private static func key(_ step: SampleTrace.Step) -> String { "\(step.name) \(step.instance) \(step.day ?? "")" }
}

/// The first step that a sample hasn't passed, once that has lasted. Pure.
package struct Holdup {
    private var step: SampleTrace.Step?
    private var since: Instant?

    /// Windows of collected changes usually close within this time, which nobody needs to know.
    private static let patience = Duration.seconds(1)

    package init() {}

    /// - Returns: that step with the reason, once for each reason; nil while there is none, or it hasn't lasted.
    package mutating func lasting(_ steps: [SampleTrace.Step], at now: Instant) -> SampleTrace.Step? {
        var first = steps.first { $0.isDone != true }
        first?.isDone = false
        guard first?.name == step?.name, first?.instance == step?.instance, first?.why == step?.why else {
            (step, since) = (first, now)
            return nil
        }
        guard let began = since, now - began >= Self.patience, first?.why != nil else { return nil }
        since = nil
        return first
    }
}
