import Foundation

/// Where a redirect leads (RFC 9110, 15.4).
package enum HTTPRedirect: Sendable, Equatable {
    /// It leads to the same server, with the same scheme; the value is the path with its query.
    case sameOrigin(String)
    /// It leads to a different server, port or scheme, such as "https://example.org:8443". No token is sent there.
    case elsewhere(String)
    /// The location is unreadable.
    case unreadable

    /// - Parameters:
    ///   - location: the header's value, absolute or relative.
    ///   - url: the URL that was requested.
    package init(location: String, from url: String) {
        guard let base = URL(string: url), let target = URL(string: location, relativeTo: base)?.absoluteURL,
            let parts = URLComponents(url: target, resolvingAgainstBaseURL: true), let host = parts.host, !host.isEmpty,
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https", parts.user == nil,
            parts.password == nil
        else {
            self = .unreadable
            return
        }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let whole = path + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
        guard !whole.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            self = .unreadable
            return
        }
        func port(_ url: URL, _ scheme: String) -> Int { url.port ?? (scheme == "https" ? 443 : 80) }
        let isSame =
            base.scheme?.lowercased() == scheme && base.host?.lowercased() == host.lowercased()
            && port(base, scheme) == port(target, scheme)
        self = isSame ? .sameOrigin(whole) : .elsewhere(scheme + "://" + host + (parts.port.map { ":\($0)" } ?? ""))
    }

    /// Whether a request with that method may be sent unchanged to the new location. (For 301, 302 and 303 many clients
    /// send a GET instead, which delivers nothing.)
    package static func keepsRequest(_ status: Int, method: String) -> Bool {
        status == 307 || status == 308 || method == "GET" && [301, 302, 303].contains(status)
    }
}
