import Configuration
import HealthModel
import NotifyStage
import Protocol
import StageKit

PluginProgram.run("notify") { context in
    let options = context.configuration
    let target = try NotificationTarget(
        command: (options["command"].array ?? []).compactMap(\.string), url: options["url"].string,
        tokenFile: options["tokenFile"].string, file: context.stack.file, instance: context.name)
    return StageParts(
        stage: NotifyStage(
            producers: context.stack.instances.filter { Alert.raisers.contains($0.manifest.kind) }.map(\.name),
            kinds: options["kinds"].array.flatMap { $0.isEmpty ? nil : Set($0.compactMap(\.string)) },
            tellsCleared: options["cleared"].bool == true),
        effects: NotificationRunner(target, timeout: options["timeoutSeconds"].double ?? 30))
}
