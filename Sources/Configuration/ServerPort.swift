import Foundation
import HealthModel

/// The servers of a stack whose ports the environment can set. This is the only list, used by everything that refers to
/// them.
package enum ServerPort: CaseIterable, Sendable {
    case backend, ingest, dashboard

    /// This variable takes precedence over the configuration.
    package var variable: String {
        switch self {
        case .backend: BackendAddress.variable
        case .ingest: IngestAddress.variable
        case .dashboard: DashboardAddress.variable
        }
    }

    package var kind: Manifest.Kind {
        switch self {
        case .backend: .backend
        case .ingest: .ingest
        case .dashboard: .dashboard
        }
    }

    /// The default port, if the next free one may be used when it is taken; nil for a server that needs its own.
    package var movablePort: Int? {
        switch self {
        case .backend: nil
        case .ingest: IngestAddress.usualPort
        case .dashboard: DashboardAddress.usualPort
        }
    }

    /// The endpoint at which an instance of this kind listens.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package func endpoint(
        of instance: StackConfiguration.Instance, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint {
        switch self {
        case .backend:
            Endpoint(
                host: BackendAddress.host(of: instance),
                port: try BackendAddress.port(of: instance, environment: environment))
        case .ingest: try IngestAddress.endpoint(of: instance, environment: environment)
        case .dashboard: try DashboardAddress.endpoint(of: instance, environment: environment)
        }
    }
}
