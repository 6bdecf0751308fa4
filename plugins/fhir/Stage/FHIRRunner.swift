import DeliveryKit
import HTTP
import StageKit

/// Sends what the stage delivers, on a thread of its own.
package final class FHIRRunner: DeliveryRunner {
    package let thread: EffectThread
    package let path = PathReporter()

    /// A server that returns whole resources, although it was asked not to, sends about as much as it received.
    private static let answerLimit = 64 << 20

    /// - Throws: `HTTPError` for a URL that can't be used.
    package init(url: String, token: TokenSource?, form: FHIRForm, timeout: Double) throws {
        let server = FHIRServer(url)
        let client = try HTTPClient(base: server.origin, answerLimit: Self.answerLimit)
        thread = EffectThread("fhir") { _ in
            let sender = FHIRSender(server: server, token: token, form: form) {
                try client.send($0, timeout: timeout, redirects: HTTPClient.usualRedirects)
            }
            return { job in if let value = sender.perform(job.effect) { job.answer(value) } }
        }
    }
}
