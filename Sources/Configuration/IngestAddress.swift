import Foundation
import HealthModel

/// Where the stack takes what phones send, as its configuration and the environment say.
package enum IngestAddress {
    package static let usualPort = 8788

    /// The instance that takes it; nil where the configuration has none.
    package static func instance(in stack: StackConfiguration) -> StackConfiguration.Instance? {
        stack.only(.ingest)
    }

    /// `HEALTHBUS_INGEST_PORT` goes before the configuration, for several stacks on one machine.
    /// - Parameter ingest: nil is what it would be by default.
    /// - Throws: `ConfigurationError` when the variable isn't a port.
    package static func endpoint(
        of ingest: StackConfiguration.Instance?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(ConfigurationError) -> Endpoint {
        let options = ingest?.configuration ?? [:]
        var endpoint = Endpoint(
            host: options["host"].string ?? Endpoint.loopback, port: Int(options["port"].int ?? Int64(usualPort)))
        if let text = environment.filled("HEALTHBUS_INGEST_PORT") {
            guard let port = Int(text), (0...65535).contains(port) else {
                throw ConfigurationError(
                    file: "the environment", key: "HEALTHBUS_INGEST_PORT", reason: "must be a port, 0 to 65535")
            }
            endpoint.port = port
        }
        return endpoint
    }
}

extension Endpoint {
    /// Whether only this machine reaches it.
    package var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    /// Whether it listens at all of the machine's addresses, which isn't an address to connect to.
    package var isEverywhere: Bool { host == "0.0.0.0" || host == "::" }
}
