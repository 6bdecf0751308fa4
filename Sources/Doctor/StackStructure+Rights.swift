import BackgroundDelivery
import Configuration
import HealthModel
import MessageBus
import Monitoring

// What a plugin's manifest claims, compared with what the observer and the hub grant. Both must agree, as an app's
// entitlements and its provisioning profile must.
extension StackStructure {
    /// Entitlements that are missing.
    var rights: [Finding] {
        let bus = BusRights(stack)
        return stack.instances.compactMap { instance -> Finding? in
            let manifest = instance.manifest
            func missing(_ what: String, remedy: String) -> Finding {
                Finding(.error, manifest.file, key: "entitlements", what, remedy: remedy)
            }
            if manifest.kind == .debouncer, let refusal = manifest.registrationRefusal {
                return missing(
                    "can't be registered for background delivery: changes reach nobody while the app isn't on the screen",
                    remedy: refusal.remedy)
            }
            if manifest.kind == .handler, manifest.sampleTypes.contains(HealthType.locationIdentifier),
                !manifest.rights.entitlements.contains(.location)
            {
                return missing(
                    "reads positions without the right to: it gets none",
                    remedy: "add \"location-always\" to \"entitlements\"")
            }
            guard [.debouncer, .handler, .consolidator, .uploader].contains(manifest.kind),
                !manifest.rights.entitlements.contains(.health),
                Self.may(bus.grant(.instance(instance.name), name: instance.name)?.publishes, "pull.\(bus.observer)")
            else { return nil }
            return missing(
                "may ask the observer, but lacks the entitlement health: its reads are refused",
                remedy: "add \"health\" to \"entitlements\"")
        }
    }

    /// Topics that a manifest names but the hub doesn't forward.
    var topicRights: [Finding] {
        let bus = BusRights(stack)
        return stack.instances.filter { [.handler, .uploader].contains($0.manifest.kind) }.flatMap { instance in
            let grant = bus.grant(.instance(instance.name), name: instance.name)
            func findings(_ key: String, _ topics: [String], _ granted: [Subscription]?, _ what: String) -> [Finding] {
                topics.filter { !Self.may(granted, $0) }.map { topic in
                    Finding(
                        .warning, instance.manifest.file, key: key,
                        "names \(topic), which the hub doesn't let \(instance.name) \(what)",
                        remedy: "leave it out of \"\(key)\"")
                }
            }
            // Pulling doesn't require the right to receive the hints.
            let messages = instance.manifest.consumes.filter { $0.hasPrefix("sync.") || $0.hasPrefix("observed.") }
                .map(instance.topic)
            return findings("produces", instance.manifest.produces.map(instance.topic), grant?.publishes, "publish")
                + findings("consumes", messages, grant?.hears, "hear")
        }
    }

    /// - Parameter topic: a topic that ends with `*` stands for all topics with that prefix.
    private static func may(_ granted: [Subscription]?, _ topic: String) -> Bool {
        (granted ?? []).contains { subscription in
            if case .exact(let exact) = subscription { return TopicFlow.meet(exact, topic) }
            return TopicFlow.meet(subscription.text + "*", topic)
        }
    }
}
