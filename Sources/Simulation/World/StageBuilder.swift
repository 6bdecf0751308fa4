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
    /// The stages that can be simulated, except handlers, which are found by name.
    private let plugins: [StagePlugin]

    /// - Parameter destinations: plugins besides the uploader.
    package init(configuration: StackConfiguration, zone: String, seed: UInt64, destinations: [StagePlugin] = []) {
        (self.configuration, self.zone, self.seed) = (configuration, zone, seed)
        plugins = [.observer, .debouncer, .consolidator, .uploader] + destinations
    }

    /// Makes a handler's stage; nil for an instance that isn't a handler.
    /// - Parameter version: the plugin's version, if it isn't its own: other versions compute all days again.
    package func handler(
        _ instance: StackConfiguration.Instance, version: Int? = nil
    ) -> (() throws -> any Stage)? {
        guard let handler = LinkedHandler.named(instance.manifest.name) else { return nil }
        var instance = instance
        instance.manifest.version = version ?? instance.manifest.version
        return { [instance, configuration] in
            RepairStage(HandlerStage(handler, instance: instance, stack: configuration), instance: instance.name)
        }
    }

    /// nil for an instance without a stage (hub, ingest, backend, dashboard), and for notifiers, which would affect the
    /// outside world.
    /// - Throws: `ConfigurationError` for a plugin that can't be simulated.
    package func host(_ instance: StackConfiguration.Instance, in world: SimulatedWorld) throws -> SimulatedHost? {
        if !instance.manifest.kind.isStage || instance.manifest.kind == .notifier { return nil }
        let name = instance.manifest.name
        if let stage = handler(instance) { return SimulatedHost(instance.name, plugin: name, in: world, stage: stage) }
        guard let plugin = plugins.first(where: { $0.name == name }) else {
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
