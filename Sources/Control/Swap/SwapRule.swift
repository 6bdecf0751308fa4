import Configuration
import HealthModel
import Logging

/// Which plugin may take an instance's place while everyone else runs on.
///
/// The others have read this stack's configuration when they started: the debouncer which types a handler gets and what triggers it, a handler of all
/// other types which types are named, the uploader whose events to deliver and under which paths, consolidator and observer who is there. What they know
/// must stay true. The window isn't among that: a handler cuts its days itself, and asks for samples by instants.
package enum SwapRule {
    /// Why not; nil when it may.
    /// - Parameters:
    ///   - running: as the processes that run know it.
    ///   - wanted: as it would be.
    package static func refusal(
        _ name: String, running: StackConfiguration, wanted: StackConfiguration
    ) -> Failure? {
        guard let old = running.instance(name), let new = wanted.instance(name) else {
            return Failure(
                "this stack has no '\(name)'", hint: Nearest.hint(for: name, among: running.instances.map(\.name)))
        }
        if let difference = difference(old, new) {
            return Failure(
                "'\(new.manifest.name)' can't take the place of '\(old.manifest.name)' in '\(name)': \(difference)",
                hint: "name it in a configuration for --config and start the stack with that")
        }
        let others = Set(running.instances.map(\.name)).union(wanted.instances.map(\.name)).subtracting([name])
        for other in others.sorted() {
            guard let before = running.instance(other), let after = wanted.instance(other),
                difference(before, after) == nil
            else {
                return Failure(
                    "the configuration of '\(other)' has changed since the stack was started",
                    hint: "stop the stack and start it again; that takes over all of it")
            }
        }
        return nil
    }

    /// What others would have to know, in words; nil when there is nothing.
    private static func difference(
        _ old: StackConfiguration.Instance, _ new: StackConfiguration.Instance
    ) -> String? {
        let (before, after) = (old.manifest, new.manifest)
        guard before.kind == after.kind else {
            return "it is of the kind \(after.kind.rawValue), not \(before.kind.rawValue)"
        }
        func list(_ types: [String]) -> String { types.isEmpty ? "none" : types.sorted().joined(separator: ", ") }
        if Set(before.types) != Set(after.types) {
            return "its 'types' are other ones (\(list(after.types)); running: \(list(before.types))),"
                + " and the others go by those"
        }
        if Set(before.reads) != Set(after.reads) {
            return "what it 'reads' beside its types is something else (\(list(after.reads)); running:"
                + " \(list(before.reads))), and the debouncer goes by that"
        }
        if triggers(before) != triggers(after) {
            return "its 'triggers' are other ones, and the debouncer goes by them"
        }
        if before.kind == .handler, old.family != new.family {
            return "its samples would be delivered as '\(new.family)', not as"
                + " '\(old.family)', and the uploader goes by that"
        }
        let (had, has) = (before.produces.contains(where: isEvents), after.produces.contains(where: isEvents))
        if had != has || has && before.name != after.name {
            return "its events would come under another topic, and the uploader tells nights from workouts by that"
        }
        if before.registrationRefusal == nil, before.kind == .debouncer, let why = after.registrationRefusal {
            return "\(why)"
        }
        let shared: [String] =
            switch before.kind {
            case .backend: ["host", "port", "tokenFile"]
            case .ingest, .dashboard: ["host", "port"]
            default: []
            }
        for key in shared where old.configuration[key] != new.configuration[key] {
            return "its option '\(key)' is another one, and those who send to it go by that"
        }
        return nil
    }

    private static func isEvents(_ topic: String) -> Bool { topic.hasPrefix("events.") }

    private static func triggers(_ manifest: Manifest) -> Set<String> {
        Set(manifest.rights.triggers.map { "\($0)" })
    }
}
