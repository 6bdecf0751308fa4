import Foundation
import HealthModel

// Where a destination is, as its plugin's manifest declares.
extension StackConfiguration.Instance {
    /// Its address, as its options say; nil if they leave it out, and for everything that isn't a destination.
    package var address: String? { configuration[addressOption].string }

    /// The option with its address.
    package var addressOption: String { manifest.destination?.place.first ?? "" }

    /// That option's key in the stack's configuration.
    package var addressKey: String { "instances.\(name).configuration.\(addressOption)" }

    /// Its address, and who says so: its options, otherwise the environment.
    /// - Parameter file: the stack's configuration.
    package func address(
        file: String, environment: [String: String]
    ) -> (text: String, file: String, key: String)? {
        if let address { return (address, file, addressKey) }
        guard let variable = manifest.destination?.variable, let text = environment.filled(variable) else { return nil }
        return (text, ConfigurationError.environment, variable)
    }

    /// Its address, for a plugin that can't work without one.
    /// - Parameter what: what it is, as in "the base URL of a FHIR R4 server".
    /// - Throws: `ConfigurationError` when nobody says it.
    package func address(
        needed what: String, file: String, environment: [String: String]
    ) throws(ConfigurationError) -> String {
        if let given = address(file: file, environment: environment) { return given.text }
        let variable = manifest.destination?.variable.map { ", or \($0)" } ?? ""
        throw ConfigurationError(file: file, key: addressKey, reason: "is needed\(variable): \(what)")
    }

    /// The folder of a destination that is one; nil for the one in the instance's own folder, which moves with it.
    /// - Throws: `ConfigurationError` for a path that isn't absolute.
    package func chosenFolder(file: String, environment: [String: String]) throws -> String? {
        guard let given = address(file: file, environment: environment) else { return nil }
        guard given.text.hasPrefix("/"), given.text.utf8.count > 1 else {
            throw ConfigurationError(
                file: given.file, key: given.key,
                reason: "must be a full path, such as /srv/health, not '\(given.text)'")
        }
        return URL(fileURLWithPath: given.text).standardizedFileURL.path
    }

    /// The same, with the one in the instance's own folder.
    /// - Throws: `ConfigurationError` for a path that isn't absolute.
    package func folder(file: String, state: StateFolder, environment: [String: String]) throws -> String {
        try chosenFolder(file: file, environment: environment) ?? state.instance(name) + "/data"
    }
}

extension StackConfiguration {
    /// The instances that deliver to a server with the backend's contract.
    package var deliveringToBackends: [Instance] { instances.filter { $0.manifest.destination?.kind == .backend } }
}
