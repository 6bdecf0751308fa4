import Foundation
import HealthModel
import MessageBus

/// Which instances a stack runs and with which options: the embedded default, overlaid with a file.
public struct StackConfiguration: Sendable, Equatable {
    public struct Instance: Sendable, Equatable {
        public var name: String
        /// The plugin as a configuration may name it wherever it lies: by its name, or by its folder's absolute path.
        public var plugin: String
        public var manifest: Manifest
        /// The schema's defaults overlaid with the stack's options.
        public var configuration: Value
        /// Of a handler: names of the plugins that could take its place, its own among them, because they declare the same types.
        public var substitutes: [String]
    }

    /// In order of start.
    public let instances: [Instance]
    /// Where the bus is and whether it is sealed.
    public let bus: BusConfiguration
    /// Where `up` answers questions about how the stack is; nil: nowhere.
    public let monitoring: Endpoint?
    public let file: String

    /// The default, as in `configs/default.json`: every plugin once, by its own name.
    public static let embedded = """
        // The stack that `healthbus up` starts when no other configuration is given. A file given with --config is laid over this one:
        // what it names changes, null leaves an instance out.
        {
          "instances": {
            "hub": { "plugin": "hub" },
            "backend": { "plugin": "backend" },
            "observer": { "plugin": "observer" },
            "debouncer": { "plugin": "debouncer" },
            "steps": { "plugin": "steps" },
            "heart-rate": { "plugin": "heart-rate" },
            "sleep": { "plugin": "sleep" },
            "energy": { "plugin": "energy" },
            "workouts": { "plugin": "workouts" },
            "body": { "plugin": "body" },
            "generic": { "plugin": "generic" },
            "consolidator": { "plugin": "consolidator" },
            "uploader": { "plugin": "uploader" }
          }
        }

        """

    /// As Prometheus' list of default ports has it for metrics of OpenTelemetry.
    public static let monitoringPort: Int64 = 9464
    static let monitoringSchema: Value = [
        "type": "object",
        "properties": [
            "host": ["type": "string", "default": .string(Endpoint.loopback)],
            "port": ["type": "integer", "minimum": 0, "maximum": 65535, "default": .integer(monitoringPort)],
        ],
    ]

    /// Which plugin an instance is to have, whatever its state folder says.
    public enum Choice: Sendable, Equatable {
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
    /// - Throws: `ConfigurationError` with file, key and what is allowed.
    public init(
        path: String?, state: StateFolder? = nil, choices: [String: Choice] = [:], catalog: PluginCatalog
    ) throws {
        let file = path ?? "the default configuration"
        var value = try Self.parse(Self.embedded, file: "the default configuration")
        if let path {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw ConfigurationError(file: path, key: "", reason: "can't be read; check the path and its rights")
            }
            value = Self.overlay(value, with: try Self.parse(String(decoding: data, as: UTF8.self), file: path))
        }
        self.file = file
        // What is swapped is an instance's plugin: an instance that the configuration no longer has doesn't come back by it.
        let configured = Set((value["instances"].object ?? [:]).filter { !$0.value.isNull }.keys)
        var swapped: [String: Value] = [:]
        let layer = state.map { StackLayer($0) }
        for (name, entry) in try layer?.read()["instances"].object ?? [:]
        where configured.contains(name) && choices[name] == nil { swapped[name] = entry }
        value = Self.overlay(value, with: ["instances": .object(swapped)])
        for (name, choice) in choices where configured.contains(name) {
            guard case .plugin(let plugin) = choice else { continue }
            value = Self.overlay(value, with: ["instances": .object([name: ["plugin": .string(plugin)]])])
        }
        let members = ["bus", "instances", "monitoring"]
        for key in (value.object ?? [:]).keys where !members.contains(key) {
            throw ConfigurationError(
                file: file, key: key, reason: "isn't known; there are: \(members.joined(separator: ", "))")
        }
        let resolved = try SchemaCheck(file: file)
            .resolve(value["monitoring"], schema: Self.monitoringSchema, key: "monitoring")
        monitoring =
            value["monitoring"].isNull
            ? nil
            : Endpoint(
                host: resolved["host"].string ?? Endpoint.loopback,
                port: Int(resolved["port"].int ?? Self.monitoringPort))
        var instances: [Instance] = []
        for (name, entry) in value["instances"].object ?? [:] where !entry.isNull {
            do {
                instances.append(try Self.instance(name, entry, file: file, catalog: catalog))
            } catch let error as ConfigurationError where swapped[name] != nil {
                throw ConfigurationError(
                    file: layer?.file ?? file, key: "instances.\(name)",
                    reason: "can't be used: \(error); 'healthbus swap \(name) --back' takes it away")
            }
        }
        let order: [Manifest.Kind] = [
            .hub, .backend, .observer, .debouncer, .handler, .consolidator, .uploader, .notifier,
        ]
        func rank(_ instance: Instance) -> Int { order.firstIndex(of: instance.manifest.kind) ?? order.count }
        self.instances = instances.sorted { (rank($0), $0.name) < (rank($1), $1.name) }
        for kind in [Manifest.Kind.hub, .observer, .debouncer, .consolidator]
        where instances.count(where: { $0.manifest.kind == kind }) > 1 {
            throw ConfigurationError(
                file: file, key: "instances", reason: "names more than one \(kind.rawValue); a stack has one")
        }
        bus = try BusConfiguration(value["bus"], file: file)
        let people = KeyRole.people.map(\.name)
        if bus.isSealed, let taken = instances.first(where: { people.contains($0.name) }) {
            throw ConfigurationError(
                file: file, key: "instances.\(taken.name)",
                reason: "can't be named so on a sealed bus: \(people.joined(separator: ", ")) are people's keys")
        }
    }

