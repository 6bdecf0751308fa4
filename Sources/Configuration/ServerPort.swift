import Foundation
import HealthModel

/// The servers of a stack whose ports the environment can set: the only list, used by everything that refers to them.
package enum ServerPort: CaseIterable, Sendable {
    case backend, ingest, dashboard

    /// Takes precedence over the configuration.
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

    /// A port that gives way to the next free one if it is in use; nil for a server that needs its own.
    package var movablePort: Int? {
        switch self {
        case .backend: nil
        case .ingest: IngestAddress.usualPort
        case .dashboard: DashboardAddress.usualPort
        }
    }

    /// Where an instance of this kind listens.
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
