import HealthModel

/// Nights and naps from the sleep samples of any number of sources.
public enum SleepAnalysis {
    /// The sessions, in order.
    ///
    /// Samples of all sources belong together unless a gap longer than `gap` separates them: as long as any source
    /// reports anything, even time awake, the night goes on. Which of a session's samples count, `SleepChoice` decides.
    ///
    /// An app's summary of a night counts only if none of a session's samples reports sleep.
    ///
    /// - Parameters:
    ///   - rows: rows of `HKCategoryTypeIdentifierSleepAnalysis` in canonical order. Rows whose values aren't
    ///     HealthKit's raw values are left out.
    ///   - gap: the longest time without samples within a session.
    public static func sessions(
        _ page: SamplePage, rows: [Int], order: SourceOrder = SourceOrder(), gap: Duration = .seconds(3600)
    ) -> [SleepSession] {
        let (samples, names) = Self.samples(page, rows: rows, order: order)
        return split(samples, gap: gap).compactMap { session(of: $0, names: names, gap: gap)?.session }
    }

    /// - Parameter all: the samples of all sources, in order.
    static func session(
        of all: [SleepSample], names: [String], gap: Duration
    ) -> (session: SleepSession, choice: SleepChoice)? {
        guard let choice = SleepChoice(all, gap: gap) else { return nil }
        let reach = all.reduce(.distantPast) { max($0, $1.end) }
        let session =
            choice.statements.isEmpty
            ? SleepSession(choice, names: names, reach: reach)
            : SleepSession(choice.statements, bed: choice.bed, names: names, reach: reach)
        return session.map { ($0, choice) }
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
}
