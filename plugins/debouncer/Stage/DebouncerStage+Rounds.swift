import Changelog
import HealthModel
import Protocol
import SQLite
import StageKit

/// The last thousand finished rounds: rows of the stage's own changelog under the topic `rounds`. And how fast each
/// consumer's syncs are, in a table of its own.
struct RoundLedger {
    static let topic = "rounds"
    private static let pace = ValueTable("pace")
    /// The subject of the alert about a consumer whose syncs have become slow.
    static func slow(_ consumer: String) -> String { "slow/\(consumer)" }
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
    private var paces: [String: SyncPace] = [:]
    private var unsavedPaces: Set<String> = []

    /// - Parameter consumers: those of the stack; how fast others were is forgotten.
    mutating func open(consumers: Set<String>, _ turn: Turn) throws {
        try Self.pace.create(in: turn.database)
        var former: [String] = []
        try Self.pace.forEach(in: turn.database) { consumer, kept in
            if consumers.contains(consumer) {
                paces[consumer] = kept.read(SyncPace.self)
            } else {
                former.append(consumer)
            }
        }
        for consumer in former {
            try Self.pace.remove(consumer, turn)
            try turn.clear(.degraded, subject: Self.slow(consumer))
        }

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

    /// Compares a consumer's time with its past; returns its pace if it has just become slow, or fast again.
    mutating func compare(_ consumer: String, _ duration: Duration, at now: Instant) -> SyncPace? {
        unsavedPaces.insert(consumer)
        let isNew = paces[consumer, default: SyncPace()].add(duration, at: now)
        return isNew ? paces[consumer] : nil
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
        for consumer in unsavedPaces.sorted() {
            if let pace = paces[consumer] { try Self.pace.set(consumer, to: Value(pace), turn) }
        }
        unsavedPaces = []
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
            if round.isUsual, isUndisturbed { try compare(round, turn) }
            finish(.round(round.number), success: round.isSuccess, turn)
            if manual?.round == round.number { manual?.result = round }
            finishWakes(round)
        }
        try ledger.save(isBusy: rounds.open != nil, turn)
    }

    package func close(_ turn: Turn) throws { try ledger.save(turn) }

    /// Whether neither an import nor a historical sync slows syncs down.
    var isUndisturbed: Bool { !window.isImporting && historical.sync == nil }

    /// Raises the alert `degraded` for a consumer whose syncs have become slow, and clears it when they are fast again.
    private func compare(_ round: Rounds.Round, _ turn: Turn) throws {
        for (consumer, duration) in round.succeeded.sorted(by: { $0.key < $1.key }) {
            // Whoever had everything already had nothing to do.
            guard duration > .zero, let pace = ledger.compare(consumer, duration, at: turn.now) else { continue }
            let subject = RoundLedger.slow(consumer)
            guard pace.isSlow, let (now, before) = pace.medians else {
                try turn.clear(.degraded, subject: subject)
                continue
            }
            func text(_ time: Duration) -> String {
                time < .seconds(1) ? "\(time.microseconds / 1000) ms" : "\(time.seconds.rounded(decimals: 1)) s"
            }
            let isDestination = consumers.contains { $0.name == consumer && $0.role == .uploader }
            try turn.raise(
                Alert(
                    .degraded, subject: subject,
                    text:
                        "Syncs of \(consumer) have become slow: the last ones took \(text(now)), those of earlier days "
                        + "\(text(before)) (medians).",
                    remedy: "'healthbus top' shows which process is busy"
                        + (isDestination ? "; if none is, the destination's server is slow" : "")
                        + "; 'healthbus history' shows how long syncs take."))
        }
    }

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
