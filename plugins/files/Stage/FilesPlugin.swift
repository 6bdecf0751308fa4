import Configuration
import Foundation
import HealthModel
import StageKit
import UploaderReading

extension StagePlugin {
    package static let files = StagePlugin(
        "files",
        stage: { setting in
            FilesStage(
                stack: setting.stack, instance: setting.instance, layout: FilesLayout(setting.configuration),
                settle: .milliseconds(Int64((setting.configuration["settleSeconds"].double ?? 2) * 1000)))
        },
        effects: { context in
            FilesRunner(
                folder: try FilesFolder.path(
                    of: context.instance, in: context.stack, standard: context.folder + "/data",
                    environment: ProcessInfo.processInfo.environment))
        },
        source: { UploaderSource(database: $0) })
}

/// Where an instance's files are.
package enum FilesFolder {
    package static let variable = "HEALTHBUS_FILES_FOLDER"

    /// As it is configured, else as the environment says, else in the instance's own folder.
    /// - Throws: `ConfigurationError` for a path that isn't full.
    package static func path(
        of instance: StackConfiguration.Instance, in stack: StackConfiguration, standard: String,
        environment: [String: String]
    ) throws -> String {
        let told = environment[variable].flatMap { $0.isEmpty ? nil : $0 }
        guard let path = instance.configuration["folder"].string ?? told else { return standard }
        guard path.hasPrefix("/"), path.count > 1 else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.folder",
                reason: "must be a full path, as /srv/health, not '\(path)'")
        }
        return URL(fileURLWithPath: path).standardizedFileURL.path
    }
}

extension FilesStage {
    /// The files of a stack's instance.
    package convenience init(
        stack: StackConfiguration, instance: StackConfiguration.Instance, layout: FilesLayout, settle: Duration
    ) {
        self.init(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name, instance: instance.name, layout: layout,
            figures: stack.handlers.map(\.manifest).figures, settle: settle, family: { stack.family(of: $0) })
    }
}
