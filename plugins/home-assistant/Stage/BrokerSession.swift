import Foundation
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
    private var exchange = BrokerExchange()
    /// The requests that the broker hasn't acknowledged.
    private var publishing: [Int64: EffectJob] = [:]

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
                let most = exchange.look.map { min(Self.turn, $0.milliseconds(at: .now)) } ?? Self.turn
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
        guard let connection, exchange.isOpen else { return }
        publishing[job.effect.id] = job
        do throws(MQTTError) {
            for post in request.posts {
                exchange.sent(try connection.publish(post.topic, post.payload), of: job.effect.id)
            }
        } catch {
            lose(error)
        }
    }

    private func handle(
        _ events: [MQTTConnection.Event], _ connection: MQTTConnection, _ topics: MQTTTopics
    ) throws(MQTTError) {
        for step in exchange.take(events, of: topics, at: .now) {
            switch step {
            case .subscribe(let filter): try connection.subscribe(filter)
            case .report(let news): report(news)
            case .done(let request): publishing.removeValue(forKey: request)?.answer(Published())
            case .ended(let why): throw why
            }
        }
    }

    private func report(_ news: BrokerNews) {
        guard let job = opening?.job else { return }
        job.answer(news)
    }

    private func lose(_ why: MQTTError) {
        connection = nil
        publishing = [:]
        let wait = exchange.lose(at: .now)
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
        guard let connection, exchange.isOpen, let topics = opening?.request.topics else { return }
        guard exchange.hasPublished else { return connection.disconnect() }
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
