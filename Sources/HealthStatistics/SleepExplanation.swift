import HealthModel

/// Why a session of sleep is what it is.
package struct SleepExplanation: Sendable, Equatable {
    /// What the source of the stages was chosen for: it is the first by priority that knows this much.
    package enum Knowledge: String, Sendable {
        case stages, sleep, awake, inBed
    }

    package struct Stretch: Sendable, Equatable {
        package var start: Instant
        package var end: Instant
        package var stage: SleepStage
    }

    package var session: SleepSession
    package var knows: Knowledge
    /// The source of the time in bed; nil without any.
    package var bedSource: String?
    /// Sources with samples in this time that were left out, first by priority.
    package var leftOut: [String]
    /// In order. Stages hold each instant once, as the session's minutes count it; time in bed lies beneath them.
    package var stretches: [Stretch]
}

extension SleepAnalysis {
    /// The sessions that `sessions` gives for the same, each with what it was made of.
    package static func explanations(
        _ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder(), gap: Instant = 3600 * Instant.second
    ) -> [SleepExplanation] {
        let (samples, names) = Self.samples(page, rows: rows, order: order)
        return split(samples, gap: gap).flatMap { part in
            split(choose(part), gap: gap).compactMap { explain($0, of: part, names: names) }
        }
    }

    private static func explain(_ chosen: [SleepSample], of all: [SleepSample], names: [String]) -> SleepExplanation? {
        guard let session = SleepSession(chosen, names: names) else { return nil }
        let used = Set(chosen.map(\.source))
        let left = Set(all.filter { $0.start < session.end && session.start < $0.end }.map(\.source)).subtracting(used)
        let bed = chosen.first { $0.stage == .inBed }
        let stages = chosen.map(\.stage)
        let knows: SleepExplanation.Knowledge =
            stages.contains(where: \.isStaged)
            ? .stages : stages.contains(where: \.isAsleep) ? .sleep : stages.contains(.awake) ? .awake : .inBed
        return SleepExplanation(
            session: session, knows: knows, bedSource: bed.map { names[$0.source] },
            leftOut: left.sorted().map { names[$0] }, stretches: stretches(chosen))
    }

    /// Each instant in the stage that it counts for: the order is the one in which a session's minutes are claimed.
    private static func stretches(_ samples: [SleepSample]) -> [SleepExplanation.Stretch] {
        var found: [SleepExplanation.Stretch] = []
        var taken = IntervalSet()
        for stage in [SleepStage.deep, .rem, .core, .unspecified, .awake, .inBed] {
            let own = IntervalSet(samples.filter { $0.stage == stage }.map { $0.start..<$0.end })
            let shown = stage == .inBed ? own : own.subtracting(taken)
            taken = taken.union(own)
            found += shown.ranges.map { .init(start: $0.lowerBound, end: $0.upperBound, stage: stage) }
        }
        return found.sorted { ($0.start, $0.stage.rawValue) < ($1.start, $1.stage.rawValue) }
    }
}
