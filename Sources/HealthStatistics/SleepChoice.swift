import HealthModel

/// What counts of a session's samples: who said what about which time.
///
/// The sources are taken in order: those with stages first, then those with any sleep, then those with time awake only;
/// by priority within each. Each counts where none before it says asleep or awake. Outside the time between the first
/// and the last sample that counted before, it counts only if its sleep begins, or ends, more than the gap further out:
/// a source that wasn't worn yet, or has died, knows nothing there, but smaller differences are two views of the same
/// falling asleep or waking up.
struct SleepChoice {
    /// The time for which one source's stage counts. No instant is in two parts.
    struct Part {
        var source: Int
        var stage: SleepStage
        /// Empty if the chosen source reports the stage, but only where another of its stages counts.
        var time: IntervalSet
    }

    /// The session's first sample among those of the chosen source and the time in bed. It doesn't depend on what others
    /// fill in.
    let id: SampleID
    /// The first source that counts; that of the time in bed if nothing else is known.
    let source: Int
    /// By source, those that count first before others, then by stage.
    private(set) var parts: [Part] = []
    /// The time in bed from the chosen source or, if it has none, from the first that has.
    private(set) var bed: [SleepSample] = []
    /// If no sample reports sleep: the statistics of the night from the first source by priority that has any. Nothing
    /// else but time in bed then counts.
    private(set) var statements: [SleepSample] = []

    /// - Parameter all: the samples of a session, in order; nil if there are none.
    init?(_ all: [SleepSample], gap: Duration) {
        let samples = all.filter { $0.statement == nil }
        func first(where fits: (SleepStage) -> Bool) -> Int? {
            samples.filter { fits($0.stage) }.map(\.source).min()
        }
        let stated = samples.contains(where: \.stage.isAsleep) ? [] : all.filter { $0.statement != nil }
        let staged = first(where: \.isStaged) ?? first(where: \.isAsleep) ?? first { $0 == .awake }
        guard let source = stated.map(\.source).min() ?? staged ?? first(where: { $0 == .inBed }) else { return nil }
        self.source = source
        statements = stated.filter { $0.source == source }
        if !statements.contains(where: { $0.statement?.inBed != nil }) {
            let hasOwnBed = statements.isEmpty && samples.contains { $0.source == source && $0.stage == .inBed }
            let bedSource = hasOwnBed ? source : first { $0 == .inBed }
            bed = samples.filter { $0.stage == .inBed && $0.source == bedSource }
        }
        let own = statements.isEmpty ? samples.filter { $0.source == source && $0.stage != .inBed } : statements
        guard let start = (own + bed).map({ ($0.start, $0.id) }).min(by: <) else { return nil }
        id = start.1
        guard statements.isEmpty else { return }
        var known = IntervalSet()
        for source in Self.ranked(samples) {
            fill(source, samples.filter { $0.source == source && $0.stage != .inBed }, &known, gap)
        }
        // Lying awake before going to bed, or after getting up, isn't part of the night.
        guard let night = resting?.hull else { return }
        for index in parts.indices where parts[index].stage == .awake {
            parts[index].time = parts[index].time.intersection(IntervalSet([night]))
        }
    }

    /// The sources that say asleep or awake, first those that count first.
    private static func ranked(_ samples: [SleepSample]) -> [Int] {
        var ranks: [Int: Int] = [:]
        for sample in samples where sample.stage != .inBed {
            let rank = sample.stage.isStaged ? 0 : sample.stage.isAsleep ? 1 : 2
            ranks[sample.source] = min(rank, ranks[sample.source] ?? rank)
        }
        return ranks.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }

    /// Adds a source's samples where they count.
    /// - Parameter known: the time for which a source before this one says something.
    private mutating func fill(_ source: Int, _ samples: [SleepSample], _ known: inout IntervalSet, _ gap: Duration) {
        let limits = IntervalSet([Self.limits(samples, known, gap)])
        var taken = known
        for stage in [SleepStage.deep, .rem, .core, .unspecified, .awake] {
            let own = samples.filter { $0.stage == stage }.map { $0.start..<$0.end }
            guard !own.isEmpty else { continue }
            let time = IntervalSet(own).intersection(limits)
            let part = Part(source: source, stage: stage, time: time.subtracting(taken))
            if source == self.source || !part.time.isEmpty { parts.append(part) }
            taken = taken.union(time)
        }
        known = taken
    }

    /// The time within which a source may count.
    private static func limits(_ samples: [SleepSample], _ known: IntervalSet, _ gap: Duration) -> Range<Instant> {
        guard let hull = known.hull else { return .distantPast ..< .distantFuture }
        let asleep = samples.filter(\.stage.isAsleep)
        let isEarlier = asleep.contains { $0.start < hull.lowerBound && hull.lowerBound - $0.start > gap }
        let isLater = asleep.contains { $0.end > hull.upperBound && $0.end - hull.upperBound > gap }
        return (isEarlier ? .distantPast : hull.lowerBound)..<(isLater ? .distantFuture : hull.upperBound)
    }

    /// All sleep that counts.
    var sleeping: IntervalSet { IntervalSet(parts.filter(\.stage.isAsleep).flatMap(\.time.ranges)) }

    /// The time in bed, together with any sleep outside it; nil if no time in bed is known.
    var resting: IntervalSet? {
        bed.isEmpty ? nil : IntervalSet(bed.map { $0.start..<$0.end }).union(sleeping)
    }

    /// The time awake that counts.
    var waking: IntervalSet { IntervalSet(parts.filter { $0.stage == .awake }.flatMap(\.time.ranges)) }
}

extension IntervalSet {
    /// From the first instant to the last; nil if there are none.
    var hull: Range<Instant>? {
        guard let first = ranges.first, let last = ranges.last else { return nil }
        return first.lowerBound..<last.upperBound
    }
}
