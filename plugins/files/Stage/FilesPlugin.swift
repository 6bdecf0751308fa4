import Configuration
import DeliveryKit
import Foundation
import HealthModel
import HealthResources
import StageKit

extension StagePlugin {
    package static let files = StagePlugin(
        "files",
        stage: { setting in
            let layout = FilesLayout(setting.configuration)
            if let problem = layout.patients.problem {
                throw ConfigurationError(
                    file: setting.stack.file, key: "instances.\(setting.name).configuration.patients", reason: problem)
            }
            return FilesStage(
                stack: setting.stack, instance: setting.instance,
                folder: try setting.instance.chosenFolder(
                    file: setting.stack.file, environment: setting.environment),
                layout: layout,
                settle: .milliseconds(Int64((setting.configuration["settleSeconds"].double ?? 2) * 1000)))
        },
        effects: { context in
            FilesRunner(
                folder: try context.instance.folder(
                    file: context.stack.file, state: context.state, environment: ProcessInfo.processInfo.environment))
        },
        source: { DeliverySource(database: $0) })
}

extension FilesStage {
    /// Creates the stage for the files of a stack's instance.
    package convenience init(
        stack: StackConfiguration, instance: StackConfiguration.Instance, folder: String?, layout: FilesLayout,
        settle: Duration
    ) {
        self.init(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name, instance: instance.name, folder: folder, layout: layout,
            figures: stack.handlers.map(\.manifest).figures, settle: settle, family: { stack.family(of: $0) })
    }
}
