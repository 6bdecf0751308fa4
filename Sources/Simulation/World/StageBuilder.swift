import Configuration
import ConsolidatorStage
import DebouncerStage
import HandlerKit
import ObserverReading
import ObserverStage
import StageKit
import UploaderStage

/// Makes the stages of a stack the way their programs do.
package struct StageBuilder {
    let configuration: StackConfiguration
    let zone: String
    let seed: UInt64

    package init(configuration: StackConfiguration, zone: String, seed: UInt64) {
        (self.configuration, self.zone, self.seed) = (configuration, zone, seed)
    }

    /// The stages that can be simulated, except handlers, which are found by name.
    private static let plugins: [StagePlugin] = [.observer, .debouncer, .consolidator, .uploader]

    /// nil for an instance without a stage (hub, ingest, backend, dashboard), and for notifiers, which would affect the
    /// outside world.
    /// - Throws: `ConfigurationError` for a plugin that can't be simulated.
    package func host(_ instance: StackConfiguration.Instance, in world: SimulatedWorld) throws -> SimulatedHost? {
        if !instance.manifest.kind.isStage || instance.manifest.kind == .notifier { return nil }
        let name = instance.manifest.name
        let configuration = configuration
        if let handler = LinkedHandler.named(name) {
            return SimulatedHost(
                instance.name, plugin: name, in: world,
                stage: {
                    RepairStage(
                        HandlerStage(handler, instance: instance, stack: configuration), instance: instance.name)
                })
        }
        guard let plugin = Self.plugins.first(where: { $0.name == name }) else {
            throw ConfigurationError(
                file: configuration.file, key: "instances.\(instance.name)",
                reason: "is a program of its own, which a simulation in one process can't run; leave it out (null)")
        }
        let setting = StageSetting(
            stack: configuration, instance: instance, environment: ["HEALTHBUS_ZONE": zone],
            generator: SimulatedRandom(seed: seed), reachesOut: false)
        return SimulatedHost(
            instance.name, plugin: name, in: world, source: plugin.source,
            stage: { RepairStage(try plugin.stage(setting), instance: instance.name) })
    }
}
