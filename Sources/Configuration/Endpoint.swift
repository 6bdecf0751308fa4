/// Where a server listens: an address of this machine and a port.
package struct Endpoint: Sendable, Equatable, CustomStringConvertible {
    package var host: String
    package var port: Int

    package init(host: String = Self.loopback, port: Int) { (self.host, self.port) = (host, port) }

    package static let loopback = "127.0.0.1"
    /// The default for metrics, as in OpenTelemetry's exporters for Prometheus.
    package static let monitoringPort = 9464

    /// Reads "9464", "127.0.0.1:9464" or "[::1]:9464"; nil when the text isn't an endpoint. An endpoint without a host
    /// means loopback.
    package init?(_ text: String) {
        let sides = text.lastIndex(of: ":").map { (text[..<$0], text[text.index(after: $0)...]) } ?? ("", text[...])
        guard let port = Int(sides.1), (0...65535).contains(port) else { return nil }
        var host = String(sides.0)
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        }
        self.init(host: host.isEmpty ? Self.loopback : host, port: port)
    }

    package var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