    private static func instance(_ name: String, _ entry: Value, file: String, catalog: PluginCatalog) throws
        -> Instance
    {
        let key = "instances.\(name)"
        guard isName(name) else {
            throw ConfigurationError(
                file: file, key: key, reason: "must be named with a-z, 0-9 and hyphens, at most 64")
        }
        for member in (entry.object ?? [:]).keys where member != "plugin" && member != "configuration" {
            throw ConfigurationError(
                file: file, key: "\(key).\(member)", reason: "isn't known; there are: configuration, plugin")
        }
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        guard let plugin = entry["plugin"].string, let manifest = try catalog.manifest(plugin, from: folder) else {
            let known = catalog.manifests.keys.sorted().joined(separator: ", ")
            throw ConfigurationError(
                file: file, key: "\(key).plugin",
                reason: "must be one of \(known), or the path of a plugin's folder (./mine: beside this file)")
        }
        let configuration = try SchemaCheck(file: file)
            .resolve(entry["configuration"], schema: manifest.configuration, key: "\(key).configuration")
        return Instance(
            name: name, plugin: plugin.contains("/") ? (manifest.file as NSString).deletingLastPathComponent : plugin,
            manifest: manifest, configuration: configuration.isNull ? [:] : configuration,
            substitutes: substitutes(of: manifest, in: catalog))
    }

    /// a-z, 0-9 and hyphens, at most 64: whatever names an instance is a topic and a folder too.
    public static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 64
            && name.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
    }

    private static func substitutes(of manifest: Manifest, in catalog: PluginCatalog) -> [String] {
        guard manifest.kind == .handler else { return [] }
        let others = catalog.manifests.values.filter { $0.kind == .handler && Set($0.types) == Set(manifest.types) }
        return Set(others.map(\.name) + [manifest.name]).sorted()
    }

    private static func parse(_ text: String, file: String) throws -> Value {
        do { return try Value(json: text.utf8, comments: true) } catch {
            throw ConfigurationError(file: file, key: "", reason: "isn't JSON: \(Manifest.plain(error))")
        }
    }

    private static func overlay(_ base: Value, with top: Value) -> Value {
        guard case .object(var members) = base, case .object(let new) = top else { return top }
        for (key, value) in new { members[key] = members[key].map { overlay($0, with: value) } ?? value }
        return .object(members)
    }
}

extension StackConfiguration {
    /// The file to lay over the default: as given, else `HEALTHBUS_CONFIG`; nil for none.
    public static func file(
        given: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? { given ?? environment.filled("HEALTHBUS_CONFIG") }

    public func instance(_ name: String) -> Instance? { instances.first { $0.name == name } }

    public func only(_ kind: Manifest.Kind) -> Instance? { instances.first { $0.manifest.kind == kind } }

    public var handlers: [Instance] { instances.filter { $0.manifest.kind == .handler } }

    /// Types that handlers name; whoever handles "*" gets all others.
    public var namedTypes: Set<String> { Set(handlers.flatMap(\.manifest.types).filter { $0 != "*" }) }

    /// The families that the backend's paths know; any other's samples go under "other".
    public static let deliveryFamilies: Set<String> = ["steps", "heart-rate", "sleep", "energy", "workouts", "body"]

    /// Under which family a handler's samples are delivered: its plugin's name, else (another plugin in that one's place) its own.
    public static func family(of handler: Instance) -> String {
        [handler.manifest.name, handler.name].first { deliveryFamilies.contains($0) } ?? "other"
    }

    /// Under which family a type's samples are delivered: that of the handler that declares it.
    public func family(of type: String) -> String {
        handlers.first { $0.manifest.types.contains(type) }.map { Self.family(of: $0) } ?? "other"
    }
}
