import Configuration
import Foundation
import HealthModel

/// Where an instance's files are.
package enum FilesFolder {
    package static let variable = "HEALTHBUS_FILES_FOLDER"

    /// The configured path, otherwise the one from the environment, otherwise one in the instance's own folder.
    /// - Throws: `ConfigurationError` for a path that isn't absolute.
    package static func path(
        of instance: StackConfiguration.Instance, file: String, state: StateFolder, environment: [String: String]
    ) throws -> String {
        try chosen(of: instance, file: file, environment: environment) ?? state.instance(instance.name) + "/data"
    }

    /// The configured path, otherwise the one from the environment; nil for the one in the instance's own folder, which
    /// moves with it.
    /// - Throws: `ConfigurationError` for a path that isn't absolute.
    package static func chosen(
        of instance: StackConfiguration.Instance, file: String, environment: [String: String]
    ) throws -> String? {
        let told = environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        let configured = instance.configuration["folder"].string
        guard let path = configured ?? told else { return nil }
        guard path.hasPrefix("/"), path.utf8.count > 1 else {
            throw ConfigurationError(
                file: configured == nil ? ConfigurationError.environment : file,
                key: configured == nil ? variable : "instances.\(instance.name).configuration.folder",
                reason: "must be a full path, such as /srv/health, not '\(path)'")
        }
        return URL(fileURLWithPath: path).standardizedFileURL.path
    }
}
