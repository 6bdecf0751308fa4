import BackgroundDelivery
import Client
import Clocks
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Monitoring
import Protocol
import Synchronization

/// How a sync went, as `POST /api/sync` answers.
package struct SyncAnswer: Codable, Sendable, Equatable {
    package enum Result: String, Codable, Sendable { case newData, noData, failed, locked, underWay }

    package var result: Result
    /// What kept anything from being released; nil if nothing did.
    @OrNull package var why: String?
    /// For each metric or destination that failed, the reason.
    package var failed: [String: String] = [:]
    /// The metrics and destinations that haven't finished.
    package var waiting: [String] = []

    /// What the debouncer says about a sync, in the light of what is known about the metrics. Pure.
    /// - Parameters:
    ///   - before: when each metric was last synced when the sync began, and `now` at present.
    ///   - isLocked: whether the phone is locked.
    /// - Returns: nil while the sync is under way.
    package init?(
        _ reported: DebouncerDetails.Manual, before: [String: Instant], now: [String: Instant], isLocked: Bool
    ) {
        why = reported.problem
        if reported.problem != nil {
            result = isLocked ? .locked : .failed
        } else if let ended = reported.result {
            failed = ended.failed
            result = !ended.failed.isEmpty ? .failed : now != before ? .newData : .noData
        } else {
            return nil
        }
    }

    fileprivate init(underWay reported: DebouncerDetails.Manual?, why: String?) {
        result = .underWay
        waiting = reported?.waiting ?? []
        self.why = why
    }
}

extension Dashboard {
    /// How long a sync is waited for. It goes on afterwards, too.
    private static let patience = Duration.seconds(25)
    /// How long the debouncer may take to hear of the observer's head.
    private static let headPatience = Duration.seconds(5)

    func freshness() throws -> Value {
        let metrics = try MetricFreshness.all(stack, reader())
        return ["at": .string(InstantText.iso8601(parts.clock())), "metrics": .array(metrics.map { Value($0) })]
    }

    /// Makes the stack look for new data, as a phone's wake does, and waits for the end of the round.
    func sync(_ visitor: Visitor) throws -> SyncAnswer {
        try visitor.require(.ingest, for: "syncing")
        let debouncer = try stack.instance(.debouncer).name
        let turn = syncs.withLock { $0.enter(with: UUID().uuidString.lowercased(), at: MonotonicClock.now) }
        defer { if case .later = turn {} else { syncs.withLock { $0.leave() } } }
        switch turn {
        case .later(let seconds):
            throw DashboardProblem(
                429, "a sync has only just begun", hint: "try again in \(seconds) s",
                headers: ["Retry-After": String(seconds)])
        case .begin(let id): return try sync(id, debouncer, gives: true)
        case .join(let id): return try sync(id, debouncer, gives: false)
        }
    }

    /// - Parameter gives: whether this request gives the command; otherwise it waits for another's.
    private func sync(_ given: String, _ debouncer: String, gives: Bool) throws -> SyncAnswer {
        var id = given
        let client = parts.client
        let began = MonotonicClock.now
        _ = client.gather(stack.names.filter { $0 != stack.hub }, within: 1)
        let before = lastSynced
        var mine: DebouncerDetails.Manual?
        while MonotonicClock.now - began < Self.patience {
            let reported = client.heartbeats[debouncer]?.beat.debouncer?.manual
            if let reported, reported.id == id {
                mine = reported
                let isLocked = client.heartbeats[stack.observer]?.beat.observer?.device?.isLocked == true
                if let answer = SyncAnswer(reported, before: before, now: lastSynced, isLocked: isLocked) {
                    return answer
                }
            } else if gives, mine == nil, reported?.waiting == nil {
                // A command's own sync is left to end, since the debouncer reports one at a time.
                let head = client.heartbeats[stack.observer]?.beat.head?.sequence
                let isEarly = MonotonicClock.now - began < Self.headPatience
                client.command(debouncer, SyncNow(id: id, head: isEarly ? head : nil).body)
            } else if mine != nil, let reported {
                // Another sync has taken its place, and covers what this one was for.
                id = reported.id
                continue
            }
            client.hello()
            client.wait(until: Date(timeIntervalSinceNow: 0.3))
            Thread.sleep(forTimeInterval: 0.1)
        }
        guard let mine else { throw DashboardProblem.silent(debouncer) }
        let blocked = (mine.waiting ?? []).lazy.compactMap { client.heartbeats[$0]?.beat.stage.blocked }.first
        return SyncAnswer(underWay: mine, why: blocked)
    }

    /// When each metric was last synced.
    private var lastSynced: [String: Instant] {
        let beats = parts.client.heartbeats
        return Dictionary(
            uniqueKeysWithValues: stack.configuration.handlers.compactMap { handler in
                beats[handler.name]?.beat.handler?.lastSynced.map { (handler.name, $0) }
            })
    }
}
