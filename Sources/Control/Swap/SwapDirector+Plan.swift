import Configuration
import Logging
import Protocol
import Supervisor
import Synchronization

extension SwapDirector {
    /// Decides what to do about a request.
    /// - Throws: `Failure` or `ConfigurationError` for a request that is refused before anything happens.
    func plan(_ wish: SwapWish, _ supervisor: Supervisor) throws -> Plan {
        let running = running.withLock { $0 }
        let name = wish.instance
        if wish.plugin == nil, try layer.plugin(of: name) == nil {
            throw Failure("there is no swap to undo: '\(name)' runs the configured plugin")
        }
        if try layer.stopped().contains(name) {
            throw Failure("'\(name)' is stopped", hint: "start it first with 'healthbus start \(name)'")
        }
        try refuse(wish, running)
        func stack(_ choice: StackConfiguration.Choice) throws -> StackConfiguration {
            try StackConfiguration(
                path: processes.configurationFile, state: processes.state, choices: [name: choice],
                catalog: currentCatalog())
        }
        let wanted = try stack(wish.plugin.map { .plugin($0) } ?? .configured)
        if let failure = SwapRule.refusal(name, running: running, wanted: wanted) { throw failure }
        guard let old = running.instance(name), let new = wanted.instance(name) else {
            throw Failure("this stack has no '\(name)'")
        }
        update(wish.id) { swap in
            swap.from = old.plugin
            swap.to = new.plugin
        }
        try requireSupervised(name, supervisor)
        return Plan(
            instance: name, standby: StackProcesses.standbyName(name), pid: 0,
            entry: new.plugin == (try stack(.configured).instance(name)?.plugin) ? nil : new.plugin, wanted: wanted,
            old: processes.spec(old))
    }

    /// Refuses requests that the names alone rule out.
    private func refuse(_ wish: SwapWish, _ running: StackConfiguration) throws {
        let kind = running.instance(wish.instance)?.manifest.kind
        if kind == .hub, running.bus.isSealed {
            throw Failure(
                "the hub of a sealed bus can't be swapped: no process can stand by there without a key",
                hint: "end its process: the supervisor restarts it, and nothing is lost")
        }
        guard let plugin = wish.plugin else { return }
        if plugin.contains("/"), running.bus.isRemote {
            throw Failure(
                "a plugin can't be named by its path on a bus that other machines can reach",
                hint: "anyone who gives commands there could run any program; put it into \(processes.catalog.folder)"
            )
        }
        let catalog = try currentCatalog()
        guard let manifest = try catalog.manifest(plugin, from: "/") else {
            let names = catalog.manifests.values.filter { kind == nil || $0.kind == kind }.map(\.name).sorted()
            throw Failure("there is no plugin '\(plugin)'", hint: Nearest.hint(for: plugin, among: names))
        }
        if let kind, manifest.kind != kind {
            throw Failure(
                "'\(wish.instance)' can't be swapped for '\(manifest.name)': its kind is"
                    + " \(manifest.kind.rawValue), not \(kind.rawValue)",
                hint: "'healthbus plugins list' shows them")
        }
    }

    /// The catalog is read again, since plugins may have been added or removed.
    private func currentCatalog() throws -> PluginCatalog {
        try PluginCatalog(folder: processes.catalog.folder, programs: processes.catalog.programs)
    }

    /// The supervisor must not end a process that a person runs by hand.
    private func requireSupervised(_ name: String, _ supervisor: Supervisor) throws {
        let status = supervisor.statuses.first { $0.name == name }
        let folder = processes.state.instance(name)
        if status?.state == .ready { return }
        guard let holder = InstanceLock.livingHolder(folder: folder), holder != status?.pid.map({ Int($0) }),
            try InstanceLock.take(folder: folder) == nil
        else { return }
        throw Failure(
            "'\(name)' is run by hand (process \(holder)), not by 'healthbus up'",
            hint: "end that one; or take its place with 'healthbus run \(name) --plugin NAME --takeover'")
    }
}
