import Changelog
import Configuration
import HealthModel
import Protocol
import StageKit

extension HandlerStage {
    /// A day that can't be computed is tried this many times, then left out and counted as failed.
    private static let attempts = 3
    /// How many days may be outside the stage at once: while one is being computed, the next is waiting.
    private static let concurrentDays = 2

    /// Starts computing the days of the fetched slices: all of them now, or as many as may be outside the stage at
    /// once.
    func computeFetched(_ turn: Turn) throws {
        while let run = fetched.first {
            if case .beside = computer, asked.count >= Self.concurrentDays { return }
            guard let (day, generation) = run.days.first, let zones = timelines[run.user] else {
                fetched.removeFirst()
                continue
            }
            fetched[0].days.removeFirst()
            let job = DayJob(key: .init(user: run.user, day: day.number), generation: generation)
            let input = DayInput(
                user: run.user, day: day, window: window, zones: zones, cutting: run.samples,
                configuration: configuration, characteristics: characteristics[run.user])
            switch computer {
            case .function(let handler): try settle(job, Result { try handler.compute(input) }, turn)
            case .beside: asked[turn.perform(DayRequest(input: input))] = job
            }
        }
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        // The result for a day that was given up in the meantime is ignored.
        guard let job = asked.removeValue(forKey: result.id), let reply = result.value as? DayReply else { return }
        switch reply {
        case .computed(let output): try settle(job, .success(output), turn)
        case .failed(let reason): try settle(job, .failure(DayFailure(description: reason)), turn)
        case .unavailable(let error): throw error
        }
    }

    /// Commits the result for a day. A day that was marked again in the meantime stays dirty.
    private func settle(_ job: DayJob, _ result: Result<DayOutput, any Error>, _ turn: Turn) throws {
        let key = job.key
        switch result {
        case .success(let output):
            failures[key] = nil
            try dirty.succeed(key, turn)
            if dirty.failed.isEmpty { try turn.clear(.failedDays) }
            let before = turn.head.sequence
            try write(output, key: key, turn)
            byHand.computed(key, isRevised: turn.head.sequence > before)
        case .failure(let error):
            failures[key, default: 0] += 1
            turn.log(
                .dayFailed,
                [
                    "handler": manifest.name, "day": "\(LocalDay(number: key.day))", "why": "\(error)",
                    "attempt": failures[key] ?? 0,
                ])
            // The day's figures stay as they were; the day is recorded as failed, and doesn't hold up any other.
            guard failures[key, default: 0] >= Self.attempts else { return }
            failures[key] = nil
            try dirty.fail(key, reason: "\(error)", turn)
            byHand.failed(key)
            try alert(of: "\(error)", day: LocalDay(number: key.day), turn)
        }
        try dirty.clear(key, generation: job.generation, turn)
        // If data arrived in the meantime, it may be news in itself.
        if case .success = result, dirty.marks[key] == nil { news.computed(key) }
    }

    private func write(_ output: DayOutput, key: DirtyDays.Key, _ turn: Turn) throws {
        _ = try turn.write()
        let (figures, events) = ("figures.\(instance)", "events.\(instance)")
        let figureKey = "figures/\(key.user)/\(LocalDay(number: key.day))"
        // This includes events of the plugin that ran here before.
        let before = try turn.changelog.rows(user: key.user, days: key.day...key.day)
            .filter { $0.topic.hasPrefix("events.") }
        var eventKeys: Set<String> = []
        for event in output.events {
            let eventKey = Self.key(of: event, key.user, before)
            eventKeys.insert(eventKey)
            let isNew = try turn.put(
                key: eventKey, topic: events, stored: ChangedRow.topic(ofEvent: event.kind, instance: instance),
                user: key.user, day: key.day,
                body: Value(EventBody(id: event.id, kind: event.kind, event: event.payload)))
            if isNew { try alert(of: event, key: key, turn) }
        }
        for row in before where !eventKeys.contains(row.key) {
            try turn.remove(key: row.key, topic: events, user: key.user, day: key.day)
        }
        if output.figures.isEmpty && output.hourly.isEmpty {
            try turn.remove(key: figureKey, topic: figures, user: key.user, day: key.day)
        } else {
            try turn.put(
                key: figureKey, topic: figures, user: key.user, day: key.day,
                body: Value(FiguresBody(figures: output.figures, hourly: output.hourly)))
        }
    }
}
