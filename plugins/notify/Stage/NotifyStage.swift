import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit

/// Notifies a person of alerts: pulls them from every stage that raises any, and delivers each one, in order, before
/// its anchor moves.
///
/// Delivery is at least once: an alert delivered just before a crash is delivered again, under the same id.
package final class NotifyStage: Stage {
    private struct Waiting {
        var upstream: Int
        var fetched: Upstream.Fetched
        var notifications: [Notification]
    }

    private let upstreams: [Upstream]
    private let kinds: Set<String>?
    private let reportsCleared: Bool
    private var waiting: [Waiting] = []
    private var effect: Int64?
    private var attempt = 0
    private var waitUntil = MonotonicTime.distantPast
    private var notified: Int64 = 0
    private var givenUp: Int64 = 0
    private var problem: String?

    /// An alert that couldn't be delivered after this many attempts, in about four minutes, is dropped: the next may
    /// matter more.
    private static let attempts = 8

    /// - Parameters:
    ///   - kinds: the kinds of alerts to deliver; nil for all.
    ///   - reportsCleared: whether to notify when an alert is over, too.
    package init(producers: [String], kinds: Set<String>?, reportsCleared: Bool) {
        upstreams = producers.map { Upstream($0, query: .changes(topic: Alert.topicPrefix)) }
        (self.kinds, self.reportsCleared) = (kinds, reportsCleared)
    }

    package var subscriptions: [Subscription] { upstreams.map { .exact(Heartbeat.topic($0.producer)) } }

    package func open(_ turn: Turn) throws {
        for upstream in upstreams { try upstream.open(turn) }
    }

    package func receive(_ message: Message, _ turn: Turn) throws {
        guard let beat = Heartbeat(message), let head = beat.head,
            let upstream = upstreams.first(where: { $0.producer == beat.instance })
        else { return }
        upstream.hear(head, limit: AnchorVector(base: head.sequence), turn)
    }

    package func receive(_ answer: PullAnswer, _ turn: Turn) throws {
        for (index, upstream) in upstreams.enumerated() {
            switch try upstream.fetch(answer, turn) {
            case .other: continue
            case .inaccessible: break
            case .reset: waiting.removeAll { $0.upstream == index && $0.notifications.isEmpty }
            case .pages(let fetched):
                let notifications = try fetched.pages.flatMap {
                    try self.notifications(of: $0.page(from: upstream.producer), from: upstream.producer, turn)
                }
                waiting.append(Waiting(upstream: index, fetched: fetched, notifications: notifications))
            }
            return
        }
    }

    private func notifications(of page: ChangesPage, from producer: String, _ turn: Turn) -> [Notification] {
        page.rows.compactMap { row in
            let kind = String(row.topic.dropFirst(Alert.topicPrefix.count))
            guard kinds?.contains(kind) ?? true, row.body != nil || reportsCleared else { return nil }
            // alert/<kind>/<subject>: a tombstone has nothing but its key.
            let subject = row.key.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last
            let notified = row.body?.read(RaisedAlert.self)
            // A raised alert in another form mustn't be announced as over.
            if row.body != nil, notified == nil {
                givenUp += 1
                turn.log(.notifyGivenUp, ["kind": kind])
                return nil
            }
            return Notification(
                id: "\(producer)/\(row.key)/\(row.sequence)", producer: producer, kind: kind,
                subject: subject.map(String.init) ?? "", text: notified?.text ?? "It is over: \(kind).",
                remedy: notified?.remedy ?? "", since: notified?.since)
        }
    }

    package func receive(_ result: EffectResult, _ turn: Turn) throws {
        guard result.id == effect, let result = result.value as? NotificationResult else { return }
        effect = nil
        switch result {
        case .notified:
            notified += 1
            done()
        case .failed(let why):
            attempt += 1
            problem = why
            turn.log(.notifyFailed, ["why": why, "attempt": attempt])
            guard attempt < Self.attempts else {
                givenUp += 1
                turn.log(.notifyGivenUp, ["kind": waiting.first?.notifications.first?.kind ?? ""])
                return done()
            }
            waitUntil = turn.monotonic + .seconds(1 << attempt)
        }
    }

    private func done() {
        if attempt < Self.attempts { problem = nil }
        attempt = 0
        waitUntil = .distantPast
        if waiting.first?.notifications.isEmpty == false { waiting[0].notifications.removeFirst() }
    }

    package func tick(_ turn: Turn) throws -> MonotonicTime? {
        while effect == nil, let first = waiting.first {
            if let next = first.notifications.first {
                guard turn.monotonic >= waitUntil else { return waitUntil }
                effect = turn.perform(next)
            } else {
                _ = try upstreams[first.upstream].settle(first.fetched, turn)
                waiting.removeFirst()
            }
        }
        for (index, upstream) in upstreams.enumerated() where !waiting.contains(where: { $0.upstream == index }) {
            upstream.pump(turn)
        }
        return nil
    }

    /// Alerts that still apply are delivered once more.
    package func repair(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard request.action == "reset" else { return .refused("a notifier doesn't support '\(request.action)'") }
        waiting = []
        effect = nil
        (attempt, waitUntil, problem) = (0, .distantPast, nil)
        for upstream in upstreams { try upstream.forget(turn) }
        return .done([:])
    }

    package func report(_ turn: Turn) throws -> StageReport {
        StageReport(
            frontier: Dictionary(uniqueKeysWithValues: upstreams.map { ($0.producer, $0.frontier) }),
            details: HeartbeatDetails(
                NotifierDetails(
                    told: notified, givenUp: givenUp, blocked: problem,
                    pending: waiting.reduce(0) { $0 + $1.notifications.count })))
    }
}
