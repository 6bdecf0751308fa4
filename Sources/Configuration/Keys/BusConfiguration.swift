import Foundation
import HealthModel
import MessageBus

/// The addresses of a stack's bus and whether it is sealed, from "bus" in its configuration.
package struct BusConfiguration: Sendable, Equatable {
    /// nil for Unix sockets in the state folder.
    package var endpoints: BusAddress?
    /// Whether peers must prove their identity; always the case over TCP.
    package var isSealed: Bool
    /// The keys' folder; nil for `keys` in the state folder.
    package var keys: String?

    package static let standard = BusConfiguration(endpoints: nil, isSealed: false, keys: nil)

    /// Whether its processes may run on several machines, without a common state folder.
    package var isRemote: Bool { endpoints?.publish.hasPrefix("tcp://") ?? false }
}

extension BusConfiguration {
    private static let members = ["keys", "publish", "sealed", "subscribe"]

    /// The "bus" member of a configuration without its invalid parts, and all errors, each with the key and what is
    /// allowed.
    static func read(_ value: Value, file: String) -> (bus: BusConfiguration, problems: [ConfigurationError]) {
        var bus = BusConfiguration.standard
        var problems: [ConfigurationError] = []
        func add(_ key: String, _ reason: String) {
            problems.append(ConfigurationError(file: file, key: key, reason: reason))
        }
        if value.isNull { return (bus, []) }
        guard let given = value.object else {
            add("bus", "must be an object: publish and subscribe, keys, sealed")
            return (bus, problems)
        }
        for key in given.keys.sorted() where !members.contains(key) {
            add("bus.\(key)", SchemaCheck.unknown(key, among: members))
        }
        if !value["sealed"].isNull, value["sealed"].bool == nil { add("bus.sealed", "must be true or false") }
        if !value["keys"].isNull, value["keys"].string == nil { add("bus.keys", "must be a folder's path") }
        bus.keys = value["keys"].string.map { PluginPath($0, beside: file).file }
        bus.isSealed = value["sealed"].bool ?? false
        guard !value["publish"].isNull || !value["subscribe"].isNull else { return (bus, problems) }
        guard let publish = value["publish"].string, let subscribe = value["subscribe"].string else {
            add("bus", "needs 'publish' and 'subscribe', both texts")
            return (bus, problems)
        }
        let addresses = [("bus.publish", publish), ("bus.subscribe", subscribe)]
        let schemes = ["tcp://", "ipc://"]
        guard schemes.contains(where: { scheme in addresses.allSatisfy { $0.1.hasPrefix(scheme) } }) else {
            add("bus", "'publish' and 'subscribe' must both begin with tcp:// or both with ipc://")
            return (bus, problems)
        }
        for (key, address) in addresses where !isPlace(address) { add(key, "must be tcp://HOST:PORT") }
        if publish == subscribe { add("bus", "needs two different endpoints") }
        bus.endpoints = BusAddress(publish: publish, subscribe: subscribe)
        guard bus.isRemote else { return (bus, problems) }
        if value["sealed"].bool == false {
            add(
                "bus.sealed",
                "can't be false over TCP: anyone who reaches the port could read all data and give commands")
        }
        bus.isSealed = true
        return (bus, problems)
    }

    /// Whether an address over TCP has a host and a port.
    private static func isPlace(_ address: String) -> Bool {
        guard address.hasPrefix("tcp://") else { return true }
        let place = address.dropFirst(6)
        guard let colon = place.lastIndex(of: ":"), colon != place.startIndex,
            let port = Int(place[place.index(after: colon)...])
        else { return false }
        return (1...65535).contains(port)
    }
}

extension StackConfiguration {
    /// The keys of a sealed bus.
    package func keyFolder(
        _ state: StateFolder, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> KeyFolder {
        KeyFolder(
            path: environment.filled("HEALTHBUS_KEYS") ?? bus.keys ?? state.path + "/keys",
            hub: only(.hub)?.name ?? "hub")
    }

    /// The bus's address, for a process whose name on the bus is `name`.
    /// - Throws: `Failure` when the bus is sealed and its keys are missing.
    package func address(in state: StateFolder, as name: String) throws -> BusAddress {
        var address = bus.endpoints ?? state.address
        address.trust = BusRights(self).trust
        guard bus.isSealed else { return address }
        let keys = keyFolder(state).watchedCredentials(of: name)
        _ = try keys.current()
        address.seal = BusSeal(identity: name) { try keys.current() }
        return address
    }

    /// Names that need a key on a sealed bus, except the hub's.
    package var keyRoles: [(name: String, role: KeyRole)] {
        KeyRole.people + instances.filter { $0.manifest.kind != .hub }.map { ($0.name, .instance($0.name)) }
    }
}

extension StackConfiguration {
    /// Where the hub listens, given the address that others connect to. It is the same address unless the hub's options
    /// name an address of this machine.
    package func listening(_ address: BusAddress) -> BusAddress {
        guard bus.isRemote, let listen = only(.hub)?.configuration["listen"].string else { return address }
        let host = listen.contains(":") ? "[\(listen)]" : listen
        func place(_ endpoint: String) -> String {
            "tcp://" + host + (endpoint.lastIndex(of: ":").map { String(endpoint[$0...]) } ?? "")
        }
        return BusAddress(publish: place(address.publish), subscribe: place(address.subscribe))
    }
}
