import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// Days to compute again, for a chunk of a historical sync or for a person's request.
struct ReplayedDays: Sendable, Equatable {
    var id: String
    /// The first and last day, in days since 1970.
    var days: ClosedRange<Int>
    /// Once none of the days is left, they count as done, no matter what changes in them later.
    var isDone = false

    init?(_ announced: Replay) {
        guard let from = LocalDay(announced.from), let through = LocalDay(announced.through), from <= through else {
            return nil
        }
        id = announced.id
        days = from.number...through.number
    }

    /// The days as stored in the stage's file.
    var kept: Replay {
        Replay(
            id: id, from: LocalDay(number: days.lowerBound).description,
            through: LocalDay(number: days.upperBound).description, users: [:])
    }
}

/// The outcome of days that were computed since a person asked to replay some. This isn't stored: after a restart the
/// request begins again.
struct ReplayTally: Sendable {
    private var revised: Int64 = 0
    private var failures: Set<DirtyDays.Key> = []

    mutating func computed(_ key: DirtyDays.Key, isRevised: Bool) {
        failures.remove(key)
        if isRevised { revised += 1 }
    }

    /// Counts a day that was given up.
    mutating func failed(_ key: DirtyDays.Key) { failures.insert(key) }

    /// - Parameter days: the requested days, as days since 1970; nil for all that were computed in the meantime.
    func report(on days: ClosedRange<Int>?) -> ReplayReport {
        let dates = Set(failures.map(\.day)).filter { days?.contains($0) ?? true }
        return ReplayReport(revised: revised, failed: dates.sorted().map { LocalDay(number: $0).description })
    }
}

extension HandlerStage {
    /// Accepts a chunk of a historical sync. Its days are marked once, behind everything live, and don't hold back the
    /// frontier.
    func hear(_ announced: Replay, _ turn: Turn) throws {
        guard let new = ReplayedDays(announced), new.id != replayed?.id else { return }
        try mark(new, of: announced.users, turn)
        replayed = new
        try Freshness.keep("replay", Value(new.kept).json(), turn)
    }

    private func mark(_ replay: ReplayedDays, of users: [String: [Instant]], _ turn: Turn) throws {
        for user in timelines.users where users[user] != nil {
            for day in replay.days {
                try dirty.mark(.init(user: user, day: day), since: DirtyDays.behindEverything, turn)
            }
        }
    }

    func openReplay(_ turn: Turn) throws {
        guard let text = try Freshness.kept("replay", in: turn.database, { $0.bytes(0) }) else { return }
        replayed = try Value(json: text).read().flatMap { ReplayedDays($0) }
    }

    private func left(of replay: ReplayedDays) -> Int64 {
        Int64(dirty.marks.keys.count { replay.days.contains($0.day) })
    }

    /// For the heartbeat: the chunk and the number of its days that are left.
    func replayReport() -> ReplayProgress? {
        guard let chunk = replayed else { return nil }
        let left = chunk.isDone ? 0 : left(of: chunk)
        if left == 0 { replayed?.isDone = true }
        return ReplayProgress(id: chunk.id, left: left)
    }
}

extension HandlerStage {
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        switch request.action {
        case "replay":
            byHand = ReplayTally()
            if let since = request.since {
                forgetSlices()
                try freshness.rereads(through: upstream.frontier, turn)
                try upstream.rewind(to: since, turn)
            } else if let announced = request.days, let days = ReplayedDays(announced) {
                try mark(days, of: announced.users, turn)
            } else {
                return .refused("a replay needs 'from' and 'through', or 'since'")
            }
            return try repaired(request, turn)
        case "reset": return try reset(turn)
        case "watch": return try watch(request, turn)
        case let other: return .refused("a handler doesn't support '\(other)'")
        }
    }

    package func repaired(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        if request.action == "watch" { return watched(request, turn) }
        let left: Int64
        let days = request.days.flatMap { ReplayedDays($0) }
        if let days {
            left = self.left(of: days)
        } else {
            left = upstream.isLevel ? Int64(dirty.count) : max(1, Int64(dirty.count))
        }
        return left > 0 ? .underWay(left: left) : .done(Value(byHand.report(on: days?.days)))
    }

    /// Forgets the handler's position in the observer's changes, and derives every day again from what the observer
    /// then reports. The figures stay until then: days with the same result aren't published again, and figures that no
    /// longer exist are properly deleted.
    private func reset(_ turn: Turn) throws -> RepairOutcome {
        forgetSlices()
        try characteristics.forget(turn)
        try markEverything(turn)
        for key in dirty.failed { try dirty.mark(key, since: .beginning, turn) }
        try upstream.forget(turn)
        replayed = nil
        try turn.write().database.execute("DELETE FROM freshness WHERE key = 'replay'")
        return .done(["days": .integer(Int64(dirty.count))])
    }
}
