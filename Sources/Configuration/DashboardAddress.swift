import Foundation
import HealthModel

/// Where the stack serves its page, according to its configuration and the environment.
package enum DashboardAddress {
    package static let usualPort = 8789
    package static let variable = "HEALTHBUS_DASHBOARD_PORT"

    /// The instance that serves the page; nil if the configuration has none.
    package static func instance(in stack: StackConfiguration) -> StackConfiguration.Instance? {
        stack.only(.dashboard)
    }

    /// Why a dashboard wouldn't start with these options, and what to do; nil if it would.
    package static func problem(_ options: Value, at endpoint: Endpoint) -> (what: String, remedy: String)? {
        guard !endpoint.isLoopback, options["plainHTTP"].bool != true else { return nil }
        return (
            "would listen at \(endpoint.host), where anyone on the network can read the data",
            "set 'plainHTTP' if a proxy that speaks TLS or a container's network is in between"
        )
    }

    /// Whether anyone who reaches a dashboard with these options may read.
    package static func isOpen(_ options: Value) -> Bool { options["open"].bool == true }

    /// `HEALTHBUS_DASHBOARD_PORT` takes precedence over the configuration, for several stacks on one machine.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func endpoint(
        of dashboard: StackConfiguration.Instance, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint {
        let options = dashboard.configuration
        var endpoint = Endpoint(
            host: options["host"].string ?? Endpoint.loopback, port: Int(options["port"].int ?? Int64(usualPort)))
        if let text = environment.filled(variable) {
            guard let port = Int(text), (0...65535).contains(port) else {
                throw ConfigurationError(
                    file: ConfigurationError.environment, key: variable, reason: "must be a port, 0 to 65535")
            }
            endpoint.port = port
        }
        return endpoint
    }

    /// The address at which a browser on this machine reaches it.
    /// - Parameter port: the port that it actually listens on.
    package static func url(_ endpoint: Endpoint, port: Int) -> String {
        let host = endpoint.isEverywhere ? Endpoint.loopback : endpoint.host
        return "http://\(Endpoint(host: host, port: port))"
    }

    /// The link that signs a browser in.
    /// - Parameters:
    ///   - url: the dashboard's address.
    ///   - ticket: the text of one of `SignInTickets`.
    package static func link(_ url: String, ticket: String) -> String { "\(url)/?ticket=\(ticket)" }
}
