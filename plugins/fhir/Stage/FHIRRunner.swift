import DeliveryKit
import Foundation
import HTTP
import MessageBus
import StageKit
import UploaderReading

/// Sends what the stage delivers, on a thread of its own.
package final class FHIRRunner: EffectRunner {
    private struct Job: Sendable {
        var effect: Effect
        var reply: @Sendable (EffectResult) -> Bool
    }

    private let jobs = Mailbox<Job>(capacity: 8)
    private let path = PathTeller()

    /// A server that returns whole resources, although it was asked not to, sends about as much as it received.
    private static let answerLimit = 64 << 20

    /// - Throws: `HTTPError` for a URL that can't be used.
    package init(url: String, token: TokenSource?, form: FHIRForm, timeout: Double) throws {
        let server = FHIRServer(url)
        let client = try HTTPClient(base: server.origin, answerLimit: Self.answerLimit)
        let jobs = jobs
        let thread = Thread {
            let sender = FHIRSender(client: client, server: server, token: token, form: form, timeout: timeout)
            while !jobs.isClosed {
                for job in jobs.take(limit: 1, timeout: 60) {
                    guard let value = sender.perform(job.effect) else { continue }
                    _ = job.reply(EffectResult(id: job.effect.id, value: value))
                }
            }
        }
        thread.name = "fhir"
        thread.start()
    }

    package func perform(_ effect: Effect, reply: @escaping @Sendable (EffectResult) -> Bool) {
        if effect.request is WatchPath { return path.watch(effect, reply) }
        jobs.insist(Job(effect: effect, reply: reply))
    }

    /// Work in progress may be cut off: its anchor hasn't moved, so it is sent again.
    package func stop() {
        jobs.close()
        path.stop()
    }
}
