import CPosix
import Foundation

/// The parts of a server's URL that a client needs.
struct ServerURL {
    let base: String
    /// "https://example.org:8443", without a path.
    let origin: String
    let endpoint: String
    let isLoopback: Bool

    init(_ text: String) throws {
        func refuse(_ detail: String) -> HTTPError {
            HTTPError(
                .invalidRequest, endpoint: "server URL", detail: detail,
                hint: "write it as https://host[:port][/prefix], without user, query or fragment")
        }
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw refuse("isn't a URL")
        }
        guard let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
            throw refuse("must begin with http:// or https://")
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw refuse("mustn't have a user, a query or a fragment")
        }
        var base = text
        while base.hasSuffix("/") { base.removeLast() }
        self.base = base
        // The URL has no query and no fragment, so the path comes last.
        origin = String(text.dropLast(parts.percentEncodedPath.count))
        let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        endpoint = "\(host):\(parts.port ?? (scheme == "https" ? 443 : 80))"
        isLoopback = healthbus_is_loopback(bare) != 0
    }
}
