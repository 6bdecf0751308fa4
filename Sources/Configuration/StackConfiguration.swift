import Foundation
import HealthModel

/// Which instances a stack runs and with which options: the shipped default with a file applied on top.
package struct StackConfiguration: Sendable, Equatable {
    package struct Instance: Sendable, Equatable {
        package var name: String
        /// The plugin in a form that any configuration can use: its name, or its folder's absolute path.
        package var plugin: String
        package var manifest: Manifest
        /// The schema's defaults, overridden by the options in the stack's configuration.
        package var configuration: Value
        /// For a handler: the family under which its samples are delivered. It is the plugin's family; for a plugin
        /// without one, the instance's own name if that is some plugin's family, otherwise `otherFamily`.
        package var family: String

        /// Identical for the same plugin, version and options, and almost never for different ones: FNV-1a, in
        /// hexadecimal.
        package var fingerprint: String {
            let text = "\(plugin) \(manifest.version) \(configuration.json())"
            let hash = text.utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
                ($0 ^ UInt64($1)) &* 1_099_511_628_211
            }
            return String(hash, radix: 16)
        }
    }

    /// In order of start.
    package let instances: [Instance]
    /// The bus's addresses, and whether it is sealed.
    package let bus: BusConfiguration
    /// The address at which `up` answers questions about the state of the stack; nil for none.
    package let monitoring: Endpoint?
    package let file: String
    /// The daily figures of the stack's handlers, and of the handlers that a stack has by default, in the order of
    /// columns.
    package let figures: [FigureDeclaration]
    /// All families under which samples may be delivered, taken from all existing plugins.
    package let families: Set<String>

    /// Which plugin an instance gets, regardless of its state folder.
    package enum Choice: Sendable, Equatable {
        /// By name, or by its folder's absolute path.
        case plugin(String)
        /// As configured, ignoring swaps.
        case configured
    }

    /// The default, overridden in turn by a file, the state folder's swapped plugins, and the given choices.
    /// - Parameters:
    ///   - path: the file to apply on top of the default; nil for none.
    ///   - state: the folder whose `stack.json` applies; nil for a stack without a folder.
    ///   - choices: by instance.
    /// - Throws: `ConfigurationError` with file, key and what is allowed; the first if there are several.
    package init(
        path: String?, state: StateFolder? = nil, choices: [String: Choice] = [:], catalog: PluginCatalog
    ) throws {
        let reader = try StackConfigurationReader(path: path, state: state, choices: choices, catalog: catalog)
        if let first = reader.problems.first { throw first }
        self = reader.stack
    }

    init(
        instances: [Instance], bus: BusConfiguration, monitoring: Endpoint?, file: String,
        figures: [FigureDeclaration], families: Set<String>
    ) {
        let order: [Manifest.Kind] = [
            .hub, .backend, .observer, .debouncer, .handler, .consolidator, .uploader, .notifier, .ingest,
            .dashboard,
        ]
        func rank(_ instance: Instance) -> Int { order.firstIndex(of: instance.manifest.kind) ?? order.count }
        self.instances = instances.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
        (self.bus, self.monitoring, self.file, self.figures, self.families) = (bus, monitoring, file, figures, families)
    }

    /// a-z, 0-9 and hyphens, at most 64 characters: an instance's name is also used as a topic and as a folder.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }
}

extension StackConfiguration {
    /// The file to apply on top of the default: the given one, otherwise `HEALTHBUS_CONFIG`; nil for none.
    package static func file(
        given: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? { given ?? environment.filled("HEALTHBUS_CONFIG") }

    package func instance(_ name: String) -> Instance? { instances.first { $0.name == name } }

    package func only(_ kind: Manifest.Kind) -> Instance? { instances.first { $0.manifest.kind == kind } }

    /// The same stack with different instances, for a simulation or an experiment.
    package func with(instances: [Instance]) -> StackConfiguration {
        StackConfiguration(
            instances: instances, bus: bus, monitoring: monitoring, file: file, figures: figures, families: families)
    }

    package var handlers: [Instance] { instances.filter { $0.manifest.kind == .handler } }

    /// Types that handlers name; the handler of "*" gets all others.
    package var namedTypes: Set<String> { Set(handlers.flatMap(\.manifest.typesWithStatistics).filter { $0 != "*" }) }

    /// The family of types that no handler declares, and of a handler that has no family in any other way.
    package static let otherFamily = "other"

    /// The family under which a type's samples are delivered: that of the handler that declares it.
    package func family(of type: String) -> String {
        handlers.first { $0.manifest.typesWithStatistics.contains(type) }?.family ?? Self.otherFamily
    }

    /// The family whose deliveries count as the handler's, if they can be distinguished: uploaders keep their counts by
    /// family, not by handler. If several handlers share a family, the one for "*" has most of its samples, so the
    /// family's deliveries count as that handler's; the others' are unknown.
    /// - Returns: nil for a handler whose deliveries can't be distinguished from another's.
    package func deliveredFamily(of handler: Instance) -> String? {
        let isShared = handlers.contains { $0.name != handler.name && $0.family == handler.family }
        return isShared && !handler.manifest.types.contains("*") ? nil : handler.family
    }
}
