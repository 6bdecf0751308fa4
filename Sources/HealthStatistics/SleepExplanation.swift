import HealthModel

/// Explains a session of sleep.
package struct SleepExplanation: Sendable, Equatable {
    /// Why the source of the stages was chosen: it is the first source by priority that reports this.
    package enum Knowledge: String, Sendable {
        case stages, sleep, awake, inBed
        /// No sample reports sleep; the figures come from an app's summary.
        case statistic
    }

    package struct Stretch: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        package var stage: SleepStage
    }

    package var session: SleepSession
    package var knows: Knowledge
    /// The source of the time in bed; nil if there is none.
    package var bedSource: String?
    /// Sources that have samples in this session but were left out, highest priority first.
    package var leftOut: [String]
    /// In order. Each instant counts for one stage only, as in the session's minutes; the time in bed includes the time
    /// asleep.
    package var stretches: [Stretch]

    /// How much of the session isn't in any stretch: neither asleep nor awake nor in bed.
    package var untold: Duration {
        knows == .statistic
            ? .zero : session.end - session.start - IntervalSet(stretches.map { $0.start..<$0.end }).length
    }
}

extension SleepAnalysis {
    /// The sessions that `sessions` returns for the same samples, each with what it was made of.
    package static func explanations(
        _ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder(), gap: Duration = .seconds(3600)
    ) -> [SleepExplanation] {
        let (samples, names) = Self.samples(page, rows: rows, order: order)
        return split(samples, gap: gap).compactMap { explain($0, names: names) }
    }

    private static func explain(_ all: [SleepSample], names: [String]) -> SleepExplanation? {
        guard let session = session(of: all, names: names) else { return nil }
        let chosen = choose(all)
        let left = Set(all.map(\.source)).subtracting(chosen.map(\.source))
        let bed = chosen.first { $0.stage == .inBed }
        let samples = chosen.filter { $0.statement == nil }
        let stages = samples.map(\.stage)
        let knows: SleepExplanation.Knowledge =
            session.isStatistic
            ? .statistic
            : stages.contains(where: \.isStaged)
                ? .stages : stages.contains(where: \.isAsleep) ? .sleep : stages.contains(.awake) ? .awake : .inBed
        return SleepExplanation(
            session: session, knows: knows, bedSource: bed.map { names[$0.source] },
            leftOut: left.sorted().map { names[$0] }, stretches: stretches(samples))
    }

    /// Assigns each instant to a single stage, with the same order of precedence as in a session's minutes.
    private static func stretches(_ samples: [SleepSample]) -> [SleepExplanation.Stretch] {
        var found: [SleepExplanation.Stretch] = []
        var taken = IntervalSet()
        func set(_ stage: SleepStage) -> IntervalSet {
            IntervalSet(samples.filter { $0.stage == stage }.map { $0.start..<$0.end })
        }
        func show(_ set: IntervalSet, _ stage: SleepStage) {
            found += set.ranges.map { .init(start: $0.lowerBound, end: $0.upperBound, stage: stage) }
        }
        for stage in [SleepStage.deep, .rem, .core, .unspecified] {
            show(set(stage).subtracting(taken), stage)
            taken = taken.union(set(stage))
        }
        show(set(.awake).subtracting(taken), .awake)
        let bed = set(.inBed)
        if !bed.isEmpty { show(bed.union(taken), .inBed) }
        return found.sorted { ($0.start, $0.stage.rawValue) < ($1.start, $1.stage.rawValue) }
    }
}
