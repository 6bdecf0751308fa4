import DeliveryKit
import HTTP
import StageKit
import UploaderReading

/// Sends the uploader's requests, two at a time, each on its own connection and thread.
package final class UploadRunner: DeliveryRunner {
    package let thread: EffectThread
    package let path = PathReporter()

    /// A page of versions is the longest answer: its rows take 80 bytes each, or more if their ids aren't UUIDs.
    private static let answerLimit = 16 << 20

    /// - Throws: `HTTPError` for a URL that can't be used.
    package init(base: String, timeout: Double, token: TokenSource) throws {
        let clients = try [0, 1].map { _ in try HTTPClient(base: base, answerLimit: Self.answerLimit) }
        thread = EffectThread("upload 1", "upload 2") { number in
            { job in
                if let value = Self.perform(job.effect, clients[number], token, timeout) { job.answer(value) }
            }
        }
    }

    /// Encodes and sends an effect's request, and returns the result; nil for an unknown effect.
    private static func perform(
        _ effect: Effect, _ client: HTTPClient, _ token: TokenSource, _ timeout: Double
    ) -> (any Sendable)? {
        if let upload = effect.request as? DeliveryRequest {
            var request = HTTPRequest(
                method: "POST", path: upload.path, headers: ["Content-Type": upload.contentType], body: upload.body)
            request.headers[DeliveryRequest.seenHeader] = upload.seenField
            return upload.reply(
                to: send(request, upload.refreshToken, client, token, timeout), tokenFrom: token.place)
        }
        if let question = effect.request as? HoldingsRequest {
            let request = HTTPRequest(path: HoldingsRequest.path, query: question.query)
            return question.reply(
                to: send(request, question.refreshToken, client, token, timeout), tokenFrom: token.place)
        }
        if let question = effect.request as? HeldQuestion {
            func ask(_ refreshesToken: Bool) -> UploadReply {
                send(
                    HTTPRequest(path: HeldQuestion.path, query: question.query), refreshesToken, client, token, timeout)
            }
            var answer = ask(question.refreshToken)
            // The token may have been replaced since it was read.
            if case .answered(status: 401, _, _, _, _) = answer, !question.refreshToken { answer = ask(true) }
            return question.reply(to: answer, tokenFrom: token.place)
        }
        return nil
    }

    private static func send(
        _ request: HTTPRequest, _ refreshesToken: Bool, _ client: HTTPClient, _ token: TokenSource, _ timeout: Double
    ) -> UploadReply {
        do {
            var request = request
            request.headers["Authorization"] = try token.current(refresh: refreshesToken).map { "Bearer \($0)" }
            let response = try client.send(request, timeout: timeout, redirects: HTTPClient.usualRedirects)
            return .answered(
                status: response.status, retryAfter: response.headers["Retry-After"],
                contentType: response.headers["Content-Type"],
                redirect: response.headers["Location"].map {
                    HTTPRedirect(location: $0, from: client.base + request.path)
                }, body: response.body)
        } catch let error as HTTPError {
            return .failed(error)
        } catch {
            return .noToken("\(error)")
        }
    }
}
