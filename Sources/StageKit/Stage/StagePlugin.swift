import Changelog
import Configuration
import Foundation
import HealthModel
import SQLite

/// What a stage is made from: its instance, and what the host provides.
package struct StageSetting {
    package let stack: StackConfiguration
    package let instance: StackConfiguration.Instance
    package let environment: [String: String]
    package let generator: any RandomNumberGenerator
    /// Whether anything that the stage sends can leave this process; in a simulation nothing can.
    package let reachesOut: Bool

    package init(
        stack: StackConfiguration, instance: StackConfiguration.Instance, environment: [String: String],
        generator: any RandomNumberGenerator, reachesOut: Bool
    ) {
        (self.stack, self.instance, self.environment, self.generator) = (stack, instance, environment, generator)
        self.reachesOut = reachesOut
    }

    package var configuration: Value { instance.configuration }
    package var name: String { instance.name }
}

/// How to make a plugin that is a stage. The stage's library defines this value; both its program and the simulation
/// use it.
package struct StagePlugin: Sendable {
    /// The plugin's name in its manifest.
    package let name: String
    package let stage: @Sendable (StageSetting) throws -> any Stage
    /// Makes the runner of the stage's effects, for its program.
    package let effects: @Sendable (PluginContext) throws -> (any EffectRunner)?
    /// Makes the source that answers pulls.
    package let source: @Sendable (Database) throws -> any PullSource

    package init(
        _ name: String, stage: @escaping @Sendable (StageSetting) throws -> any Stage,
        effects: @escaping @Sendable (PluginContext) throws -> (any EffectRunner)? = { _ in nil },
        source: @escaping @Sendable (Database) throws -> any PullSource = { ChangelogSource(database: $0) }
    ) {
        (self.name, self.stage, self.effects, self.source) = (name, stage, effects, source)
    }
}

extension PluginProgram {
    /// Runs a stage until SIGTERM or SIGINT; ends the process.
    package static func run(_ plugin: StagePlugin) -> Never {
        run(plugin.name) { context in
            let setting = StageSetting(
                stack: context.stack, instance: context.instance, environment: ProcessInfo.processInfo.environment,
                generator: SystemRandomNumberGenerator(), reachesOut: true)
            return StageParts(
                stage: try plugin.stage(setting), effects: try plugin.effects(context), source: plugin.source)
        }
    }
}
