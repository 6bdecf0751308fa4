import DeliveryKit
import HTTP

extension UploadPolicy.Outcome {
    /// What a status asks for.
    /// - Parameter retryAfter: the header, seconds or an HTTP date.
    package static func answered(status: Int, retryAfter: String? = nil) -> Self {
        switch status {
        case 200..<300: .taken
        case 401: .refusesToken(isFinal: false, .unauthorized)
        case 403: .refusesToken(isFinal: true, .unauthorized)
        case 413: .refused("the backend takes no element of this size (413)")
        case 400, 422: .refused("the backend refuses it (\(status))")
        case 429, 503: .later(retryAfter.flatMap { RetryAfter.wait($0) })
        case 408, 409, 425, 500...: .later()
        default: .needsPerson(.wrongEndpoint)
        }
    }

    /// No answer came.
    package static func failed(_ kind: HTTPError.Kind) -> Self {
        kind == .invalidRequest ? .needsPerson(.wrongEndpoint) : .unproven
    }
}

extension UploadPolicy.Pause {
    /// The token is refused, a new one too.
    package static let unauthorized = Self(remedy: "it refuses the token: put the right one into the token's file")
    /// 3xx, 404, 405 and the like.
    package static let wrongEndpoint = Self(
        remedy: "something else answers at this URL: check the uploader's 'url'")
}
