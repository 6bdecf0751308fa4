import Configuration
import Foundation
import HealthModel

/// Which token an HTTP destination gets. If there are several, the secret of the stack's own backend never goes to
/// another server.
package enum DestinationToken {
    package static let variable = "HEALTHBUS_BACKEND_TOKEN"

    /// For the only HTTP destination: the environment's token, otherwise that of `tokenCommand` or `tokenFile`,
    /// otherwise that of the stack's backend. If there are several, each needs its own, by either option, unless it
    /// delivers to the stack's own backend.
    /// - Throws: `ConfigurationError` if there are several and this one names a server but no token.
    package static func source(
        of uploader: StackConfiguration.Instance, in stack: StackConfiguration, state: StateFolder,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> TokenSource {
        let options = uploader.configuration
        let others = stack.instances.filter {
            $0.name != uploader.name && $0.manifest.kind == .uploader && $0.manifest.isHTTPDestination
        }
        guard !others.isEmpty else {
            return TokenSource(options, file: state.backendToken, environment: environment[variable])
        }
        let ownBackend = options["url"].isNull
        let namesToken = !options["tokenFile"].isNull || options["tokenCommand"].array?.isEmpty == false
        guard ownBackend || namesToken else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(uploader.name).configuration.tokenFile",
                reason:
                    "or 'tokenCommand' is needed: with several destinations, \(variable) and the token in"
                    + " the state folder are only for the stack's own backend")
        }
        return TokenSource(
            options, file: state.backendToken, environment: namesToken ? nil : environment[variable])
    }
}

extension Manifest {
    /// Whether its instances deliver over HTTP: they have the option `url`.
    package var isHTTPDestination: Bool { kind == .uploader && !configuration["properties"]["url"].isNull }
    /// Whether they publish to an MQTT broker: they have the option `broker`.
    package var isBrokerDestination: Bool { kind == .uploader && !configuration["properties"]["broker"].isNull }
    /// Whether they keep files in a folder: they have the option `folder`.
    package var isFolderDestination: Bool { kind == .uploader && !configuration["properties"]["folder"].isNull }
}
