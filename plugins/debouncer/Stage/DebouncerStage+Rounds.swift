import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// The last thousand finished rounds: rows of the stage's own changelog under the topic `rounds`.
struct RoundLedger {
    static let topic = "rounds"
    static let retention: Int64 = 1000
    /// Rounds are written once this many are waiting, or once there has been nothing to do for a while, since a sync
    /// has no commit of its own.
    private static let capacity = 64
    private static let idle = Duration.seconds(2)

    private(set) var last: Int64 = 0
    private var unsaved: [Rounds.Round] = []
    private var added = MonotonicTime.distantPast
    /// Whether each of the last three rounds since the start succeeded, newest last.
    private(set) var recent: [Bool] = []

    mutating func open(_ turn: Turn) throws {
        let read = try turn.database.prepare("SELECT seq, key, topic, user, day, body FROM changes WHERE topic = ?")
        read.bind(1, Self.topic)
        for row in try KeyedChangelog.page(
            in: turn.database, after: .beginning, until: .end, topic: Self.topic, bytes: .max
        ).rows {
            last = max(last, row.body?.read(RoundResult.self)?.number ?? 0)
        }
    }

    mutating func add(_ round: Rounds.Round, at monotonic: MonotonicTime) {
        unsaved.append(round)
        added = monotonic
        recent = (recent + [round.isSuccess]).suffix(3)
    }

    /// Writes the waiting rounds if that costs nothing extra, or if there are many.
    mutating func save(isBusy: Bool, _ turn: Turn) throws {
        guard turn.isWriting || unsaved.count >= Self.capacity || (!isBusy && turn.monotonic - added >= Self.idle)
        else { return }
        try save(turn)
    }

    mutating func save(_ turn: Turn) throws {
        guard !unsaved.isEmpty else { return }
        _ = try turn.write()
        for round in unsaved {
            // A ring: the newest replaces the oldest.
            try turn.changelog.put(
                key: "round/\(round.number % Self.retention)", topic: Self.topic, user: "", day: nil,
                body: Value(round.result))
        }
        unsaved = []
    }

    var nextDeadline: MonotonicTime? { unsaved.isEmpty ? nil : added + Self.idle }
}

extension DebouncerStage {
    /// Ends the rounds whose consumers have all reached the target, or have failed.
    func finishRounds(_ turn: Turn) throws {
        for round in rounds.ended(at: turn.monotonic) {
            for (consumer, duration) in round.succeeded.sorted(by: { $0.key < $1.key }) {
                turn.log(
                    .syncMetric, ["consumer": consumer, "outcome": "completed", "seconds": duration.seconds])
            }
            for (consumer, why) in round.failed.sorted(by: { $0.key < $1.key }) {
                turn.log(.syncMetric, failed: true, ["consumer": consumer, "outcome": "failed", "why": why])
            }
            turn.log(
                .syncSummary, failed: !round.isSuccess,
                [
                    "reason": round.reason, "completed": round.succeeded.count, "failed": round.failed.count,
                    "seconds": round.duration.seconds,
                ])
            ledger.add(round, at: turn.monotonic)
            finish(.round(round.number), success: round.isSuccess, turn)
            if manual?.round == round.number { manual?.result = round }
            finishWakes(round)
        }
        try ledger.save(isBusy: rounds.open != nil, turn)
    }

    package func close(_ turn: Turn) throws { try ledger.save(turn) }

    /// Raises the alert `degraded` when the last rounds have failed, and clears it when one has succeeded since.
    func checkRounds(_ turn: Turn) throws {
        if ledger.recent.count == 3, !ledger.recent.contains(true) {
            try turn.raise(
                Alert(
                    .degraded, subject: "rounds", text: "The last three syncs have failed.",
                    remedy:
                        "'healthbus history' says which metric fails and why, 'healthbus status' which process is stuck."
                ))
        } else if ledger.recent.last == true {
            try turn.clear(.degraded, subject: "rounds")
        }
    }
}
