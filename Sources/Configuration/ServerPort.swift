import Foundation
import HealthModel

/// The servers of a stack whose ports the environment can set. This is the only list, used by everything that refers to
/// them.
package enum ServerPort: CaseIterable, Sendable {
    case backend, ingest, dashboard

    /// This variable takes precedence over the configuration, for several stacks on one machine.
    package var variable: String {
        switch self {
        case .backend: "HEALTHBUS_BACKEND_PORT"
        case .ingest: "HEALTHBUS_INGEST_PORT"
        case .dashboard: "HEALTHBUS_DASHBOARD_PORT"
        }
    }

    package var kind: Manifest.Kind {
        switch self {
        case .backend: .backend
        case .ingest: .ingest
        case .dashboard: .dashboard
        }
    }

    /// The default port.
    package var usualPort: Int {
        switch self {
        case .backend: 8787
        case .ingest: 8788
        case .dashboard: 8789
        }
    }

    /// The default port, if the next free one may be used when it is taken; nil for a server that needs its own.
    package var movablePort: Int? { self == .backend ? nil : usualPort }

    /// The endpoint at which an instance of this kind listens.
    /// - Parameter instance: nil for the default settings.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package func endpoint(
        of instance: StackConfiguration.Instance?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint {
        let options = instance?.configuration ?? [:]
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
}
