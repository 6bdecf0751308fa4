import HTTP
import Protocol

/// What the uploader asks its host to send.
package struct UploadRequest: Sendable {
    package var path: String
    package var body: [UInt8]
    /// Whether the body is columns instead of JSON.
    package var isColumns = false
    /// Read the token's source again first: the backend refused the last one.
    package var refreshToken: Bool
    /// What was seen of the backend; it can tell by it that it was put back to an older copy.
    package var seen = SeenBackend()

    /// The header that says so: `<generation> <sequence>`.
    package static let seenHeader = "Healthbus-Seen"

    package var contentType: String { isColumns ? SampleDelivery.contentType : "application/json" }

    package var seenField: String? {
        guard let generation = seen.generation, let sequence = seen.sequence else { return nil }
        return "\(generation) \(sequence)"
    }
}

/// The question what the backend holds.
package struct HoldingsRequest: Sendable {
    package static let path = "/api/v1/stats"

    package var refreshToken: Bool
    /// Whether it is to count its rows, which takes a backend about a second for two million; else it may answer by what it counted as they came.
    package var countsRows = false

    package var query: [String: String] { countsRows ? ["count": "rows"] : [:] }
}

/// What came of either.
package enum UploadReply: Sendable {
    case answered(status: Int, retryAfter: String? = nil, contentType: String? = nil, body: [UInt8])
    case failed(HTTPError)
    /// There is no token to send.
    case noToken(String)
}
