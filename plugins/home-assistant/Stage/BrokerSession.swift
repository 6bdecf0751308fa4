import Foundation
import HealthModel
import MQTT
import MessageBus
import StageKit

/// The connection to the broker as its thread sees it: made, watched and remade.
final class BrokerSession {
    private let login: BrokerLogin
    private let jobs: Mailbox<EffectJob>
    private let bell: Bell
    private var opening: (job: EffectJob, request: KeepConnected)?
    private var connection: MQTTConnection?
    /// Whether the broker has accepted the connection.
    private var isOpen = false
    /// What the broker retains is still arriving.
    private var look: RetainedLook?
    /// Whether the broker has been sent anything over this connection.
    private var hasPublished = false
    /// The messages not yet acknowledged, by their numbers, and how many are left of each request.
    private var unacknowledged: [Int32: EffectJob] = [:]
    private var left: [Int64: Int] = [:]
    private var pace = RetryPace()

    /// How often the library gets a turn even if nothing happens, so that it can send its pings.
    private static let turn: Int32 = 10_000
    private static let goodbye = Duration.seconds(2)

    init(_ login: BrokerLogin, _ jobs: Mailbox<EffectJob>, _ bell: Bell) {
        (self.login, self.jobs, self.bell) = (login, jobs, bell)
    }

    func run() {
        while !jobs.isClosed {
            takeJobs()
            guard let opening else {
                bell.wait(seconds: 60)
                bell.silence()
                continue
            }
            do throws(MQTTError) {
                if connection == nil {
                    connection = try MQTTConnection(login.options(opening.request), bell: bell.reading) {
                        [bell, jobs] in
                        bell.silence()
                        return jobs.isClosed
                    }
                }
                guard let current = connection else { continue }
                let most = look.map { min(Self.turn, $0.milliseconds(at: .now)) } ?? Self.turn
                try handle(current.wait(bell: bell.reading, milliseconds: most), current, opening.request.topics)
                bell.silence()
            } catch {
                lose(error)
            }
        }
        sayGoodbye()
    }

    private func takeJobs() {
        while let job = jobs.take(limit: 1, timeout: 0).first {
            if let request = job.effect.request as? KeepConnected {
                opening = (job, request)
            } else if let request = job.effect.request as? Publish {
                publish(request, job)
            }
        }
    }

    /// Without a connection this does nothing: the stage learns that the connection was lost, and asks again.
    private func publish(_ request: Publish, _ job: EffectJob) {
        guard let connection, isOpen else { return }
        do throws(MQTTError) {
            for post in request.posts {
                let number = try connection.publish(post.topic, post.payload)
                unacknowledged[number] = job
                left[job.effect.id, default: 0] += 1
                hasPublished = true
            }
        } catch {
            lose(error)
        }
    }

    private func handle(
        _ events: [MQTTConnection.Event], _ connection: MQTTConnection, _ topics: MQTTTopics
    ) throws(MQTTError) {
        var heard: [Heard] = []
        for event in events {
            switch event {
            case .connected:
                isOpen = true
                pace.opened(at: ContinuousClock.now)
                let filters = topics.own + [topics.birth]
                for filter in filters { try connection.subscribe(filter) }
                look = RetainedLook(filters: filters.count, at: .now)
                report(.connected)
            case .ended(let why): throw why
            case .acknowledged(let number): acknowledge(number)
            case .subscribed: look?.answered(at: .now)
            case .message(let topic, let payload, let isRetained):
                if isRetained { look?.heard(at: .now) }
                let text = String(decoding: payload, as: UTF8.self)
                if topic == topics.birth, topic != topics.status {
                    if !isRetained, text == "online" { report(.born) }
                } else {
                    heard.append(Heard(topic: topic, payload: text, isRetained: isRetained))
                }
            }
        }
        if !heard.isEmpty { report(.heard(heard)) }
        if let end = look, end.isOver(at: .now) {
            look = nil
            report(.looked)
        }
    }

    private func acknowledge(_ number: Int32) {
        guard let job = unacknowledged.removeValue(forKey: number), let count = left[job.effect.id] else { return }
        left[job.effect.id] = count > 1 ? count - 1 : nil
        if count == 1 { job.answer(Published()) }
    }

    private func report(_ news: BrokerNews) {
        guard let job = opening?.job else { return }
        job.answer(news)
    }

    private func lose(_ why: MQTTError) {
        connection = nil
        (isOpen, look, hasPublished) = (false, nil, false)
        (unacknowledged, left) = ([:], [:])
        let wait = pace.wait(afterLossAt: ContinuousClock.now)
        report(.lost(why, retryAfter: wait))
        // Jobs that ring the bell in the meantime are for the lost connection.
        let end = ContinuousClock.now + .seconds(wait)
        while !jobs.isClosed, ContinuousClock.now < end {
            bell.wait(seconds: max(0, (end - .now) / .seconds(1)))
            bell.silence()
        }
    }

    /// After a goodbye the broker doesn't publish the last will, so this does, unless the topics are another stack's.
    private func sayGoodbye() {
        guard let connection, isOpen, let topics = opening?.request.topics else { return }
        guard hasPublished else { return connection.disconnect() }
        do {
            let number = try connection.publish(topics.status, "offline")
            let end = ContinuousClock.now + Self.goodbye
            while ContinuousClock.now < end {
                bell.silence()
                let events = connection.wait(bell: bell.reading, milliseconds: 100)
                if events.contains(.acknowledged(number)) { break }
                if events.contains(where: { if case .ended = $0 { true } else { false } }) { return }
            }
            connection.disconnect()
        } catch {
            // Without a goodbye the broker publishes the last will, which says the same.
            return
        }
    }
}
