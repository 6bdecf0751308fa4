import DeliveryKit
import HTTP
import Protocol
import UploaderReading

/// The HTTP request for a page of what a backend keeps, and what its answer means.
extension HeldQuestion {
    package static let path = "/api/v1/versions"

    package var query: [String: String] {
        var query = ["list": list.rawValue, "user": user, "contents": "2"]
        query["cursor"] = place
        // A backend of another make may allow fewer rows than the usual number, which is then the number it gives anyway.
        if limit < Self.usualLimit { query["limit"] = "\(max(1, limit))" }
        return query
    }

    /// What an answer, or its absence, reveals about what the backend holds.
    /// - Parameter place: where the token comes from.
    package func reply(to answer: UploadReply, tokenFrom place: TokenSource.Place = .file(nil)) -> HeldReply {
        switch answer {
        case .failed(let error):
            error.kind == .answerTooLarge || error.kind == .invalidRequest
                ? .unable(error.description) : .later(error.description)
        // The token is read again, as after a refusal.
        case .noToken(let why): .refusesToken(why)
        case .answered(let status, let retryAfter, _, _, let body):
            switch status {
            case 200: page(body)
            case 401, 403: .refusesToken("the backend answered \(status); \(place.remedy)")
            case 408, 425, 429, 500, 502...504:
                .later("the backend answered \(status)", retryAfter.flatMap { RetryAfter.wait($0) })
            default: unable(status)
            }
        }
    }

    private func page(_ body: [UInt8]) -> HeldReply {
        guard var page = HeldPage(versions: body) else { return unable(200) }
        // Documents come in the order of their ids' bytes, whether or not they are UUIDs.
        page.isOrdered = list == .samples
        guard let fault = page.fault(of: self) else { return .page(page) }
        return .unable("the backend doesn't answer GET \(Self.path) as it should: \(fault); docs/backend.md says how")
    }

    private func unable(_ status: Int) -> HeldReply {
        .unable(
            "the backend doesn't answer GET \(Self.path) (it said \(status)): a server of your own must answer it as "
                + "docs/backend.md says")
    }
}
