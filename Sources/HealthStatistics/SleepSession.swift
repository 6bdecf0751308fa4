import HealthModel

/// One stretch of sleep: a night or a nap.
public struct SleepSession: Sendable, Equatable {
    /// The id of its first sample.
    public var id: SampleID
    /// The first moment that its sources report: going to bed if they report that, otherwise the start of the first
    /// stage, which may be time awake.
    public var start: Instant
    /// The last moment that its sources report: getting up if they report that, otherwise the end of the last stage.
    public var end: Instant
    /// The last moment reported by any source, even one that was left out. It decides which day the session belongs to,
    /// so that the session never belongs to two days.
    public var reach: Instant
    /// The source of its stages, or of its time in bed if nothing else is known.
    public var source: String
    /// Whether its durations were computed by an app that sent no stages.
    public var isStatistic = false

    // Minutes; nil if the source has no sample of that kind.
    /// All kinds of sleep together, with each instant counted once.
    public var asleep: Double?
    /// The time covered by in-bed samples, together with the time asleep: anyone asleep is in bed.
    public var inBed: Double?
    /// The time awake, without any time that is also counted as asleep.
    public var awake: Double?
    /// Core sleep.
    public var core: Double?
    /// Deep sleep.
    public var deep: Double?
    /// REM sleep.
    public var rem: Double?
    /// Sleep that the source doesn't assign to any stage.
    public var unspecified: Double?
    /// The time from going to bed to falling asleep; nil if no time in bed begins before falling asleep.
    public var latency: Double?
    /// Time awake between first falling asleep and last waking; nil without sleep, or if the source doesn't report time
    /// awake.
    public var wakeAfterOnset: Double?
    /// Time asleep as a fraction of the time in bed, 0 to 1; nil without time in bed.
    public var efficiency: Double?
}

/// HKCategoryValueSleepAnalysis.
public enum SleepStage: Int, Sendable, CaseIterable {
    case inBed = 0
    case unspecified = 1
    case awake = 2
    case core = 3
    case deep = 4
    case rem = 5

    var isAsleep: Bool { self != .inBed && self != .awake }
    var isStaged: Bool { self == .core || self == .deep || self == .rem }
}

/// One sleep sample, whose source is an index into the sources by priority.
struct SleepSample {
    var id: SampleID
    var start: Instant
    var end: Instant
    var stage: SleepStage
    var source: Int
    /// Set for a night that an app summed up; the sample's stage then means nothing.
    var statement: SleepStatement?
}

extension SleepSession {
    /// Computes a session from samples that belong together; nil if there are none.
    ///
    /// An instant with two stages counts as the first of these that applies: deep, then REM, core, unspecified, awake.
    /// - Parameter reach: the latest end of any source's samples.
    init?(_ samples: [SleepSample], names: [String], reach: Instant) {
        guard let first = samples.first else { return nil }
        id = first.id
        self.reach = reach
        start = first.start
        end = samples.reduce(first.end) { max($0, $1.end) }
        let detail = samples.first { $0.stage != .inBed } ?? first
        source = names[detail.source]

        func set(_ stage: SleepStage) -> IntervalSet {
            IntervalSet(samples.filter { $0.stage == stage }.map { $0.start..<$0.end })
        }
        func minutes(_ set: IntervalSet, of stage: SleepStage) -> Double? {
            samples.contains { $0.stage == stage } ? set.length.seconds / 60 : nil
        }
        var taken = IntervalSet()
        func claim(_ stage: SleepStage) -> Double? {
            let own = set(stage)
            defer { taken = taken.union(own) }
            return minutes(own.subtracting(taken), of: stage)
        }
        deep = claim(.deep)
        rem = claim(.rem)
        core = claim(.core)
        unspecified = claim(.unspecified)
        let sleeping = taken
        asleep = sleeping.isEmpty ? nil : sleeping.length.seconds / 60
        let waking = set(.awake).subtracting(sleeping)
        awake = minutes(waking, of: .awake)
        if let onset = sleeping.ranges.first?.lowerBound, let end = sleeping.ranges.last?.upperBound {
            wakeAfterOnset = minutes(waking.intersection(IntervalSet([onset..<end])), of: .awake)
        }

        let bed = set(.inBed)
        let resting = bed.union(sleeping)
        inBed = minutes(resting, of: .inBed)
        guard let bedTime = bed.ranges.first, let onset = sleeping.ranges.first else { return }
        efficiency = Double(sleeping.length.microseconds) / Double(resting.length.microseconds)
        if bedTime.lowerBound <= onset.lowerBound { latency = (onset.lowerBound - bedTime.lowerBound).seconds / 60 }
    }
}
