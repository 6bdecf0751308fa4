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
    /// A day that can't be computed is tried this often, then left out and counted.
    private static let attempts = 3

    /// Asks for the samples of the newest dirty days, once all that is released has been marked.
    /// - Parameter computing: the run whose days are about to be computed and aren't asked for again.
    func requestSlices(_ turn: Turn, computing: SliceRun? = nil) {
        guard upstream.isLive(within: Self.nearby), !upstream.isInaccessible else { return }
        while inFlight.count < Self.concurrentRuns,
            let run = nextRun(besides: Array(inFlight.values) + [computing].compactMap { $0 })
        {
            inFlight[turn.pull(upstream.producer, run.query).id] = run
        }
    }

    private func nextRun(besides runs: [SliceRun]) -> SliceRun? {
        let busy = Set(runs.flatMap { run in run.days.map { DirtyDays.Key(user: run.user, day: $0.day.number) } })
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
        let slices = days.flatMap { zones.slice(of: $0.0, window) }
        var query: [String: Value] = [
            "query": "slice", "user": .string(newest.user), "types": types, "asOf": upstream.cursor.anchor.wireValue,
            "detailed": .array(handler.detailedTypes.sorted().map { .string($0) }),
            "store": Value(upstream.cursor.store),
            "generation": Value(upstream.cursor.generation),
        ]
        if !handler.during.isEmpty { query["during"] = .object(handler.during.mapValues { .string($0) }) }
        // A date that was left out has no instants, and so no samples: an empty range.
        query["from"] = .integer(slices.map(\.lowerBound).min() ?? 0)
        query["to"] = .integer(slices.map(\.upperBound).max() ?? 0)
        return SliceRun(user: newest.user, days: days, query: query)
    }

    func receive(slice answer: PullAnswer, of run: SliceRun, _ turn: Turn) throws {
        var run = run
        switch answer.result {
        // The upstream's own cursor meets the reset too and marks the days anew.
        case .reset: return
        case .refused(let why): throw StageError.refused(producer: upstream.producer, why: why)
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
        // The next slices travel while these days are computed.
        requestSlices(turn, computing: run)
        for (day, generation) in run.days { try compute(day, generation: generation, run, turn) }
    }

    private func compute(_ day: LocalDay, generation: Int64, _ run: SliceRun, _ turn: Turn) throws {
        let key = DirtyDays.Key(user: run.user, day: day.number)
        guard let zones = timelines[run.user] else { return }
        let input = DayInput(
            user: run.user, day: day, window: window, zones: zones, cutting: run.samples, configuration: configuration,
            characteristics: characteristics[run.user])
        let output: DayOutput
        do {
            output = try handler.compute(input)
        } catch {
            failures[key, default: 0] += 1
            turn.log.error(
                "day.failed", ("handler", manifest.name), ("day", day.description), ("why", "\(error)"),
                ("attempt", "\(failures[key] ?? 0)"))
            // Its figures stay as they were; the day is kept as failed, and holds up no other.
            if failures[key, default: 0] >= Self.attempts {
                failures[key] = nil
                try dirty.fail(key, reason: "\(error)", turn)
                try dirty.clear(key, generation: generation, turn)
            }
            return
        }
        failures[key] = nil
        try dirty.succeed(key, turn)
        try write(output, key: key, turn)
        news.computed(key)
        try dirty.clear(key, generation: generation, turn)
    }

    private func write(_ output: DayOutput, key: DirtyDays.Key, _ turn: Turn) throws {
        _ = try turn.write()
        let figures = "figures.\(manifest.name)"
        let events = "events.\(manifest.name)"
        let figureKey = "figures/\(key.user)/\(LocalDay(number: key.day))"
        let before = turn.head.sequence
        var eventKeys: Set<String> = []
        for event in output.events {
            let eventKey = "event/\(key.user)/\(event.id)"
            eventKeys.insert(eventKey)
            let isNew = try turn.changelog.put(
                key: eventKey, topic: events, user: key.user, day: key.day,
                body: ["id": .string(event.id), "kind": .string(event.kind), "event": event.payload])
            if isNew { try tell(of: event, key: key, turn) }
        }
        for row in try turn.changelog.rows(user: key.user, days: key.day...key.day)
        where row.topic == events && !eventKeys.contains(row.key) {
            try turn.changelog.remove(key: row.key)
        }
        let afterEvents = turn.head.sequence
        if output.figures.isEmpty && output.hourly.isEmpty {
            try turn.changelog.remove(key: figureKey)
        } else {
            try turn.changelog.put(
                key: figureKey, topic: figures, user: key.user, day: key.day,
                body: ["figures": .object(output.figures), "hourly": .object(output.hourly)])
        }
        if afterEvents > before { turn.publish(events, ["head": turn.head.wireValue]) }
        if turn.head.sequence > afterEvents { turn.publish(figures, ["head": turn.head.wireValue]) }
    }
}
