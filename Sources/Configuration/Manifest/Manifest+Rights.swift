import BackgroundDelivery
import HealthModel

/// What a plugin may do, like an app's entitlements and Info.plist.
package struct PluginRights: Sendable, Equatable {
    package enum Entitlement: String, Sendable, CaseIterable {
        case health
        case backgroundDelivery = "background-delivery"
        /// A person's location, both while the app is on the screen and in the background. There is no weaker form of
        /// this right.
        case location = "location-always"
    }

    /// UIBackgroundModes.
    package enum BackgroundMode: String, Sendable, CaseIterable {
        case processing, fetch
        case remoteNotification = "remote-notification"
    }

    /// What makes a handler's sync run.
    package enum Trigger: Sendable, Equatable {
        /// Samples of the type have changed.
        case type(String)
        /// The local clock passes this time, given as a minute of the day.
        case time(minute: Int)
    }

    package var entitlements: Set<Entitlement> = []
    package var backgroundModes: Set<BackgroundMode> = []
    /// BGTaskSchedulerPermittedIdentifiers.
    package var permittedTasks: Set<String> = []
    /// The triggers listed in the manifest. The plugin's own types make its sync run in any case.
    package var triggers: [Trigger] = []

    package init() {}

    /// - Parameters:
    ///   - kind: nil if the manifest names no existing kind.
    ///   - problems: receives everything that is wrong, each with the key and what is allowed.
    init(_ manifest: Value, kind: Manifest.Kind?, file: String, problems: inout [ConfigurationError]) {
        func texts(_ key: String) -> [String] {
            if manifest[key].isNull { return [] }
            guard let list = manifest[key].array, list.allSatisfy({ $0.string != nil }) else {
                problems.append(ConfigurationError(file: file, key: key, reason: "must be a list of texts"))
                return []
            }
            return list.compactMap(\.string)
        }
        func allowed<Right>(_ key: String, _ all: [String], _ make: (String) -> Right?) -> [Right] {
            texts(key).enumerated().compactMap { index, text in
                let right = make(text)
                if right == nil {
                    problems.append(
                        ConfigurationError(
                            file: file, key: "\(key)[\(index)]",
                            reason: "must be one of \(all.joined(separator: ", "))"))
                }
                return right
            }
        }
        entitlements = Set(
            allowed("entitlements", Entitlement.allCases.map(\.rawValue), Entitlement.init(rawValue:)))
        backgroundModes = Set(
            allowed("backgroundModes", BackgroundMode.allCases.map(\.rawValue), BackgroundMode.init(rawValue:)))
        permittedTasks = Set(texts("permittedTasks"))
        if !permittedTasks.isEmpty, let kind, kind != .debouncer, kind != .consolidator {
            problems.append(
                ConfigurationError(
                    file: file, key: "permittedTasks",
                    reason: "is for a debouncer and a consolidator: others host no tasks"))
        }
        triggers = allowed(
            "triggers", ["HealthKit's type identifiers", "times of day such as 00:01"], Self.trigger)
    }

    private static func trigger(_ text: String) -> Trigger? {
        if HealthType.known(text) != nil { return .type(text) }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(parts[0]),
            let minute = Int(parts[1]), (0..<24).contains(hour), (0..<60).contains(minute)
        else { return nil }
        return .time(minute: hour * 60 + minute)
    }
}

extension Manifest {
    /// Called by the stage that hosts tasks, which knows which ones exist.
    /// - Throws: `ConfigurationError` for a permitted task that doesn't exist.
    package func requireTasks(among known: [String]) throws(ConfigurationError) {
        for task in rights.permittedTasks.sorted() where !known.contains(task) {
            throw ConfigurationError(
                file: file, key: "permittedTasks",
                reason: "names '\(task)', which isn't one of \(known.joined(separator: ", "))")
        }
    }

    /// Why this plugin can't be registered for background delivery, with the line to add; nil when it can.
    package var registrationRefusal: DeliveryError? {
        func refusal(_ key: String, _ value: String) -> DeliveryError {
            DeliveryError(.authorizationDenied, name, remedy: "add \"\(value)\" to \"\(key)\" in \(file)")
        }
        for needed in [PluginRights.Entitlement.health, .backgroundDelivery]
        where !rights.entitlements.contains(needed) {
            return refusal("entitlements", needed.rawValue)
        }
        return rights.backgroundModes.contains(.processing) ? nil : refusal("backgroundModes", "processing")
    }
}

extension StackConfiguration {
    /// Instances that may read health data.
    package var readers: [String] {
        instances.filter { $0.manifest.rights.entitlements.contains(.health) }.map(\.name).sorted()
    }

    /// Instances that may read where a person was.
    package var locators: [String] {
        instances.filter { $0.manifest.rights.entitlements.contains(.location) }.map(\.name).sorted()
    }

    /// Instances that read health data only as themselves. The dashboard's tools ask what a person wants to see.
    package var plugins: [String] {
        instances.filter { $0.manifest.kind != .dashboard }.map(\.name).sorted()
    }

    /// Why an instance can't be registered for background delivery; nil when it can.
    package func registrationRefusal(_ instance: String) -> String? {
        guard let found = self.instance(instance) else {
            return DeliveryError(
                .authorizationDenied, instance, remedy: "name it under \"instances\" in \(file)"
            ).description
        }
        return found.manifest.registrationRefusal?.description
    }
}
