import HTTP

/// Which requests come from the dashboard's own page, or from a program, and not from another site that a browser has open. Pure.
///
/// A site whose name leads to this machine (DNS rebinding) is told by its `Host`; one that sends requests here by its `Origin`, or by what the browser
/// says of where a request comes from.
package struct SiteRule: Sendable {
    /// In lower case, without ports: a container's or a proxy's is another than the one that is listened on.
    private let hosts: Set<String>

    /// - Parameter hosts: names beside those of the loopback.
    package init(hosts: [String]) {
        self.hosts = Set(hosts.map { $0.lowercased() }).union(["localhost", "127.0.0.1", "::1"])
    }

    /// - Throws: the answer for a request that isn't to be answered.
    package func check(_ request: HTTPRequest) throws(DashboardProblem) {
        guard let authority = request.headers["Host"], let host = Self.host(authority[...]), hosts.contains(host) else {
            throw DashboardProblem(
                421, "the dashboard isn't called that",
                advice: "use its own address, or add the name to its option 'hosts'")
        }
        // A link from elsewhere to the page is only a link.
        if request.headers["Sec-Fetch-Mode"] == "navigate", request.method == "GET", request.path == "/" { return }
        if let origin = request.headers["Origin"], Self.authority(ofOrigin: origin) != authority.lowercased() {
            throw Self.foreign
        }
        if let site = request.headers["Sec-Fetch-Site"], site != "same-origin", site != "none" { throw Self.foreign }
    }

    private static let foreign = DashboardProblem(
        403, "another site's request isn't answered", advice: "open the dashboard's own address")

    /// "https://health.example.org:8443" without its scheme; nil of "null" and whatever else is no origin.
    private static func authority(ofOrigin origin: String) -> String? {
        guard let scheme = origin.firstRange(of: "://"), ["http", "https"].contains(origin[..<scheme.lowerBound]) else {
            return nil
        }
        return origin[scheme.upperBound...].lowercased()
    }

    /// Without the port.
    private static func host(_ authority: Substring) -> String? {
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            return authority[authority.index(after: authority.startIndex)..<end].lowercased()
        }
        let host = authority.prefix { $0 != ":" }
        return host.isEmpty ? nil : host.lowercased()
    }
}
