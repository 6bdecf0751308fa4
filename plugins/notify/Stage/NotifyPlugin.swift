import Configuration
import HealthModel
import Protocol
import StageKit

extension StagePlugin {
    package static let notify = StagePlugin(
        "notify",
        stage: { setting in
            let options = setting.configuration
            return NotifyStage(
                producers: setting.stack.instances.filter { Alert.raisers.contains($0.manifest.kind) }.map(\.name),
                kinds: options["kinds"].array.flatMap { $0.isEmpty ? nil : Set($0.compactMap(\.string)) },
                reportsCleared: options["cleared"].bool == true)
        },
        effects: { context in
            let options = context.configuration
            let target = try NotificationTarget(
                command: (options["command"].array ?? []).compactMap(\.string), url: options["url"].string,
                tokenFile: options["tokenFile"].string, file: context.stack.file, instance: context.name)
            return NotificationRunner(target, timeout: options["timeoutSeconds"].double ?? 30)
        })
}
