import Configuration
import HealthModel
import Logging

/// Which plugin may replace an instance's plugin while everything else keeps running.
///
/// The other processes read this stack's configuration when they started. They rely on several things in it: the
/// debouncer, on the types that a handler gets and what triggers it; a handler of all other types, on the types that
/// are named; the uploader, on which instances have events and under which paths it delivers; the consolidator and the observer, on
/// which instances there are. All of these must remain true. The window isn't one of them: a handler divides time into
/// days itself, and requests samples by instants.
package enum SwapRule {
    /// Why a plugin may not replace another; nil if it may.
    /// - Parameters:
    ///   - running: the configuration known to the running processes.
    ///   - wanted: the configuration that would result from the swap.
    package static func refusal(
        _ name: String, running: StackConfiguration, wanted: StackConfiguration
    ) -> Failure? {
        guard let old = running.instance(name), let new = wanted.instance(name) else {
            return Failure(
                "this stack has no '\(name)'", hint: Nearest.hint(for: name, among: running.instances.map(\.name)))
        }
        if let difference = difference(old, new) {
            return Failure(
                "'\(name)' can't be swapped for '\(new.manifest.name)': \(difference)",
                hint: "name it in a configuration for --config and start the stack with that")
        }
        let others = Set(running.instances.map(\.name)).union(wanted.instances.map(\.name)).subtracting([name])
        for other in others.sorted() {
            guard let before = running.instance(other), let after = wanted.instance(other),
                difference(before, after) == nil
            else {
                return Failure(
                    "the configuration of '\(other)' has changed since the stack was started",
                    hint: "restart the stack; then all of it takes effect")
            }
        }
        return nil
    }

    /// What other processes would need to know, in words; nil if there is nothing.
    private static func difference(
        _ old: StackConfiguration.Instance, _ new: StackConfiguration.Instance
    ) -> String? {
        let (before, after) = (old.manifest, new.manifest)
        guard before.kind == after.kind else {
            return "its kind is \(after.kind.rawValue), not \(before.kind.rawValue)"
        }
        func list(_ types: [String]) -> String { types.isEmpty ? "none" : types.sorted().joined(separator: ", ") }
        if Set(before.types) != Set(after.types) {
            return "its 'types' are different (\(list(after.types)); running: \(list(before.types))),"
                + " and the others depend on them"
        }
        if Set(before.reads) != Set(after.reads) {
            return "it now 'reads' other things besides its types (\(list(after.reads)); running:"
                + " \(list(before.reads))), and the debouncer depends on that"
        }
        if triggers(before) != triggers(after) {
            return "its 'triggers' are different, and the debouncer depends on them"
        }
        if before.kind == .handler, old.family != new.family {
            return "its samples would be delivered as '\(new.family)', not as"
                + " '\(old.family)', and the uploader depends on that"
        }
        let (had, has) = (before.produces.contains(where: isEvents), after.produces.contains(where: isEvents))
        if had != has {
            return had
                ? "it has no events (such as nights or workouts), and those there are would be deleted; if it has any,"
                    + " name 'events.\(after.name)' in its 'produces'"
                : "it has events, and destinations only ask those for events that had some when the stack was started"
        }
        if before.registrationRefusal == nil, before.kind == .debouncer, let why = after.registrationRefusal {
            return "\(why)"
        }
        let health = PluginRights.Entitlement.health
        if before.rights.entitlements.contains(health), !after.rights.entitlements.contains(health) {
            return "it lacks the entitlement 'health', so the observer would refuse its reads"
        }
        let shared: [String] =
            switch before.kind {
            case .backend: ["host", "port", "tokenFile"]
            case .ingest, .dashboard: ["host", "port"]
            default: []
            }
        for key in shared where old.configuration[key] != new.configuration[key] {
            return "its option '\(key)' is different, and those who send to it depend on it"
        }
        let follows = "followUrl"
        if before.kind == .ingest, old.configuration[follows].isNull != new.configuration[follows].isNull {
            return "whether it has '\(follows)' is different, and the observer takes another stack's changes only if it"
                + " knew that at its start"
        }
        return nil
    }

    private static func isEvents(_ topic: String) -> Bool { topic.hasPrefix("events.") }

    private static func triggers(_ manifest: Manifest) -> Set<String> {
        Set(manifest.rights.triggers.map { "\($0)" })
    }
}
