import Changelog
import HealthModel
import Protocol

/// The outcome of releases: a release opens a round, in which a consumer succeeds when it has consumed everything
/// released to it. Pure.
///
/// One round is open at a time; anything released in the meantime belongs to the next. So a stream of changes opens one
/// round after another, and no round waits forever.
package struct Rounds: Sendable, Equatable {
    package struct Round: Sendable, Equatable {
        package var number: Int64
        /// What opened it: "fire", "sync", "wake", "time of day", "foreground", "unlock", "task", or a task's identifier.
        package var reason: String
        /// When it began, by the wall clock.
        package var began: Instant
        var since: MonotonicTime
        /// Consumers that haven't reached the target yet.
        package var waiting: [String: AnchorVector]
        /// How long each consumer took.
        package var succeeded: [String: Duration] = [:]
        /// Why each failed.
        package var failed: [String: String] = [:]
        package var duration = Duration.zero
    }

    /// How far a consumer has come, according to its heartbeat.
    struct Standing: Sendable, Equatable {
        var frontier: SequenceNumber
        /// How far the consumer has come by type, if types differ; nil if `frontier` holds for all.
        var consumed: AnchorVector?
        var pending: Int
        var failedDays: Int
        /// When the consumer's last heartbeat arrived, and when the consumer last made progress.
        var heard: MonotonicTime
        var moved: MonotonicTime
    }

    /// A consumer that sends no heartbeat for this long is silent.
    package static let silence = Duration.seconds(15)

    /// How long a consumer may go without progress before it counts as failed.
    private let patience: Duration
    private var standings: [String: Standing] = [:]
    package private(set) var open: Round?
    private var next: Round?
    private var last: Int64

    /// - Parameter last: the number of the last stored round.
    package init(patience: Duration, last: Int64 = 0) {
        self.patience = patience
        self.last = last
    }

    package mutating func goOn(after last: Int64) { self.last = max(self.last, last) }

    /// Something has been released to these consumers; returns the number of the round whose end shows that they have
    /// it.
    @discardableResult
    package mutating func release(
        _ targets: [String: AnchorVector], reason: String, now: Instant, monotonic: MonotonicTime
    ) -> Int64 {
        guard open != nil else {
            last += 1
            open = Round(number: last, reason: reason, began: now, since: monotonic, waiting: targets)
            return last
        }
        if next == nil {
            last += 1
            next = Round(number: last, reason: reason, began: now, since: monotonic, waiting: [:])
        } else if reason != "fire" {
            next?.reason = reason
        }
        next?.waiting.merge(targets) { _, later in later }
        return next?.number ?? last
    }

    /// Records a consumer's report of its progress.
    package mutating func heard(_ beat: Heartbeat, of upstream: String, at monotonic: MonotonicTime) {
        guard let frontier = beat.frontier[upstream] else { return }
        let old = standings[beat.instance]
        let stage = beat.stage
        let pending = stage.pending ?? beat.uploaderStanding?.waiting ?? 0
        let consumed = stage.consumed
        let isMoving = old?.frontier != frontier || old?.pending != pending || old?.consumed != consumed
        standings[beat.instance] = Standing(
            frontier: frontier, consumed: consumed, pending: pending,
            failedDays: beat.handler?.failedDays ?? 0, heard: monotonic,
            moved: isMoving ? monotonic : old?.moved ?? monotonic)
        noteReached(beat.instance, at: monotonic)
    }

    /// A consumer that has reached the target is done with the round, whatever is reported under its name later.
    private mutating func noteReached(_ consumer: String, at monotonic: MonotonicTime) {
        guard let round = open, let target = round.waiting[consumer], hasReached(consumer, target) else { return }
        open?.waiting[consumer] = nil
        let failedDays = standings[consumer]?.failedDays ?? 0
        if failedDays > 0 {
            open?.failed[consumer] = "\(failedDays) day\(failedDays == 1 ? "" : "s") couldn't be computed"
        } else {
            open?.succeeded[consumer] = monotonic - round.since
        }
    }

    /// Whether a consumer has consumed everything up to `target`, including its outputs.
    package func hasReached(_ consumer: String, _ target: AnchorVector) -> Bool {
        guard let standing = standings[consumer] else { return false }
        if standing.frontier >= target.maximum { return true }
        if let consumed = standing.consumed { return !consumed.isBehind(target) }
        return target.exceptions.isEmpty && standing.frontier >= target.base
    }

    /// Rounds that have ended, oldest first.
    package mutating func ended(at monotonic: MonotonicTime) -> [Round] {
        var ended: [Round] = []
        while let waiting = open?.waiting.keys {
            for consumer in waiting { noteReached(consumer, at: monotonic) }
            guard var round = open else { break }
            for consumer in round.waiting.keys {
                let standing = standings[consumer]
                if monotonic - max(standing?.heard ?? .distantPast, round.since) >= Self.silence {
                    round.waiting[consumer] = nil
                    round.failed[consumer] = "not heard"
                } else if monotonic - max(standing?.moved ?? .distantPast, round.since) >= patience {
                    round.waiting[consumer] = nil
                    round.failed[consumer] = "no progress"
                }
            }
            open = round
            guard round.waiting.isEmpty else { break }
            round.duration = monotonic - round.since
            ended.append(round)
            open = next
            next = nil
            // The next round's time begins now, since it couldn't be checked before.
            open?.since = monotonic
        }
        return ended
    }

    /// Consumers that a round still waits for; nil once it has ended.
    package func waiting(in number: Int64) -> [String]? {
        [open, next].compactMap { $0 }.first { $0.number == number }?.waiting.keys.sorted()
    }

    /// When the next consumer will have failed, or been silent for too long; nil without an open round.
    package var nextDeadline: MonotonicTime? {
        guard let open else { return nil }
        return open.waiting.keys.map { consumer in
            let standing = standings[consumer]
            return min(
                max(standing?.heard ?? .distantPast, open.since) + Self.silence,
                max(standing?.moved ?? .distantPast, open.since) + patience)
        }.min()
    }

    /// Drops all rounds: the upstream has started over, so what they were waiting for will never come.
    package mutating func reset() {
        open = nil
        next = nil
        standings = [:]
    }
}

extension Rounds.Round {
    package var isSuccess: Bool { failed.isEmpty }

    /// "steps, sleep succeeded; energy failed (not heard)"
    package var summary: String {
        var parts: [String] = []
        if !succeeded.isEmpty { parts.append("\(succeeded.keys.sorted().joined(separator: ", ")) succeeded") }
        if !failed.isEmpty {
            parts.append(
                failed.sorted { $0.key < $1.key }.map { "\($0.key) failed (\($0.value))" }.joined(separator: ", "))
        }
        return parts.isEmpty ? "there was nothing to do" : parts.joined(separator: "; ")
    }

    var result: RoundResult {
        RoundResult(
            number: number, reason: reason, began: began, duration: duration.microseconds,
            succeeded: succeeded.mapValues(\.microseconds), failed: failed)
    }
}
