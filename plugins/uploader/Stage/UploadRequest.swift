import HTTP

/// What the uploader asks its host to send.
public struct UploadRequest: Sendable {
    public var path: String
    public var body: [UInt8]
    /// Read the token's source again first: the backend refused the last one.
    public var refreshToken: Bool
}

/// What came of it.
public enum UploadReply: Sendable {
    case answered(status: Int, retryAfter: String?, body: [UInt8])
    case failed(HTTPError)
    /// There is no token to send.
    case noToken(String)
}
