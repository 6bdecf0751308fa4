import Foundation
import HealthModel
import MessageBus

/// Where a stack's bus is and whether it is sealed, from "bus" in its configuration.
package struct BusConfiguration: Sendable, Equatable {
    /// nil: Unix sockets in the state folder.
    package var endpoints: BusAddress?
    /// Whether peers must prove their identity. Always over TCP.
    package var isSealed: Bool
    /// The keys' folder; nil: `keys` in the state folder.
    package var keys: String?

    package static let standard = BusConfiguration(endpoints: nil, isSealed: false, keys: nil)

    /// Whether its processes may run on several machines, without a common state folder.
    package var isRemote: Bool { endpoints?.publish.hasPrefix("tcp://") ?? false }
}

extension BusConfiguration {
    /// - Throws: `ConfigurationError` with the key and what is allowed.
    init(_ value: Value, file: String) throws(ConfigurationError) {
        self = .standard
        if value.isNull { return }
        guard let members = value.object else {
            throw ConfigurationError(
                file: file, key: "bus", reason: "must be an object: publish and subscribe, keys, sealed")
        }
        for key in members.keys.sorted() where !["publish", "subscribe", "sealed", "keys"].contains(key) {
            throw ConfigurationError(
                file: file, key: "bus.\(key)", reason: "isn't known; there are: keys, publish, sealed, subscribe")
        }
        guard members["sealed"]?.bool != nil || value["sealed"].isNull else {
            throw ConfigurationError(file: file, key: "bus.sealed", reason: "must be true or false")
        }
        guard members["keys"]?.string != nil || value["keys"].isNull else {
            throw ConfigurationError(file: file, key: "bus.keys", reason: "must be a folder's path")
        }
        keys = value["keys"].string
        isSealed = value["sealed"].bool ?? false
        guard !value["publish"].isNull || !value["subscribe"].isNull else { return }
        guard let publish = value["publish"].string, let subscribe = value["subscribe"].string else {
            throw ConfigurationError(file: file, key: "bus", reason: "needs 'publish' and 'subscribe', both texts")
        }
        let addresses = [("bus.publish", publish), ("bus.subscribe", subscribe)]
        for scheme in ["tcp://", "ipc://"] where addresses.allSatisfy({ $0.1.hasPrefix(scheme) }) {
            for (key, address) in addresses { try Self.check(address, key: key, file: file) }
            guard publish != subscribe else {
                throw ConfigurationError(file: file, key: "bus", reason: "needs two different endpoints")
            }
            endpoints = BusAddress(publish: publish, subscribe: subscribe)
            guard isRemote, value["sealed"].bool == false else {
                if isRemote { isSealed = true }
                return
            }
            throw ConfigurationError(
                file: file, key: "bus.sealed",
                reason: "can't be false over TCP: whoever reaches the port would read all data and could give commands")
        }
        throw ConfigurationError(
            file: file, key: "bus", reason: "'publish' and 'subscribe' must both begin with tcp:// or both with ipc://")
    }

    private static func check(_ address: String, key: String, file: String) throws(ConfigurationError) {
        guard address.hasPrefix("tcp://") else { return }
        let place = address.dropFirst(6)
        guard let colon = place.lastIndex(of: ":"), colon != place.startIndex,
            let port = Int(place[place.index(after: colon)...]), (1...65535).contains(port)
        else {
            throw ConfigurationError(file: file, key: key, reason: "must be tcp://HOST:PORT")
        }
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

    /// The bus, for a process called `name` on it.
    /// - Throws: `Failure` when the bus is sealed and its keys aren't there.
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
    /// Where the hub listens, given the address that others connect to: the same, unless its options name one of this
    /// machine's addresses.
    package func listening(_ address: BusAddress) -> BusAddress {
        guard bus.isRemote, let listen = only(.hub)?.configuration["listen"].string else { return address }
        let host = listen.contains(":") ? "[\(listen)]" : listen
        func place(_ endpoint: String) -> String {
            "tcp://" + host + (endpoint.lastIndex(of: ":").map { String(endpoint[$0...]) } ?? "")
        }
        return BusAddress(publish: place(address.publish), subscribe: place(address.subscribe))
    }
}
