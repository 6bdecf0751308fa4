import DeliveryKit
import HTTP
import Protocol
import UploaderReading

extension RetryPolicy.Outcome {
    /// What a status calls for.
    /// - Parameters:
    ///   - retryAfter: the header, seconds or an HTTP date.
    ///   - redirect: the target of a 3xx that wasn't followed.
    ///   - place: where the token comes from.
    package static func answered(
        status: Int, retryAfter: String? = nil, redirect: HTTPRedirect? = nil,
        tokenFrom place: TokenSource.Place = .file(nil)
    ) -> Self {
        switch status {
        case 200..<300: .taken
        case 401: .refusesToken(isFinal: false, .unauthorized(place))
        case 403: .refusesToken(isFinal: true, .unauthorized(place))
        case 413: .refused("the backend accepts no element of this size (413)")
        case 400, 422: .refused("\(DeadLetter.unexplained) (\(status))")
        case 409:
            .conflict(
                "the backend keeps answering 409: a conflict with what it holds, which its own log should explain")
        case 429, 503: .later(retryAfter.flatMap { RetryAfter.wait($0) })
        case 408, 425, 500...: .later()
        case 300..<400: .needsPerson(redirect.map { .redirected($0) } ?? .wrongEndpoint)
        default: .needsPerson(.wrongEndpoint)
        }
    }

    /// There was no answer.
    package static func failed(_ kind: HTTPError.Kind) -> Self {
        switch kind {
        case .invalidRequest: .needsPerson(.wrongEndpoint)
        case .connectionRefused: .refusesConnection
        default: .unproven
        }
    }
}

extension RetryPolicy.Pause {
    /// 3xx, 404, 405 and the like.
    package static let wrongEndpoint = Self(
        remedy: "the uploader's 'url' doesn't seem to be a backend's: check it")

    /// A redirect that isn't followed.
    static func redirected(_ redirect: HTTPRedirect) -> Self {
        switch redirect {
        case .elsewhere(let origin):
            Self(
                remedy: "it redirects to \(plain(origin)), and the token isn't sent there: "
                    + "if that server is yours, set the uploader's 'url' to it")
        case .sameOrigin(let path):
            Self(
                remedy:
                    "it redirects to \(plain(path)), which isn't followed: only 307 and 308 keep a request as it is, "
                    + "three times at most; check the uploader's 'url'")
        case .unreadable: .wrongEndpoint
        }
    }

    /// Shortens text from another server, and makes it printable.
    private static func plain(_ text: String) -> String {
        String(
            decoding: text.utf8.prefix(200).map { (0x21...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
