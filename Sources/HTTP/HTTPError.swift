/// What went wrong with a connection, where, and what to do.
public struct HTTPError: Error, Equatable, CustomStringConvertible {
    public enum Kind: String, Sendable {
        /// The address is taken by another process.
        case addressInUse
        /// The address can't be listened on: unknown host, no right to the port.
        case cannotListen
        /// The URL, a path or a header is malformed.
        case invalidRequest
        case nameResolution
        case connectionRefused
        case timedOut
        case tls
        case answerTooLarge
        /// The connection broke, or something else below HTTP failed.
        case connection
    }

    public let kind: Kind
    /// "127.0.0.1:8080".
    public let endpoint: String
    /// What happened, without bodies, headers or tokens.
    public let detail: String
    /// What to do now.
    public let hint: String

    public init(_ kind: Kind, endpoint: String, detail: String, hint: String) {
        self.kind = kind
        self.endpoint = endpoint
        self.detail = detail
        self.hint = hint
    }

    /// Whether the same request may succeed later without a change of configuration.
    public var isTransient: Bool {
        switch kind {
        case .nameResolution, .connectionRefused, .timedOut, .connection: true
        case .addressInUse, .cannotListen, .invalidRequest, .tls, .answerTooLarge: false
        }
    }

    public var description: String { "\(endpoint): \(detail); \(hint)" }
}
