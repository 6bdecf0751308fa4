import HealthModel

/// An app's summary of a night, which says how long the person slept, was in bed and so on, but not when. In minutes;
/// nil for anything that the app doesn't report.
struct SleepStatement {
    var asleep: Double?
    var inBed: Double?
    var awake: Double?
    var core: Double?
    var deep: Double?
    var rem: Double?
    var unspecified: Double?
    /// The times of going to bed and getting up.
    var bedStart: Instant?
    var bedEnd: Instant?

    /// Reads the payload of a statistic (`asleepSeconds`, `coreSeconds`, …).
    ///
    /// Apps print 0 for values that they don't know, such as a stage in a night without stages, or the time in bed. If
    /// an app reports more sleep than the night is long, it has added up what several apps recorded of the same night:
    /// then the stages count, if these fit, and the sleep without a stage doesn't. If the stages don't fit either, the
    /// whole statistic is ignored. It is also ignored if it has neither sleep nor time in bed.
    init?(_ page: SamplePage, row: Int) {
        guard row < page.payload.count, page.start[row] < page.end[row],
            let body = try? Value(json: page.payload.bytes[page.payload.range(row)])
        else { return nil }
        func minutes(_ name: String) -> Double? { body[name + "Seconds"].double.flatMap { $0 > 0 ? $0 / 60 : nil } }
        asleep = minutes("asleep")
        inBed = minutes("inBed")
        (core, deep, rem) = (minutes("core"), minutes("deep"), minutes("rem"))
        unspecified = minutes("unspecified")
        if core != nil || deep != nil || rem != nil { awake = body["awakeSeconds"].double.map { $0 / 60 } }
        bedStart = body["inBedStart"].string.flatMap(InstantText.parse)
        bedEnd = body["inBedEnd"].string.flatMap(InstantText.parse)
        let length = (page.endOf(row) - page.startOf(row)).seconds / 60
        if asleep ?? 0 > length + 1 {
            let stages = (core ?? 0) + (deep ?? 0) + (rem ?? 0)
            guard stages > 0, stages <= length + 1 else { return nil }
            (asleep, unspecified) = (stages, nil)
        }
        guard asleep != nil || inBed != nil else { return nil }
    }
}

extension SleepSession {
    /// Adds up what an app reports about a session; nil when it reports nothing.
    /// - Parameters:
    ///   - statements: those of one source.
    ///   - bed: samples of time in bed, used if the statements have no time in bed.
    init?(_ statements: [SleepSample], bed: [SleepSample], names: [String], reach: Instant) {
        guard let first = statements.first else { return nil }
        let stated = statements.compactMap(\.statement)
        func sum(_ part: (SleepStatement) -> Double?) -> Double? {
            let parts = stated.compactMap(part)
            return parts.isEmpty ? nil : parts.reduce(0, +)
        }
        isStatistic = true
        id = first.id
        source = names[first.source]
        self.reach = reach
        start = (stated.compactMap(\.bedStart) + (statements + bed).map(\.start)).reduce(first.start, min)
        end = (stated.compactMap(\.bedEnd) + (statements + bed).map(\.end)).reduce(first.end, max)
        asleep = sum(\.asleep)
        (core, deep, rem, unspecified) = (sum(\.core), sum(\.deep), sum(\.rem), sum(\.unspecified))
        awake = sum(\.awake)
        if asleep != nil || awake != nil { sources = [SleepShare(source: source, asleep: asleep, awake: awake)] }
        let resting = IntervalSet(bed.map { $0.start..<$0.end })
        // Time in bed can't be shorter than the time asleep.
        inBed = (sum(\.inBed) ?? (resting.isEmpty ? nil : resting.length.seconds / 60)).map { max($0, asleep ?? 0) }
        if let asleep, let inBed { efficiency = asleep / inBed }
        // A statistic starts when the person falls asleep.
        let lyingDown = stated.first?.bedStart ?? resting.ranges.first?.lowerBound
        if asleep != nil, let lyingDown, lyingDown <= first.start { latency = (first.start - lyingDown).seconds / 60 }
    }
}
