import Changelog
import HealthModel
import Protocol

/// The outcome of releases: a release opens a round, in which a consumer succeeds when it has consumed everything
/// released to it. Pure.
///
/// One round is open at a time; anything released in the meantime belongs to the next. So a stream of changes opens one
/// round after another, and no round waits forever. A consumer's time begins with its own release, so it doesn't depend
/// on how long others take.
package struct Rounds: Sendable, Equatable {
    package struct Round: Sendable, Equatable {
        package var number: Int64
        /// What opened it: "fire", "sync", "wake", "time of day", "foreground", "unlock", "task", or a task's identifier.
        package var reason: String
        /// When it began, by the wall clock.
        package var began: Instant
        /// When its first release was made, and since when its consumers are waited for.
        private let released: MonotonicTime
        fileprivate(set) var since: MonotonicTime
        /// Consumers that haven't reached the target yet.
        package private(set) var waiting: [String: AnchorVector] = [:]
        /// When something was released to each consumer that it didn't have.
        private var spokenTo: [String: MonotonicTime] = [:]
        /// How long each consumer took since then.
        package private(set) var succeeded: [String: Duration] = [:]
        /// Why each failed.
        package private(set) var failed: [String: String] = [:]
        /// From the first release until the last consumer had reached the target or failed.
        package private(set) var duration = Duration.zero
        /// Whether its times say how fast syncs usually are: false during imports and historical syncs, and after many
        /// changes at once.
        package fileprivate(set) var isUsual = true

        fileprivate init(number: Int64, reason: String, began: Instant, since: MonotonicTime) {
            (self.number, self.reason, self.began, self.released, self.since) = (number, reason, began, since, since)
        }

        fileprivate mutating func add(_ targets: [String: AnchorVector], at monotonic: MonotonicTime) {
            for consumer in targets.keys where waiting[consumer] == nil {
                spokenTo[consumer] = monotonic
                succeeded[consumer] = nil
                failed[consumer] = nil
            }
            waiting.merge(targets) { _, later in later }
        }

        /// - Parameter why: why the consumer failed; nil if it has reached its target.
        fileprivate mutating func end(_ consumer: String, at monotonic: MonotonicTime, failed why: String?) {
            waiting[consumer] = nil
            if let why {
                failed[consumer] = why
            } else {
                succeeded[consumer] = monotonic - (spokenTo[consumer] ?? since)
            }
            duration = monotonic - released
        }
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
    /// More changes than this at once, a few seconds' work, don't show how fast syncs usually are.
    package static let manyChanges: Int64 = 5000

    /// How long a consumer may go without progress before it counts as failed.
    private let patience: Duration
    private var standings: [String: Standing] = [:]
    package private(set) var open: Round?
    private var next: Round?
    private var last: Int64
    /// The highest sequence number released so far; nil before the first release.
    private var highest: SequenceNumber?

    /// - Parameter last: the number of the last stored round.
    package init(patience: Duration, last: Int64 = 0) { (self.patience, self.last) = (patience, last) }

    package mutating func goOn(after last: Int64) { self.last = max(self.last, last) }

    /// Something has been released to these consumers; returns the number of the round whose end shows that they have
    /// it.
    /// - Parameter isUsual: whether nothing else, such as an import, slows the consumers down.
    @discardableResult
    package mutating func release(
        _ targets: [String: AnchorVector], reason: String, isUsual: Bool = true, now: Instant,
        monotonic: MonotonicTime
    ) -> Int64 {
        let top = targets.values.map(\.maximum).max() ?? .beginning
        let isFew = highest.map { top.value - $0.value <= Self.manyChanges } ?? false
        highest = max(highest ?? top, top)
        var round = open == nil ? nil : next
        if round == nil {
            last += 1
            round = Round(number: last, reason: reason, began: now, since: monotonic)
        } else if reason != "fire" {
            round?.reason = reason
        }
        round?.add(targets, at: monotonic)
        if !isUsual || !isFew { round?.isUsual = false }
        if open == nil { open = round } else { next = round }
        for consumer in targets.keys { noteReached(consumer, at: monotonic) }
        return last
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
        let failedDays = standings[consumer]?.failedDays ?? 0
        let why = failedDays > 0 ? "\(failedDays) day\(failedDays == 1 ? "" : "s") couldn't be computed" : nil
        for round in [\Rounds.open, \.next] {
            guard let target = self[keyPath: round]?.waiting[consumer], hasReached(consumer, target) else { continue }
            self[keyPath: round]?.end(consumer, at: monotonic, failed: why)
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
                    round.end(consumer, at: monotonic, failed: "not heard")
                } else if monotonic - max(standing?.moved ?? .distantPast, round.since) >= patience {
                    round.end(consumer, at: monotonic, failed: "no progress")
                }
            }
            open = round
            guard round.waiting.isEmpty else { break }
            ended.append(round)
            open = next
            next = nil
            // Only now are its consumers waited for.
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
        highest = nil
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
