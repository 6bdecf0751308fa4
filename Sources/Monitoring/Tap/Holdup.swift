import HealthModel

/// The first step that a sample hasn't passed, once that has lasted. Pure.
package struct Holdup {
    private var step: SampleTrace.Step?
    private var since: Instant?

    /// Windows of collected changes usually close within this time, which nobody needs to be told of.
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
