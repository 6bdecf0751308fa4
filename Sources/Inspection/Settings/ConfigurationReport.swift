import Configuration
import Foundation
import HealthModel
import MessageBus
import Terminal

/// `healthbus config show`: which settings apply to a stack, and where each comes from. It never shows a secret.
package struct ConfigurationReport {
    typealias Origin = ConfigurationOrigins.Origin

    struct Setting {
        /// "uploader.timeoutSeconds", "bus.sealed", "HEALTHBUS_LOG".
        var key: String
        /// nil for the whole stack.
        var instance: String?
        var value: Value
        var origin: Origin
    }

    private let settings: [Setting]

    /// - Parameters:
    ///   - given: how the user specified the state folder and the configuration file.
    ///   - instance: only this instance's settings; nil for all.
    ///   - changed: only settings that come from a file, the environment or an option, even if to the default's value.
    ///   - remembered: the variables in the environment that are set because they were when the stack was last started.
    package init(
        _ stack: Stack, given: (state: ConfigurationOrigins.Origin, config: ConfigurationOrigins.Origin),
        instance: String? = nil, changed: Bool = false,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        remembered: Set<String> = Set(RememberedVariables.inForce.keys)
    ) throws {
        let origins = try StackConfigurationReader(
            path: stack.configurationFile, state: stack.state, catalog: stack.catalog
        ).origins
        var all = Self.whole(stack, given, origins, environment)
        for instance in stack.configuration.instances {
            all += try Self.settings(of: instance, origins, environment)
        }
        all += Self.secrets(
            of: Array(stack.catalog.manifests.values) + stack.configuration.instances.map(\.manifest), environment)
        settings = all.filter { setting in
            (instance == nil || setting.instance == instance) && (!changed || setting.origin != .standard)
        }.map { setting in
            guard case .variable(let name) = setting.origin, remembered.contains(name) else { return setting }
            var known = setting
            known.origin = .remembered(name)
            return known
        }
    }

    private static func whole(
        _ stack: Stack, _ given: (state: Origin, config: Origin), _ origins: ConfigurationOrigins,
        _ environment: [String: String]
    ) -> [Setting] {
        let (bus, monitoring) = (stack.configuration.bus, stack.configuration.monitoring)
        func variable(_ name: String, else origin: Origin) -> Origin {
            environment.filled(name) == nil ? origin : .variable(name)
        }
        var all = [
            Setting(key: "state", value: .string(stack.state.path), origin: given.state),
            Setting(key: "config", value: Value(stack.configurationFile), origin: given.config),
            Setting(
                key: "plugins", value: .string(stack.catalog.folder),
                origin: variable("HEALTHBUS_PLUGINS", else: .standard)),
            Setting(key: "bus.sealed", value: .bool(bus.isSealed), origin: origins.origin(of: ["bus", "sealed"])),
        ]
        if bus.isSealed {
            all.append(
                Setting(
                    key: "bus.keys", value: .string(stack.configuration.keyFolder(stack.state).path),
                    origin: variable("HEALTHBUS_KEYS", else: origins.origin(of: ["bus", "keys"]))))
        }
        for (name, place) in [("publish", bus.endpoints?.publish), ("subscribe", bus.endpoints?.subscribe)] {
            guard let place else { continue }
            all.append(Setting(key: "bus.\(name)", value: .string(place), origin: origins.origin(of: ["bus", name])))
        }
        if let monitoring {
            let port = Value.integer(Int64(monitoring.port))
            for (name, value) in [("host", Value.string(monitoring.host)), ("port", port)] {
                all.append(
                    Setting(key: "monitoring.\(name)", value: value, origin: origins.origin(of: ["monitoring", name])))
            }
        }
        for name in [
            "HEALTHBUS_LOG", "HEALTHBUS_LOG_LEVEL", "HEALTHBUS_KEY_NAME", "HEALTHBUS_KEY_FILE",
            "HEALTHBUS_HUB_KEY_FILE",
        ] {
            guard let text = environment.filled(name) else { continue }
            all.append(Setting(key: name, value: .string(text), origin: .variable(name)))
        }
        return all
    }

    /// An instance's plugin, and the options that are in force, including those from the environment.
    private static func settings(
        of instance: StackConfiguration.Instance, _ origins: ConfigurationOrigins, _ environment: [String: String]
    ) throws -> [Setting] {
        let kind = instance.manifest.kind
        var values = leaves(instance.configuration).map { path, value in
            Setting(
                key: path.joined(separator: "."), instance: instance.name,
                value: HiddenSecrets.redacted(value, name: path.last ?? "", of: kind),
                origin: origins.origin(of: ["instances", instance.name, "configuration"] + path))
        }
        func set(_ option: String, _ variable: String, _ value: Value) {
            values.removeAll { $0.key == option }
            values.append(
                Setting(key: option, instance: instance.name, value: value, origin: .variable(variable)))
        }
        if let server = ServerPort.allCases.first(where: { $0.kind == kind }),
            environment.filled(server.variable) != nil
        {
            let port = try server.endpoint(of: instance, environment: environment).port
            set("port", server.variable, .integer(Int64(port)))
        }
        if kind == .backend, environment["HEALTHBUS_AUDIT"] == "1" { set("audit", "HEALTHBUS_AUDIT", true) }
        if kind == .observer {
            if let folder = environment.filled(InboxFolder.variable) {
                set("inbox", InboxFolder.variable, .string(folder))
            }
            if let zone = environment.filled("HEALTHBUS_ZONE") { set("zone", "HEALTHBUS_ZONE", .string(zone)) }
        }
        if instance.address == nil, let given = instance.address(file: "", environment: environment) {
            let option = instance.addressOption
            set(option, given.key, HiddenSecrets.redacted(.string(given.text), name: option, of: kind))
        }
        let plugin = Setting(
            key: "plugin", instance: instance.name, value: .string(instance.plugin),
            origin: origins.origin(of: ["instances", instance.name, "plugin"]))
        return ([plugin] + values.sorted { $0.key < $1.key }).map { setting in
            var named = setting
            named.key = "\(instance.name).\(setting.key)"
            return named
        }
    }

    /// The leaves of an object: those members that contain no others.
    private static func leaves(_ value: Value, _ path: [String] = []) -> [(path: [String], value: Value)] {
        guard let members = value.object, !members.isEmpty else {
            return path.isEmpty ? [] : [(path, value)]
        }
        return Value.inOrder(members).flatMap { leaves($0.value, path + [$0.key]) }
    }

    /// Which secrets are set by the environment, whose values take precedence over files.
    private static func secrets(of plugins: [Manifest], _ environment: [String: String]) -> [Setting] {
        let own: Set = [
            "HEALTHBUS_BACKEND_TOKEN", "HEALTHBUS_BACKEND_POSTGRES_URL", "HEALTHBUS_FOLLOW_TOKEN", "HEALTHBUS_KEY",
            "HEALTHBUS_HUB_KEY",
        ]
        let theirs = plugins.compactMap { $0.destination?.token?.variable }
        return own.union(theirs).sorted().filter { environment.filled($0) != nil }.map {
            Setting(key: $0, value: HiddenSecrets.hidden, origin: .variable($0))
        }
    }

    /// `[{key, instance, value, from: {kind, file, line, name}}]`.
    package var json: String {
        Value.array(
            settings.map { setting in
                [
                    "key": .string(setting.key), "instance": Value(setting.instance), "value": setting.value,
                    "from": setting.origin.value,
                ]
            }
        ).json(pretty: true)
    }

    package func text(for terminal: Terminal) -> String {
        var table = Table([.init("Setting"), .init("Value"), .init("From")])
        for setting in settings {
            let value = setting.value.isNull ? "none" : setting.value.string ?? setting.value.json()
            table.add([setting.key, value, setting.origin.words])
        }
        return table.render(for: terminal)
    }
}

extension ConfigurationOrigins.Origin {
    var words: String {
        switch self {
        case .standard: "default"
        case .file(let file, let line): file + (line.map { ":\($0)" } ?? "")
        case .variable(let name): name
        case .remembered(let name): name + ", as last started"
        case .option(let name): name
        }
    }

    var value: Value {
        switch self {
        case .standard: ["kind": "default"]
        case .file(let file, let line): ["kind": "file", "file": .string(file), "line": Value(line)]
        case .variable(let name): ["kind": "environment", "name": .string(name)]
        case .remembered(let name): ["kind": "remembered", "name": .string(name)]
        case .option(let name): ["kind": "option", "name": .string(name)]
        }
    }
}
