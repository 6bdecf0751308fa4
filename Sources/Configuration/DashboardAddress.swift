import Foundation
import HealthModel

/// Where the stack shows its page, as its configuration and the environment say.
package enum DashboardAddress {
    package static let usualPort = 8789

    /// The instance that shows it; nil where the configuration has none.
    package static func instance(in stack: StackConfiguration) -> StackConfiguration.Instance? {
        stack.only(.dashboard)
    }

    /// `HEALTHBUS_DASHBOARD_PORT` goes before the configuration, for several stacks on one machine.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func endpoint(
        of dashboard: StackConfiguration.Instance, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint {
        let options = dashboard.configuration
        var endpoint = Endpoint(
            host: options["host"].string ?? Endpoint.loopback, port: Int(options["port"].int ?? Int64(usualPort)))
        if let text = environment.filled("HEALTHBUS_DASHBOARD_PORT") {
            guard let port = Int(text), (0...65535).contains(port) else {
                throw ConfigurationError(
                    file: "the environment", key: "HEALTHBUS_DASHBOARD_PORT", reason: "must be a port, 0 to 65535")
            }
            endpoint.port = port
        }
        return endpoint
    }

    /// Where a browser on this machine reaches it.
    /// - Parameter port: the real one.
    package static func url(_ endpoint: Endpoint, port: Int) -> String {
        let host = endpoint.isEverywhere ? Endpoint.loopback : endpoint.host
        return "http://\(Endpoint(host: host, port: port))"
    }
}
