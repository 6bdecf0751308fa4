import Changelog
import HealthModel
import Wire

/// Some days in a row whose samples are fetched in one slice.
struct SliceRun {
    var user: String
    /// With the mark that each day had when the slice was asked for.
    var days: [(day: LocalDay, generation: Int64)]
    var query: [String: Value]
    var samples = SamplePage()
}

extension HandlerStage {
    /// Slices under way at once: one is computed while the next travels.
    private static let concurrentRuns = 2
    private static let rowsPerRun = 20_000.0
    private static let longestRun = 16
    /// Closer than this to what is released, days are computed; further behind they would only be computed again.
    private static let nearby: Int64 = 5000

    /// Asks for the samples of the newest dirty days, once all that is released has been marked.
    func requestSlices(_ turn: Turn) {
        guard upstream.isLive(within: Self.nearby), !upstream.isHeldUp(turn) else { return }
        // One that is there may be computed while the others travel; no more of them, whoever computes.
        while inFlight.count < Self.concurrentRuns, inFlight.count + fetched.count <= Self.concurrentRuns,
            let run = nextRun()
        {
            inFlight[turn.pull(upstream.producer, run.query).id] = run
        }
    }

    /// The days whose samples are on their way or there.
    private var busy: Set<DirtyDays.Key> {
        var busy = Set(asked.values.map(\.key))
        for run in Array(inFlight.values) + fetched {
            for (day, _) in run.days { busy.insert(.init(user: run.user, day: day.number)) }
        }
        return busy
    }

    /// Slices of a store that is gone must not become figures.
    func forgetSlices() {
        inFlight = [:]
        fetched = []
        asked = [:]
    }

    private func nextRun() -> SliceRun? {
        let busy = busy
        guard
            let newest = dirty.marks.filter({ !busy.contains($0.key) }).max(by: { a, b in
                // What is computed once more for a historical sync waits for all that has changed.
                let (isLive, wins) = (
                    a.value.since != DirtyDays.behindEverything, b.value.since != DirtyDays.behindEverything
                )
                return isLive == wins ? (a.key.day, a.key.user) < (b.key.day, b.key.user) : wins
            })?.key,
            let zones = timelines[newest.user]
        else { return nil }
        let limit = max(1, min(Self.longestRun, Int(Self.rowsPerRun / max(rowsPerDay, 1))))
        var days: [(LocalDay, Int64)] = []
        var key = newest
        while days.count < limit, !busy.contains(key), let mark = dirty.marks[key] {
            days.append((LocalDay(number: key.day), mark.generation))
            key.day -= 1
        }
        let query = sliceQuery(newest.user, days.map(\.0), zones, as: upstream.cursor, window)
        return SliceRun(user: newest.user, days: days, query: query)
    }

    /// Asks for all samples of some days in a row, as they were where a cursor stands.
    func sliceQuery(
        _ user: String, _ days: [LocalDay], _ zones: ZoneTimeline, as cursor: Cursor, _ window: HandlerWindow
    ) -> [String: Value] {
        let slices = days.flatMap { zones.slice(of: $0, window) }
        var query: [String: Value] = [
            "query": "slice", "user": .string(user), "types": types, "asOf": cursor.anchor.wireValue,
            "detailed": .array(computer.traits.detailedTypes.sorted().map { .string($0) }),
            "store": Value(cursor.store), "generation": Value(cursor.generation),
        ]
        let during = computer.traits.during
        if !during.isEmpty { query["during"] = .object(during.mapValues { .string($0) }) }
        // A date that was left out has no instants, and so no samples: an empty range.
        query["from"] = .integer(slices.map(\.lowerBound).min() ?? 0)
        query["to"] = .integer(slices.map(\.upperBound).max() ?? 0)
        return query
    }

    func receive(slice answer: PullAnswer, of run: SliceRun, _ turn: Turn) throws {
        var run = run
        switch answer.result {
        // The upstream's own cursor meets the reset too and marks the days anew.
        case .reset: return
        case .refused(let why): return upstream.wasRefused(why, turn)
        // The days stay marked.
        case .databaseInaccessible: return upstream.becameInaccessible(turn)
        case .pages(let pages):
            for page in pages { run.samples.append(try SamplePage(wireValue: page["samples"])) }
            guard let last = pages.last else { throw StageError.unreadablePage(producer: upstream.producer) }
            if !last["continue"].isNull {
                run.query["continue"] = last["continue"]
                inFlight[turn.pull(upstream.producer, run.query).id] = run
                return
            }
        }
        rowsPerDay = rowsPerDay * 0.5 + Double(run.samples.count) / Double(run.days.count) * 0.5
        fetched.append(run)
        // The next slices travel while these days are computed.
        requestSlices(turn)
        try computeFetched(turn)
    }
}
