import HealthModel

/// Nights and naps from the sleep samples of any number of sources.
public enum SleepAnalysis {
    /// The sessions, in order.
    ///
    /// Samples of all sources belong together unless a gap longer than `gap` separates them: as long as any source
    /// reports anything, even time awake, the night goes on. In each session, the stages come from one source: the
    /// source of highest priority that reports core, deep or REM sleep, or failing that, the first that reports any
    /// sleep. Time in bed comes from that source too, or else from the first source that has it. What other sources
    /// report about sleep isn't counted.
    ///
    /// An app's summary of a night counts only if none of a session's samples reports sleep (`choose`).
    ///
    /// - Parameters:
    ///   - rows: rows of `HKCategoryTypeIdentifierSleepAnalysis` in canonical order. Rows whose values aren't
    ///     HealthKit's raw values are left out.
    ///   - gap: the longest time without samples within a session.
    public static func sessions(
        _ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder(), gap: Duration = .seconds(3600)
    ) -> [SleepSession] {
        let (samples, names) = Self.samples(page, rows: rows, order: order)
        return split(samples, gap: gap).compactMap { session(of: $0, names: names) }
    }

    /// - Parameter all: the samples of all sources, in order.
    static func session(of all: [SleepSample], names: [String]) -> SleepSession? {
        let reach = all.reduce(.distantPast) { max($0, $1.end) }
        let chosen = choose(all)
        let statements = chosen.filter { $0.statement != nil }
        return statements.isEmpty
            ? SleepSession(chosen, names: names, reach: reach)
            : SleepSession(statements, bed: chosen.filter { $0.statement == nil }, names: names, reach: reach)
    }

    /// The rows about sleep, and the names of their sources by priority.
    static func samples(
        _ page: SamplePage, rows: [Int], order: SourceOrder
    ) -> (samples: [SleepSample], names: [String]) {
        let groups = SourceGroups(page, rows: rows, order: order)
        let samples = zip(rows, groups.ofRow).compactMap { row, source -> SleepSample? in
            if page.flags[row].contains(.statistics) {
                return SleepStatement(page, row: row).map {
                    SleepSample(
                        id: page.ids[row], start: page.startOf(row), end: page.endOf(row), stage: .unspecified,
                        source: Int(source), statement: $0)
                }
            }
            guard page.start[row] < page.end[row], let raw = Int(exactly: page.value[row]),
                let stage = SleepStage(rawValue: raw)
            else { return nil }
            return SleepSample(
                id: page.ids[row], start: page.startOf(row), end: page.endOf(row), stage: stage, source: Int(source))
        }
        return (samples, groups.sources.map(\.name))
    }

    /// The index of the main session: the one with the most sleep, or the longest if none has any. If several sessions
    /// tie, it is the first.
    public static func main(of sessions: [SleepSession]) -> Int? {
        sessions.indices.max { a, b in
            let (first, second) = (sessions[a], sessions[b])
            let (asleep, other) = (first.asleep ?? 0, second.asleep ?? 0)
            if asleep != other { return asleep < other }
            let (length, otherLength) = (first.end - first.start, second.end - second.start)
            return length != otherLength ? length < otherLength : a > b
        }
    }

    /// Splits samples, in order of their starts, at gaps. An app's summary is a whole night, so the next one of the same
    /// source is another night even if they touch.
    static func split(_ samples: [SleepSample], gap: Duration) -> [[SleepSample]] {
        var parts: [[SleepSample]] = []
        var end = Instant.distantPast
        var summed: Set<Int> = []
        for sample in samples {
            let isNextNight = sample.statement != nil && summed.contains(sample.source)
            if parts.isEmpty || isNextNight || sample.start > end && sample.start - end > gap {
                summed = []
                parts.append([sample])
                end = sample.end
            } else {
                parts[parts.count - 1].append(sample)
                end = max(end, sample.end)
            }
            if sample.statement != nil { summed.insert(sample.source) }
        }
        return parts
    }

    /// The samples of a session that count: one source's stages, and one source's time in bed. If no sample reports
    /// sleep, the night's statistics are used instead, from the first source by priority that has any; if they have no
    /// time in bed, it is taken from the samples.
    static func choose(_ all: [SleepSample]) -> [SleepSample] {
        let samples = all.filter { $0.statement == nil }
        if samples.count < all.count, !samples.contains(where: \.stage.isAsleep),
            let source = all.filter({ $0.statement != nil }).map(\.source).min()
        {
            let statements = all.filter { $0.statement != nil && $0.source == source }
            if statements.contains(where: { $0.statement?.inBed != nil }) { return statements }
            let bed = samples.filter { $0.stage == .inBed }.map(\.source).min()
            return statements + samples.filter { $0.stage == .inBed && $0.source == bed }
        }
        func first(where fits: (SleepStage) -> Bool) -> Int? {
            samples.filter { fits($0.stage) }.map(\.source).min()
        }
        let detail = first(where: \.isStaged) ?? first(where: \.isAsleep) ?? first { $0 == .awake }
        let hasOwnBed = samples.contains { $0.source == detail && $0.stage == .inBed }
        let bed = hasOwnBed ? detail : first { $0 == .inBed }
        return samples.filter { $0.source == ($0.stage == .inBed ? bed : detail) }
    }
}
