import HealthModel

/// One stretch of sleep: a night or a nap.
public struct SleepSession: Sendable, Equatable {
    /// The id of its first sample among those of `source` and of the time in bed.
    public var id: SampleID
    /// Going to bed, or falling asleep if that is earlier; without time in bed, the start of the first stage, which may
    /// be time awake.
    public var start: Instant
    /// Getting up, or waking up if that is later; without time in bed, the end of the last stage.
    public var end: Instant
    /// The last moment reported by any source, even one that was left out. It decides which day the session belongs to,
    /// so that the session never belongs to two days.
    public var reach: Instant
    /// The first source of its stages, or that of its time in bed if nothing else is known.
    public var source: String
    /// The sources whose sleep or time awake counts, `source` first; empty if only time in bed is known.
    public var sources: [SleepShare] = []
    /// Whether its durations were computed by an app that sent no stages.
    public var isStatistic = false

    // Minutes; nil if no source that counts has a sample of that kind.
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
    /// Time awake between first falling asleep and last waking; nil without sleep, or if no source reports time
    /// awake.
    public var wakeAfterOnset: Double?
    /// Time asleep as a fraction of the time in bed, 0 to 1; nil without time in bed.
    public var efficiency: Double?
}

/// What one source contributes to a session.
public struct SleepShare: Sendable, Equatable {
    /// Its name.
    public var source: String
    /// Minutes; nil if no such time of this source counts. Those of all sources add up to the session's.
    public var asleep: Double?
    /// Minutes awake, like `asleep`.
    public var awake: Double?
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
    /// - Parameters:
    ///   - choice: without statements.
    ///   - reach: the latest end of any source's samples.
    init?(_ choice: SleepChoice, names: [String], reach: Instant) {
        let (sleeping, waking, resting) = (choice.sleeping, choice.waking, choice.resting)
        guard let night = (resting ?? sleeping.union(waking)).hull else { return nil }
        id = choice.id
        source = names[choice.source]
        self.reach = reach
        (start, end) = (night.lowerBound, night.upperBound)

        func minutes(_ fits: (SleepChoice.Part) -> Bool) -> Double? {
            let parts = choice.parts.filter(fits)
            return parts.isEmpty ? nil : parts.reduce(.zero) { $0 + $1.time.length }.seconds / 60
        }
        func minutes(of stage: SleepStage) -> Double? { minutes { $0.stage == stage } }
        (deep, rem, core) = (minutes(of: .deep), minutes(of: .rem), minutes(of: .core))
        (unspecified, awake) = (minutes(of: .unspecified), minutes(of: .awake))
        asleep = minutes { $0.stage.isAsleep }
        var counted: [Int] = []
        for part in choice.parts where !part.time.isEmpty && counted.last != part.source { counted.append(part.source) }
        sources = counted.map { source in
            SleepShare(
                source: names[source], asleep: minutes { $0.source == source && $0.stage.isAsleep },
                awake: minutes { $0.source == source && $0.stage == .awake })
        }
        if awake != nil, let slept = sleeping.hull {
            wakeAfterOnset = waking.intersection(IntervalSet([slept])).length.seconds / 60
        }

        guard let resting else { return }
        inBed = resting.length.seconds / 60
        guard let onset = sleeping.hull?.lowerBound, let lyingDown = choice.bed.map(\.start).min() else { return }
        efficiency = Double(sleeping.length.microseconds) / Double(resting.length.microseconds)
        if lyingDown <= onset { latency = (onset - lyingDown).seconds / 60 }
    }
}
