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
