import BackgroundDelivery
import Configuration
import HealthModel
import StageKit

extension DebouncerStage {
    /// The debouncer of a stack: all its handlers and uploaders are consumers.
    /// - Throws: `ConfigurationError` for unusable options, saying what is allowed.
    package convenience init(stack: StackConfiguration, instance: StackConfiguration.Instance) throws {
        let named = stack.namedTypes
        var consumers = stack.handlers.map { handler in
            var consumer =
                handler.manifest.types.contains("*")
                ? Consumer(name: handler.name, types: nil, except: named)
                : Consumer(name: handler.name, types: Set(handler.manifest.sampleTypes))
            for trigger in handler.manifest.rights.triggers {
                switch trigger {
                case .type(let type): if !consumer.takes(type) { consumer.triggers.insert(type) }
                case .time(let minute): consumer.times.insert(minute)
                }
            }
            return consumer
        }
        consumers += stack.instances.filter { $0.manifest.kind == .uploader }.map {
            Consumer(name: $0.name, types: nil, role: .uploader)
        }
        let key = "instances.\(instance.name).configuration"
        let configuration = try DebouncerConfiguration(
            instance.configuration, file: stack.file, key: key,
            metrics: Dictionary(
                uniqueKeysWithValues: stack.handlers.map { ($0.name, Set($0.manifest.types).subtracting(["*"])) }))
        let rights = instance.manifest.rights
        let permitted = rights.permittedTasks
        try instance.manifest.requireTasks(among: DebouncerTask.allCases.map(\.rawValue))
        for task in configuration.tasks where !permitted.contains(task.rawValue) {
            throw ConfigurationError(
                file: stack.file, key: key,
                reason:
                    "needs the task '\(task.rawValue)', which 'permittedTasks' of \(instance.manifest.file) doesn't contain;"
                    + " it contains \(permitted.sorted().joined(separator: ", "))")
        }
        self.init(
            instance: instance.name, observer: stack.only(.observer)?.name ?? "observer",
            consolidator: stack.only(.consolidator)?.name, consumers: consumers, configuration: configuration,
            permissions: .init(rights))
    }

    /// A debouncer with the tasks that every debouncer has.
    package convenience init(
        observer: String, consumers: [Consumer], policy: ReleaseWindow.Policy
    ) {
        self.init(
            observer: observer, consumers: consumers, configuration: DebouncerConfiguration(policy: policy),
            permissions: .init(
                tasks: Set(DebouncerTask.allCases.map(\.rawValue)), backgroundModes: ["processing", "fetch"]))
    }
}
