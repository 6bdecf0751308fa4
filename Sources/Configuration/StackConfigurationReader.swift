import Foundation
import HealthModel
import Logging

/// Reads a stack's configuration and finds everything that is wrong with it, each mistake with its line. Anything wrong
/// is left out of the stack.
package struct StackConfigurationReader {
    package private(set) var stack: StackConfiguration
    /// In the order of the file's lines.
    package private(set) var problems: [ConfigurationError] = []

    /// Where each member comes from.
    package private(set) var origins: ConfigurationOrigins

    private let file: String
    private let catalog: PluginCatalog
    /// The default as shipped, before a file is applied on top of it.
    private let shipped: Value
    private var places = JSONPlaces()

    /// - Parameters: the same as those of a `StackConfiguration`.
    /// - Throws: `ConfigurationError` for a file that can't be read at all, or isn't JSON.
    package init(
        path: String?, state: StateFolder? = nil, choices: [String: StackConfiguration.Choice] = [:],
        catalog: PluginCatalog
    ) throws {
        file = path ?? "the default configuration"
        self.catalog = catalog
        stack = StackConfiguration(
            instances: [], bus: .standard, monitoring: nil, file: file, figures: [], families: [])
        shipped = try catalog.defaultStack()
        origins = ConfigurationOrigins(own: .null, places: places, file: file, swapped: [], stateFile: nil)
        var value = shipped
        if let path {
            guard let data = FileManager.default.contents(atPath: path) else {
                // If the folder has no entry of that name, the file is missing; otherwise it may be a folder, or not
                // readable.
                let isThere = FileManager.default.fileExists(atPath: path)
                throw ConfigurationError(
                    file: path, key: "",
                    reason: isThere
                        ? "can't be read; check its permissions, and that it is a file"
                        : "there is no such file; check the path")
            }
            let own = try ConfigurationText.value(data, file: path)
            guard own.object != nil else {
                throw ConfigurationError(file: path, key: "", reason: "must be an object: { \"instances\": { … } }")
            }
            places = JSONPlaces(data)
            value = Self.overlay(value, with: own)
            origins = ConfigurationOrigins(own: own, places: places, file: file, swapped: [], stateFile: nil)
        }
        for duplicate in places.duplicates {
            problems.append(
                ConfigurationError(
                    file: file, key: duplicate.key,
                    reason: "is already named in line \(duplicate.first); one of them would have no effect",
                    line: duplicate.line))
        }
        try read(value, state: state, choices: choices)
        problems = problems.map { $0.placed(places, in: file) }.inOrder(of: file)
    }

    private mutating func read(
        _ value: Value, state: StateFolder?, choices: [String: StackConfiguration.Choice]
    ) throws {
        for key in (value.object ?? [:]).keys.sorted() where !Self.members.contains(key) {
            add(key, SchemaCheck.unknown(key, among: Self.members))
        }
        if !value["instances"].isNull, value["instances"].object == nil { add("instances", "must be an object") }
        // A swap concerns only an instance's plugin: it doesn't bring back an instance that the configuration no longer
        // has.
        let configured = Set((value["instances"].object ?? [:]).filter { !$0.value.isNull }.keys)
        var swapped: [String: Value] = [:]
        let layer = state.map { StackLayer($0) }
        for (name, entry) in try layer?.read()["instances"].object ?? [:]
        where configured.contains(name) && choices[name] == nil { swapped[name] = entry }
        origins = ConfigurationOrigins(
            own: origins.own, places: places, file: file, swapped: Set(swapped.keys), stateFile: layer?.file)
        refuseUnknownOmissions()
        let plain = value["instances"]
        var value = Self.overlay(value, with: ["instances": .object(swapped)])
        for (name, choice) in choices where configured.contains(name) {
            guard case .plugin(let plugin) = choice else { continue }
            value = Self.overlay(value, with: ["instances": .object([name: ["plugin": .string(plugin)]])])
        }
        var instances: [StackConfiguration.Instance] = []
        for (name, entry) in Value.inOrder(value["instances"].object ?? [:]) where !entry.isNull {
            let before = problems.count
            if let instance = instance(name, entry) { instances.append(instance) }
            // A problem caused by a swap must be corrected in the state folder's file.
            guard swapped[name] != nil, let layer, problems.count > before else { continue }
            let first = problems[before]
            problems.removeSubrange(before...)
            // Swapping back wouldn't help against a mistake that the configured plugin has too.
            _ = instance(name, plain[name])
            guard problems.count == before else { continue }
            problems.append(
                ConfigurationError(
                    file: layer.file, key: "instances.\(name)",
                    reason: "can't be used, because "
                        + (first.key.isEmpty ? first.reason : "'\(first.key)' \(first.reason)")
                        + "; 'healthbus swap \(name) --back' undoes it"))
        }
        for kind in [Manifest.Kind.hub, .observer, .debouncer, .consolidator]
        where instances.count(where: { $0.manifest.kind == kind }) > 1 {
            add("instances", "names more than one \(kind.rawValue); a stack has one")
        }
        let (bus, wrong) = BusConfiguration.read(value["bus"], file: file)
        problems += wrong
        let people = KeyRole.people.map(\.name)
        for taken in instances where bus.isSealed && people.contains(taken.name) {
            add(
                "instances.\(taken.name)",
                "can't have that name on a sealed bus: \(people.joined(separator: ", ")) are people's keys")
        }
        let usual = Value.inOrder(shipped["instances"].object ?? [:])
            .compactMap { $0.value["plugin"].string.flatMap { catalog.manifests[$0] } }
        let manifests = instances.map(\.manifest) + usual
        stack = StackConfiguration(
            instances: instances, bus: bus, monitoring: monitoring(value["monitoring"]), file: file,
            figures: manifests.figures, families: families.union(manifests.compactMap(\.family)))
    }

    private static let members = ["bus", "instances", "monitoring"]

    private mutating func add(_ key: String, _ reason: String) {
        problems.append(ConfigurationError(file: file, key: key, reason: reason))
    }

    private mutating func instance(_ name: String, _ entry: Value) -> StackConfiguration.Instance? {
        let key = "instances.\(name)"
        guard entry.object != nil else {
            add(key, "must be an object, such as { \"plugin\": \"steps\" }, or null to leave it out")
            return nil
        }
        guard StackConfiguration.isName(name) else {
            add(key, "must be named with a-z, 0-9 and hyphens, at most 64")
            return nil
        }
        for member in (entry.object ?? [:]).keys.sorted() where member != "plugin" && member != "configuration" {
            add("\(key).\(member)", SchemaCheck.unknown(member, among: ["configuration", "plugin"]))
        }
        // Only an instance that the default doesn't have needs a plugin of its own, so a missing one may mean a
        // misspelled name.
        let usual = (shipped["instances"].object ?? [:]).keys.sorted()
        if entry["plugin"].isNull, let meant = Nearest.to(name, among: usual) {
            add(key, "names no plugin, and isn't in the default; did you mean the instance '\(meant)'?")
            return nil
        }
        guard let (plugin, manifest) = plugin(entry["plugin"], key: "\(key).plugin") else { return nil }
        let (configuration, wrong) = SchemaCheck(file: file)
            .check(entry["configuration"], schema: manifest.configuration, key: "\(key).configuration")
        problems += wrong
        return StackConfiguration.Instance(
            name: name, plugin: plugin.contains("/") ? (manifest.file as NSString).deletingLastPathComponent : plugin,
            manifest: manifest, configuration: configuration.isNull ? [:] : configuration,
            family: manifest.family ?? (families.contains(name) ? name : StackConfiguration.otherFamily))
    }

    /// An instance that the default doesn't have can't be left out: its name must be misspelled, and the instance that
    /// was meant would still run.
    private mutating func refuseUnknownOmissions() {
        let usual = (shipped["instances"].object ?? [:]).keys.sorted()
        for (name, entry) in Value.inOrder(origins.own["instances"].object ?? [:])
        where entry.isNull && !usual.contains(name) {
            add(
                "instances.\(name)",
                "leaves out nothing: there is no instance '\(name)'; "
                    + (Nearest.to(name, among: usual).map { "did you mean '\($0)'?" }
                        ?? "the default has \(usual.joined(separator: ", "))"))
        }
    }

    /// A plugin that a configuration names, with its manifest; nil when it can't be used.
    private mutating func plugin(_ value: Value, key: String) -> (name: String, manifest: Manifest)? {
        let folder = URL(fileURLWithPath: file).deletingLastPathComponent().path
        if let name = value.string {
            if let manifest = catalog.manifests[name] { return (name, manifest) }
            if name.contains("/") {
                let path = PluginCatalog.manifestFile(name, from: folder)
                guard FileManager.default.fileExists(atPath: path) else {
                    add(key, "names \(name), but there is no \(path)")
                    return nil
                }
                let reader = ManifestReader(file: path)
                problems += reader.problems
                return reader.manifest.map { (name, $0) }
            }
        }
        let known = catalog.manifests.keys.sorted()
        let nearest = value.string.flatMap { Nearest.to($0, among: known) }
        add(
            key,
            (nearest.map { "isn't a plugin's name; did you mean '\($0)'? It " } ?? "")
                + "must be one of \(known.joined(separator: ", ")), or the path of a plugin's folder (./mine: beside this file)"
        )
        return nil
    }

    private var families: Set<String> { Set(catalog.manifests.values.compactMap(\.family)) }

    private mutating func monitoring(_ value: Value) -> Endpoint? {
        let (resolved, wrong) = SchemaCheck(file: file)
            .check(value, schema: Self.monitoringSchema, key: "monitoring")
        problems += wrong
        guard !value.isNull, let host = resolved["host"].string, let port = resolved["port"].int else { return nil }
        return Endpoint(host: host, port: Int(port))
    }

    private static let monitoringSchema: Value = [
        "type": "object",
        "properties": [
            "host": ["type": "string", "minLength": 1, "default": .string(Endpoint.loopback)],
            "port": [
                "type": "integer", "minimum": 0, "maximum": 65535, "default": .integer(Int64(Endpoint.monitoringPort)),
            ],
        ],
    ]

    private static func overlay(_ base: Value, with top: Value) -> Value {
        guard case .object(var members) = base, case .object(let new) = top else { return top }
        for (key, value) in new { members[key] = members[key].map { overlay($0, with: value) } ?? value }
        return .object(members)
    }
}
