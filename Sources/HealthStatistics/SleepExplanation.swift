import HealthModel

/// Explains a session of sleep.
package struct SleepExplanation: Sendable, Equatable {
    /// Why the session's source counts first: it is the first source by priority that reports this.
    package enum Knowledge: String, Sendable {
        case stages, sleep, awake, inBed
        /// No sample reports sleep; the figures come from an app's summary.
        case statistic
    }

    package struct Stretch: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        package var stage: SleepStage
        package var source: String
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
    package var unknown: Duration {
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
        return split(samples, gap: gap).compactMap { explain($0, names: names, gap: gap) }
    }

    private static func explain(_ all: [SleepSample], names: [String], gap: Duration) -> SleepExplanation? {
        guard let (session, choice) = session(of: all, names: names, gap: gap) else { return nil }
        let counted = choice.parts.filter { !$0.time.isEmpty }.map(\.source) + choice.bed.map(\.source)
        let left = Set(all.map(\.source)).subtracting(counted + [choice.source])
        let stages = choice.parts.filter { $0.source == choice.source }.map(\.stage)
        let knows: SleepExplanation.Knowledge =
            session.isStatistic
            ? .statistic
            : stages.contains(where: \.isStaged)
                ? .stages : stages.contains(where: \.isAsleep) ? .sleep : stages.contains(.awake) ? .awake : .inBed
        return SleepExplanation(
            session: session, knows: knows, bedSource: choice.bed.first.map { names[$0.source] },
            leftOut: left.sorted().map { names[$0] }, stretches: stretches(choice, names: names))
    }

    private static func stretches(_ choice: SleepChoice, names: [String]) -> [SleepExplanation.Stretch] {
        var found: [SleepExplanation.Stretch] = []
        func show(_ time: IntervalSet, _ stage: SleepStage, _ source: Int) {
            found += time.ranges.map {
                .init(start: $0.lowerBound, end: $0.upperBound, stage: stage, source: names[source])
            }
        }
        for part in choice.parts { show(part.time, part.stage, part.source) }
        if let resting = choice.resting, let source = choice.bed.first?.source { show(resting, .inBed, source) }
        return found.sorted { ($0.start, $0.stage.rawValue) < ($1.start, $1.stage.rawValue) }
    }
}
