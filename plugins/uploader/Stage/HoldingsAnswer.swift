import DeliveryKit
import HTTP
import HealthModel
import Protocol
import UploaderReading

extension HoldingsRequest {
    package static let path = "/api/v1/stats"

    package var query: [String: String] { countsRows ? ["count": "rows"] : [:] }

    /// What an answer, or its absence, reveals about what the backend holds.
    /// - Parameter place: where the token comes from.
    package func reply(to answer: UploadReply, tokenFrom place: TokenSource.Place = .file(nil)) -> HoldingsReply {
        switch answer {
        case .failed(let error): return .later(error.description)
        // The token is read again, as after a refusal.
        case .noToken(let why): return .refusesToken(why)
        case .answered(let status, let retryAfter, _, _, let body):
            if status == 401 || status == 403 {
                return .refusesToken("the backend answered \(status); \(place.remedy)")
            }
            if [408, 425, 429, 503].contains(status) {
                return .later("the backend answered \(status)", retryAfter.flatMap { RetryAfter.wait($0) })
            }
            if status == 200, let holdings = BackendHoldings(body: body) { return .holds(holdings) }
            return .silent(
                status >= 500
                    ? "the backend answered \(status) when it was asked what it holds"
                    : "something answered \(status) that isn't the known backend")
        }
    }
}
