import HTTP

/// Decides which requests come from the dashboard's own page or from a program, rather than from another site that a
/// browser has open. Pure.
///
/// A site whose name resolves to this machine (DNS rebinding) is recognized by its `Host`; one that sends requests
/// here, by its `Origin` or by what the browser reports about the request's origin.
package struct SiteRule: Sendable {
    /// Host names in lower case, without ports: a container or a proxy uses a different port from the one listened on.
    private let hosts: Set<String>

    /// - Parameter hosts: names in addition to those of the loopback interface.
    package init(hosts: [String]) {
        self.hosts = Set(hosts.map { $0.lowercased() }).union(["localhost", "127.0.0.1", "::1"])
    }

    /// - Throws: the refusal, for a request that must not be answered.
    package func check(_ request: HTTPRequest) throws(DashboardProblem) {
        guard let authority = request.headers["Host"], let host = Self.host(authority[...]), hosts.contains(host) else {
            throw DashboardProblem(
                421, "the dashboard doesn't have that name",
                hint: "use its own address, or add the name to its option 'hosts'")
        }
        // A link to the page from another site is harmless.
        if request.headers["Sec-Fetch-Mode"] == "navigate", request.method == "GET", request.path == "/" { return }
        if let origin = request.headers["Origin"], Self.authority(ofOrigin: origin) != authority.lowercased() {
            throw Self.foreign
        }
        if let site = request.headers["Sec-Fetch-Site"], site != "same-origin", site != "none" { throw Self.foreign }
    }

    private static let foreign = DashboardProblem(
        403, "requests from other sites aren't answered", hint: "open the dashboard's own address")

    /// "https://health.example.org:8443" without its scheme; nil for "null" and anything else that isn't an origin.
    private static func authority(ofOrigin origin: String) -> String? {
        guard let scheme = origin.firstRange(of: "://"), ["http", "https"].contains(origin[..<scheme.lowerBound]) else {
            return nil
        }
        return origin[scheme.upperBound...].lowercased()
    }

    /// The host in an authority, without the port.
    private static func host(_ authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            return authority[authority.index(after: authority.startIndex)..<end].lowercased()
        }
        let host = authority.prefix { $0 != ":" }
        return host.isEmpty ? nil : host.lowercased()
    }
}
