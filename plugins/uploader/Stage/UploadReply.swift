import DeliveryKit
import HTTP
import HealthModel
import Protocol
import UploaderReading

/// The result of a request to the backend.
package enum UploadReply: Sendable {
    /// - redirect: the target of a 3xx that wasn't followed.
    case answered(
        status: Int, retryAfter: String? = nil, contentType: String? = nil, redirect: HTTPRedirect? = nil, body: [UInt8]
    )
    case failed(HTTPError)
    /// There is no token to send.
    case noToken(String)
}

/// The HTTP request that carries elements, and what its answer means.
extension DeliveryRequest {
    /// The header that says what was seen of the backend: `<generation> <sequence>`.
    package static let seenHeader = "Healthbus-Seen"

    package var path: String { group.metric.path }
    package var contentType: String { isColumns ? SampleDelivery.contentType : "application/json" }

    package var seenField: String? {
        guard let generation = seen.generation, let sequence = seen.sequence else { return nil }
        return "\(generation) \(sequence)"
    }

    /// Encoded at each call.
    package var body: [UInt8] {
        let columns = isColumns ? group.columns(part, deviceId: deviceId, syncedAt: syncedAt) : nil
        return columns ?? group.encode(part, deviceId: deviceId, syncedAt: syncedAt)
    }

    /// What an answer, or its absence, means for what was sent.
    /// - Parameter place: where the token comes from.
    package func reply(to answer: UploadReply, tokenFrom place: TokenSource.Place = .file(nil)) -> DeliveryReply {
        switch answer {
        case .failed(let error): return .failed(.init(.failed(error.kind), why: error.description))
        case .noToken(let reason): return .needsPerson(reason)
        case .answered(let status, let retryAfter, let contentType, let redirect, let body):
            let answer = UploadAnswer(body: body)
            if isColumns, status == 400 || status == 415, answer.counts == nil {
                return .wrongForm("the backend answered \(status) to columns; it gets JSON instead")
            }
            let judgement = AnswerProof(
                status: status, contentType: contentType, answer: answer, sent: part.count, seen: seen)
            let failure = DeliveryReply.Failure(
                .answered(status: status, retryAfter: retryAfter, redirect: redirect, tokenFrom: place),
                why: "the backend answered \(status)"
                    + (status == 409 ? ", a conflict with what it holds, which its own log should explain" : ""),
                status: status)
            return Self.reply(judgement, answer.delivery(status: status), status, failure)
        }
    }

    private static func reply(
        _ judgement: AnswerProof, _ answer: DeliveryAnswer, _ status: Int, _ failure: DeliveryReply.Failure
    ) -> DeliveryReply {
        switch judgement {
        case .proven: return .proven(answer)
        case .onTrust: return .onTrust(answer)
        case .otherBackend(let generation): return .otherBackend(generation, answer)
        case .rolledBack(let sequence): return .rolledBack(to: sequence)
        case .refusals:
            let doubt = DeliveryReply.Failure(
                .unproven, why: "something answered \(status) without the backend's generation")
            return .refusals(answer, otherwise: status < 400 ? doubt : failure)
        case .unreadableRefusals:
            return .unreadableRefusals(
                "the backend answered \(status), with refusals in a form that can't be understood")
        case .unproven(let why): return .unproven(why)
        case .status: return .failed(failure)
        }
    }
}
