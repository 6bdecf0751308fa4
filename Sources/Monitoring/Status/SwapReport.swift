import Configuration
import HealthModel
import Inspection
import Protocol

/// What `status` says about swaps: those under way, and instances whose plugin isn't the configured one. Pure.
package struct SwapReport: Sendable, Equatable {
    /// An instance whose plugin isn't the configured one.
    package struct Swapped: Codable, Sendable, Equatable {
        package var instance: String
        /// Plugins by name, or by their folder's path.
        package var plugin: String
        package var configured: String
        /// The version in the manifest; nil if unknown.
        @OrNull package var version: Int?
        @OrNull package var configuredVersion: Int?
        /// Whether the state folder records the swap, so that it survives a restart. If not, the plugin was started by
        /// hand.
        package var isKept: Bool

        private enum CodingKeys: String, CodingKey {
            case instance, plugin, configured, version, configuredVersion
            case isKept = "kept"
        }
    }

    package let underWay: [SwapProgress]
    package let swapped: [Swapped]

    /// - Parameters:
    ///   - swaps: as the supervisor reports them.
    ///   - instances: as the stack has them, swaps included.
    ///   - kept: the instances that are swapped according to the state folder, in their configured form.
    ///   - running: the names of the plugins that run, by instance.
    package init(
        swaps: [SwapProgress], instances: [StackConfiguration.Instance],
        kept: [String: StackConfiguration.Instance], running: [String: String]
    ) {
        underWay = swaps.filter { !$0.step.isOver }
        swapped = instances.compactMap { instance in
            let name = instance.name
            if let configured = kept[name], configured.plugin != instance.plugin {
                return Swapped(
                    instance: name, plugin: instance.plugin, configured: configured.plugin,
                    version: instance.manifest.version, configuredVersion: configured.manifest.version, isKept: true)
            }
            guard let plugin = running[name], plugin != instance.manifest.name else { return nil }
            return Swapped(
                instance: name, plugin: plugin, configured: instance.plugin, version: nil,
                configuredVersion: instance.manifest.version, isKept: false)
        }
    }

    /// "swaps": `[{instance, from, to, step, dryRun}]`, "swapped": `[{instance, plugin, configured, version,
    /// configuredVersion, kept}]`.
    var members: [String: Value] {
        [
            "swaps": .array(
                underWay.map {
                    [
                        "instance": .string($0.instance), "from": .string($0.from), "to": .string($0.to),
                        "step": .string($0.step.rawValue), "dryRun": .bool($0.dryRun),
                    ]
                }),
            "swapped": .array(swapped.map { Value($0) }),
        ]
    }

    /// A line for each; empty if there are none.
    package var text: String {
        let lines =
            underWay.map { swap in
                let new = swap.to.isEmpty ? "the configured plugin" : swap.to
                let old = swap.from.isEmpty ? "the running plugin" : swap.from
                return swap.step == .switching
                    ? "Swap under way: in '\(swap.instance)', \(new) takes the place of \(old)."
                    : "Swap under way: \(new) is tried beside \(old) in '\(swap.instance)'"
                        + (swap.dryRun ? ", only a dry run." : ".")
            }
            + swapped.map { one in
                let configured = Self.named(one.configured, one.configuredVersion)
                let plugin = Self.named(one.plugin, one.version)
                let name = one.instance
                return one.isKept
                    ? "'\(name)' is swapped: it has \(plugin) instead of \(configured); "
                        + "'healthbus swap \(name) --back' returns to that."
                    : "'\(name)' runs \(plugin) instead of \(configured): it was started by hand."
            }
        return lines.isEmpty ? "" : lines.joined(separator: "\n") + "\n\n"
    }

    private static func named(_ plugin: String, _ version: Int?) -> String {
        plugin + (version.map { " (version \($0))" } ?? "")
    }
}

extension Stack {
    /// The instances that are swapped according to the state folder, in their configured form.
    func configuredInsteadOfSwapped() throws -> [String: StackConfiguration.Instance] {
        let layer = StackLayer(state)
        let names = try names.filter { try layer.plugin(of: $0) != nil }
        guard !names.isEmpty else { return [:] }
        // The replacement is shown here even if something is wrong with the configured plugin.
        let configured = try StackConfigurationReader(
            path: configurationFile, state: state,
            choices: Dictionary(uniqueKeysWithValues: names.map { ($0, .configured) }), catalog: catalog
        ).stack
        return Dictionary(
            uniqueKeysWithValues: names.compactMap { name in configured.instance(name).map { (name, $0) } })
    }
}
