import Foundation
import HealthModel

/// Where the stack's reference backend listens, according to its configuration and the environment.
package enum BackendAddress {
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func port(
        of backend: StackConfiguration.Instance, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Int { try ServerPort.backend.endpoint(of: backend, environment: environment).port }

    package static func host(of backend: StackConfiguration.Instance) -> String {
        backend.configuration["host"].string ?? "127.0.0.1"
    }

    package static func url(of backend: StackConfiguration.Instance) throws(ConfigurationError) -> String {
        try ServerPort.backend.endpoint(of: backend).url(isTLS: false)
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
