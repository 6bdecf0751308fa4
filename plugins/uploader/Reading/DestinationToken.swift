import Configuration
import DeliveryKit
import Foundation
import HealthModel

/// Decides which token an HTTP destination gets. If there are several destinations, the secret of the stack's own
/// backend never goes to another server.
package enum DestinationToken {
    package static let variable = "HEALTHBUS_BACKEND_TOKEN"

    /// For the only HTTP destination: the environment's token, otherwise that of `tokenCommand` or `tokenFile`,
    /// otherwise that of the stack's backend. If there are several, each needs its own, by either option, unless it
    /// delivers to the stack's own backend. With `"token": "none"` nothing is sent in any case.
    /// - Throws: `ConfigurationError` if there are several and this one names a server but no token.
    package static func source(
        of uploader: StackConfiguration.Instance, in stack: StackConfiguration, state: StateFolder,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> TokenSource {
        let options = uploader.configuration
        if asksForNone(options) { return TokenSource() }
        guard stack.deliveringToBackends.contains(where: { $0.name != uploader.name }) else {
            return TokenSource(options, file: state.backendToken, environment: environment[variable])
        }
        let namesToken = names(options)
        guard uploader.address == nil || namesToken else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(uploader.name).configuration.tokenFile",
                reason:
                    "or 'tokenCommand' is needed: with several destinations, \(variable) and the token in"
                    + " the state folder are only for the stack's own backend")
        }
        return TokenSource(
            options, file: state.backendToken, environment: namesToken ? nil : environment[variable])
    }

    /// The file in the state folder that must hold the destination's token, because nothing else says where the token
    /// is and the stack has no backend of its own to make one; nil if there is no such file.
    package static func unnamedFile(
        of uploader: StackConfiguration.Instance, in stack: StackConfiguration, state: StateFolder,
        environment: [String: String]
    ) -> String? {
        guard stack.only(.backend) == nil, uploader.manifest.destination?.kind == .backend, uploader.address != nil,
            !names(uploader.configuration), environment.filled(variable) == nil
        else { return nil }
        return state.backendToken
    }

    /// Whether the environment's token is sent instead of the token in a file that the options name.
    package static func isOverridden(
        of uploader: StackConfiguration.Instance, in stack: StackConfiguration, environment: [String: String]
    ) -> Bool {
        environment.filled(variable) != nil && stack.deliveringToBackends.map(\.name) == [uploader.name]
    }

    /// Whether the options say that the server asks for no token.
    package static func asksForNone(_ options: Value) -> Bool { options["token"].string == "none" }

    /// Whether the options say where the token is, or that none is needed.
    package static func names(_ options: Value) -> Bool {
        !options["tokenFile"].isNull || options["tokenCommand"].array?.isEmpty == false || asksForNone(options)
    }

    /// The options of which only one may be given; nil if no more than one is.
    package static func contradiction(in options: Value) -> (option: String, other: String)? {
        let given = ["tokenFile", "tokenCommand", "token"].filter {
            !options[$0].isNull && options[$0].array?.isEmpty != true
        }
        return given.count > 1 ? (given[1], given[0]) : nil
    }
}
