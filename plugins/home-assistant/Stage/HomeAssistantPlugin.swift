import Configuration
import DeliveryKit
import Glibc
import HealthModel
import MQTT
import StageKit

extension StagePlugin {
    package static let homeAssistant = StagePlugin(
        "home-assistant",
        stage: { setting in
            // Refused before anything is opened.
            _ = try BrokerLogin(setting.instance, in: setting.stack)
            return try HomeAssistantStage(stack: setting.stack, instance: setting.instance)
        },
        effects: { context in
            // OpenSSL doesn't suppress the signal when it writes to a broken connection.
            signal(SIGPIPE, SIG_IGN)
            return try BrokerRunner(BrokerLogin(context.instance, in: context.stack))
        },
        source: { DeliverySource(database: $0) })
}

extension HomeAssistantStage {
    /// Creates the stage for an instance in a stack.
    /// - Throws: `ConfigurationError` for names that can't be part of a topic, or that are identical.
    package convenience init(
        stack: StackConfiguration, instance: StackConfiguration.Instance
    ) throws(ConfigurationError) {
        let options = instance.configuration
        let topics = MQTTTopics(
            base: options["topic"].string ?? "healthbus",
            discoveryPrefix: options["discoveryPrefix"].string ?? "homeassistant")
        for (option, name) in [("topic", topics.base), ("discoveryPrefix", topics.discoveryPrefix)]
        where !MQTTTopics.isName(name) {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.\(option)",
                reason: "must be 1 to 64 letters, digits, '_' and '-'")
        }
        guard topics.base != topics.discoveryPrefix else {
            throw ConfigurationError(
                file: stack.file, key: "instances.\(instance.name).configuration.topic",
                reason: "must not be the discovery prefix, where Home Assistant publishes its own status")
        }
        let people = (options["people"].array ?? []).compactMap(\.string)
        self.init(
            observer: stack.only(.observer)?.name ?? "observer",
            handlers: stack.handlers.filter { $0.manifest.produces.contains { $0.hasPrefix("events.") } }.map(\.name),
            consolidator: stack.only(.consolidator)?.name ?? "consolidator", instance: instance.name,
            discovery: Discovery(
                topics: topics, sensors: stack.handlers.map(\.manifest).figures.compactMap { FigureSensor($0) }),
            people: people.isEmpty ? nil : Set(people))
    }
}
