import Foundation
import HealthModel

/// Which instances a stack runs and with which options: the shipped default, overlaid with a file.
package struct StackConfiguration: Sendable, Equatable {
    package struct Instance: Sendable, Equatable {
        package var name: String
        /// The plugin as a configuration may name it wherever it lies: by its name, or by its folder's absolute path.
        package var plugin: String
        package var manifest: Manifest
        /// The schema's defaults overlaid with the stack's options.
        package var configuration: Value
        /// Of a handler: names of the plugins that could take its place, its own among them, because they declare the same types.
        package var substitutes: [String]
        /// Of a handler: under which family its samples are delivered. Its plugin's; else, where another plugin is in that one's place, its own name.
        package var family: String

        /// The same for the same plugin, version and options, and hardly ever for others: FNV-1a, in hexadecimal.
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
    /// Where the bus is and whether it is sealed.
    package let bus: BusConfiguration
    /// Where `up` answers questions about how the stack is; nil: nowhere.
    package let monitoring: Endpoint?
    package let file: String
    /// What days have, in the order of tables: the figures of the stack's handlers, and of those that a stack has by default.
    package let figures: [FigureDeclaration]
    /// All families that samples may be delivered under, of all plugins that there are.
    package let families: Set<String>

    /// Which plugin an instance is to have, whatever its state folder says.
    package enum Choice: Sendable, Equatable {
        /// By name, or by its folder's absolute path.
        case plugin(String)
        /// As it is configured, without what it was swapped for.
        case configured
    }

    /// The default, laid over by a file, that by what the state folder says of swapped plugins, that by choices.
    /// - Parameters:
    ///   - path: the file to lay over the default; nil for none.
    ///   - state: whose `stack.json` counts; nil for a stack that has no folder.
    ///   - choices: by instance.
    /// - Throws: `ConfigurationError` with file, key and what is allowed: the first where there are several.
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
        self.bus = bus
        self.monitoring = monitoring
        self.file = file
        self.figures = figures
        self.families = families
    }

    /// a-z, 0-9 and hyphens, at most 64: whatever names an instance is a topic and a folder too.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }
}

extension StackConfiguration {
    /// The file to lay over the default: as given, else `HEALTHBUS_CONFIG`; nil for none.
    package static func file(
        given: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? { given ?? environment.filled("HEALTHBUS_CONFIG") }

    package func instance(_ name: String) -> Instance? { instances.first { $0.name == name } }

    package func only(_ kind: Manifest.Kind) -> Instance? { instances.first { $0.manifest.kind == kind } }

    package var handlers: [Instance] { instances.filter { $0.manifest.kind == .handler } }

    /// Types that handlers name; whoever handles "*" gets all others.
    package var namedTypes: Set<String> { Set(handlers.flatMap(\.manifest.typesWithStatistics).filter { $0 != "*" }) }

    /// The family of a handler that names none.
    package static let otherFamily = "other"

    /// Under which family a type's samples are delivered: that of the handler that declares it.
    package func family(of type: String) -> String {
        handlers.first { $0.manifest.typesWithStatistics.contains(type) }?.family ?? Self.otherFamily
    }
}
