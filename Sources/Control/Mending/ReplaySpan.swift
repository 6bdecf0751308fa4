import HealthModel

/// The days of a replay: local dates, both included. Pure.
package struct ReplaySpan: Sendable, Equatable {
    /// What is requested. Days without samples have nothing to compute, but the day after the last may contain the end
    /// of its night.
    package let days: ClosedRange<LocalDay>
    /// The days that people are told about: the same ones, without that day after the last.
    package let shown: ClosedRange<LocalDay>

    /// nil when there are no samples in that time.
    /// - Parameters:
    ///   - last: the last day; nil for the newest.
    ///   - samples: from the first day with a sample to the last.
    package init?(from first: LocalDay, through last: LocalDay?, samples: ClosedRange<LocalDay>) {
        let end = samples.upperBound.adding(days: 1)
        let from = max(first, samples.lowerBound)
        let through = min(last ?? end, end)
        guard from <= through else { return nil }
        days = from...through
        shown = from...max(from, min(through, samples.upperBound))
    }
}
