import Changelog
import HealthModel
import Protocol
import StageKit

/// What a day's summary is made of, and when it is written.
extension ConsolidatorStage {
    /// Days that are over are written in turns; a turn has at most this many.
    private static let daysPerTurn = 256

    /// Writes what is due: all touched days, and as many of those that have settled or become final as fit into a turn.
    func writeDays(_ turn: Turn) throws {
        let final = finishing.takeNewest(Self.daysPerTurn)
        for key in final {
            settled.remove(key)
            try finalise(key, turn)
        }
        if finishing.isEmpty, let heardAt = finishingMark {
            finishingMark = nil
            daily.reached(markOf: heardAt, turn)
        }
        for key in touched.sorted {
            // The day's parts have changed since the mark.
            finishing.remove(key)
            settled.remove(key)
            try rebuild(key, turn)
        }
        touched.removeAll()
        for key in settled.takeNewest(Self.daysPerTurn - final.count) { try rebuild(key, turn) }
    }

    /// Writes a day's summary from its parts. A final day whose content changes is open again.
    private func rebuild(_ key: SummaryDays.Key, _ turn: Turn) throws {
        let figures = try figures(of: key, turn)
        if figures.isEmpty { return try remove(key, turn) }
        var state = try days.state(of: key, turn) ?? SummaryDays.State()
        // A day whose content is the same as when it was last final needn't wait.
        state.isFinal = !state.isReopened && state.finalContent == SummaryDays.content(of: figures)
        try write(key, state, figures, turn)
    }

    /// Writes a day's summary as final; a day whose figures are all gone gets no summary.
    func finalise(_ key: SummaryDays.Key, _ turn: Turn) throws {
        var state = try days.state(of: key, turn) ?? SummaryDays.State()
        let figures = try figures(of: key, turn)
        if figures.isEmpty { return try remove(key, turn) }
        let content = SummaryDays.content(of: figures)
        if state.finalContent != content { state.revision += 1 }
        state.finalContent = content
        state.isFinal = true
        state.isReopened = false
        try write(key, state, figures, turn)
    }

    /// Removes the summary of a day without figures. How many times it became final is still remembered, so that no
    /// revision is used twice.
    private func remove(_ key: SummaryDays.Key, _ turn: Turn) throws {
        _ = try turn.write()
        try turn.remove(key: Self.changelogKey(key), topic: Self.topic, user: key.user, day: key.day)
        let revision = try days.state(of: key, turn)?.revision ?? 0
        try days.save(key, revision > 0 ? SummaryDays.State(isFinal: true, revision: revision) : nil, turn)
    }

    private func figures(of key: SummaryDays.Key, _ turn: Turn) throws -> [String: Value] {
        let (members, found) = try days.figures(of: key, turn)
        for collision in try collisions.set(found, of: key, turn) {
            turn.log(
                .figureCollides,
                ["figure": collision.figure, "handler": collision.handler, "taken": collision.taken ?? "the summary"])
        }
        return members
    }

    private func write(
        _ key: SummaryDays.Key, _ state: SummaryDays.State, _ figures: [String: Value], _ turn: Turn
    ) throws {
        var state = state
        state.isUnwritten = false
        try days.save(key, state, turn)
        let day = LocalDay(number: key.day)
        var summary = figures
        let zones = timelines[key.user]
        summary["user"] = .string(key.user)
        summary["date"] = .string(day.description)
        summary["zone"] = Value(zones.flatMap { Self.zone(of: day, $0) })
        summary["final"] = .bool(state.isFinal)
        summary["revision"] = .integer(state.revision)
        let waitsFor = state.isFinal || !isOver(key, at: turn.now) ? [] : missing
        summary["missing"] = .array(waitsFor.map { .string($0) })
        if let hours = try zones.flatMap({ try days.hours(of: key, $0, turn) }) {
            summary[SummaryDays.hoursMember] = hours
        }
        if !state.isFinal, !significance.isAny, let before = try publishedSummary(key, turn), before["final"] == false,
            !significance.isWorthPublishing(summary, after: before)
        {
            return
        }
        _ = try turn.write()
        try turn.put(
            key: Self.changelogKey(key), topic: Self.topic, user: key.user, day: key.day, body: .object(summary))
    }

    /// A day's summary as last published.
    private func publishedSummary(_ key: SummaryDays.Key, _ turn: Turn) throws -> [String: Value]? {
        try turn.changelog.rows(user: key.user, days: key.day...key.day).first { $0.key == Self.changelogKey(key) }?
            .body?.object
    }

    private static func changelogKey(_ key: SummaryDays.Key) -> String {
        "day/\(key.user)/\(LocalDay(number: key.day))"
    }
}
