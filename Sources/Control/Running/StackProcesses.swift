import Configuration
import Processes

/// How the processes of a stack are started.
struct StackProcesses: Sendable {
    let state: StateFolder
    let configurationFile: String?
    let catalog: PluginCatalog
    /// The zone for a new user's days; if it is nil, the configuration decides.
    let zone: String?
    /// The folder from which the observer takes files; if it is nil, the configuration decides.
    let inbox: String?

    func spec(_ instance: StackConfiguration.Instance) -> ProcessSpec {
        var environment: [String: String] = [:]
        // These variables are meant for the calling process alone.
        for name in ["HEALTHBUS_KEY", "HEALTHBUS_KEY_FILE", ReadinessNotice.variable] { environment[name] = "" }
        if let zone { environment["HEALTHBUS_ZONE"] = zone }
        if let inbox { environment[InboxFolder.variable] = inbox }
        // A program located elsewhere wouldn't find the other plugins' manifests nearby.
        environment["HEALTHBUS_PLUGINS"] = catalog.folder
        var arguments = ["--state", state.path, "--instance", instance.name]
        if let file = configurationFile { arguments += ["--config", file] }
        // The hub starts first, since without it no process becomes ready; all others start together, since they find
        // each other in any order.
        let group = instance.manifest.kind == .hub ? 0 : 1
        return ProcessSpec(
            name: instance.name, executable: catalog.program(instance.manifest), arguments: arguments,
            // When restarted, it waits for a process that somebody started by hand in its place.
            argumentsOnceReady: ["--standby"], environment: environment, group: group,
            restart: RestartPolicy(instance.manifest.restart), niceness: instance.manifest.priority.niceness,
            streams: .init(errorFile: state.log(instance.name)))
    }

    /// How to start a process that stands by to replace the instance's process.
    func standby(_ instance: StackConfiguration.Instance, swap: String) -> ProcessSpec {
        var spec = spec(instance)
        spec.name = Self.standbyName(instance.name)
        spec.arguments += ["--plugin", instance.plugin, "--swap", swap]
        return spec
    }

    /// No instance can have such a name.
    static func standbyName(_ instance: String) -> String { "\(instance) (standby)" }
}
