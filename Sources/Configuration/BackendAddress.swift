import Foundation
import HealthModel

/// Where the stack's reference backend listens, according to its configuration and the environment.
package enum BackendAddress {
    package static let variable = "HEALTHBUS_BACKEND_PORT"
    package static let usualPort = 8787

    /// `HEALTHBUS_BACKEND_PORT` takes precedence over the configuration, for several stacks on one machine.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func port(
        of backend: StackConfiguration.Instance, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Int {
        guard let text = environment[variable], !text.isEmpty else {
            return Int(backend.configuration["port"].int ?? Int64(usualPort))
        }
        guard let port = Int(text), (0...65535).contains(port) else {
            throw ConfigurationError(
                file: ConfigurationError.environment, key: variable, reason: "must be a port, 0 to 65535")
        }
        return port
    }

    package static func host(of backend: StackConfiguration.Instance) -> String {
        backend.configuration["host"].string ?? "127.0.0.1"
    }

    package static func url(of backend: StackConfiguration.Instance) throws(ConfigurationError) -> String {
        let host = host(of: backend)
        // Nobody can connect to an address that means all interfaces.
        let reachable = host == "0.0.0.0" || host == "::" ? "127.0.0.1" : host
        return "http://" + (reachable.contains(":") ? "[\(reachable)]" : reachable) + ":\(try port(of: backend))"
    }

    /// Always throws: the error for an uploader that has nowhere to deliver to.
    package static func missing(
        for uploader: StackConfiguration.Instance, in stack: StackConfiguration
    ) throws(ConfigurationError) -> String {
        throw ConfigurationError(
            file: stack.file, key: uploader.addressKey,
            reason: "is needed: this stack has no backend of its own")
    }
}
