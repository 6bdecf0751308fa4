import BackgroundDelivery
import BodyStage
import ConsolidatorStage
import DebouncerStage
import EnergyStage
import GenericStage
import HealthModel
import HeartRateStage
import ObserverReading
import ObserverStage
import PluginKit
import SleepStage
import StepsStage
import UploaderStage
import WorkoutsStage

/// Makes the stages of a stack as their programs do.
struct StageBuilder {
    let configuration: StackConfiguration
    let zone: String
    let seed: UInt64

    /// nil for the hub and the reference backend, which have no stage, and for notifiers, which would do things outside.
    func host(_ instance: StackConfiguration.Instance, in world: SimulatedWorld) throws -> SimulatedHost? {
        let (configuration, zone, seed) = (configuration, zone, seed)
        func host(_ make: @escaping () throws -> any Stage) -> SimulatedHost {
            SimulatedHost(instance.name, plugin: instance.manifest.name, in: world, stage: make)
        }
        switch instance.manifest.kind {
        case .hub, .backend, .notifier: return nil
        case .observer:
            return SimulatedHost(
                instance.name, plugin: instance.manifest.name, in: world, source: { try ObserverSource(database: $0) },
                stage: {
                    ObserverStage(
                        instance: instance.name, zone: zone, defaultUser: "me",
                        delivery: DeliveryPolicy(configuration: instance.configuration["delivery"]),
                        refusal: configuration.registrationRefusal)
                })
        case .debouncer:
            return host { try DebouncerStage(stack: configuration, instance: instance) }
        case .consolidator: return host { try ConsolidatorStage(stack: configuration, instance: instance) }
        case .uploader:
            return host {
                UploaderStage(
                    stack: configuration, instance: instance, needsPath: false,
                    generator: SimulatedRandom(seed: seed))
            }
        case .handler:
            guard let handler = Self.handlers[instance.manifest.name] else {
                throw ConfigurationError(
                    file: configuration.file, key: "instances.\(instance.name)",
                    reason: "is a program of its own, which a simulation in one process can't run; leave it out (null)")
            }
            return host { HandlerStage(handler, instance: instance, stack: configuration) }
        }
    }

    private static let handlers: [String: any DayHandler] = [
        "steps": StepsHandler(), "heart-rate": HeartRateHandler(), "sleep": SleepHandler(), "energy": EnergyHandler(),
        "workouts": WorkoutsHandler(), "body": BodyHandler(), "generic": GenericHandler(),
    ]
}
