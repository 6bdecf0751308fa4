/// What went wrong with a connection, at which address, and what to do.
package struct HTTPError: Error, Equatable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// Another process uses the address.
        case addressInUse
        /// It isn't possible to listen on the address: the host is unknown, or the port isn't permitted.
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

    package let kind: Kind
    /// "127.0.0.1:8080".
    package let endpoint: String
    /// What happened; contains no bodies, headers or tokens.
    package let detail: String
    /// What the reader should do now.
    package let hint: String

    package init(_ kind: Kind, endpoint: String, detail: String, hint: String) {
        (self.kind, self.endpoint, self.detail, self.hint) = (kind, endpoint, detail, hint)
    }

    /// Whether the same request may succeed later without a change of configuration.
    package var isTransient: Bool {
        switch kind {
        case .nameResolution, .connectionRefused, .timedOut, .connection: true
        case .addressInUse, .cannotListen, .invalidRequest, .tls, .answerTooLarge: false
        }
    }

    package var description: String { "\(endpoint): \(detail); \(hint)" }
}
