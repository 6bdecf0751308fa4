import Clocks
import Foundation
import HealthModel
import MessageBus

extension GuestList {
    /// Who may connect at a given time, according to the hub's list. The time matters because keys expire.
    init(_ entries: [(name: String, entry: AllowedKey)], rights: BusRights, at now: Instant) {
        self.init()
        for (name, entry) in entries {
            let identity = entry.role.identity(of: name)
            guard let grant = rights.grant(entry.role, name: name) else { continue }
            grants[identity] = grant
            for key in entry.valid(at: now) { identities[key.publicKey] = identity }
        }
    }
}

extension StackConfiguration {
    /// What seals this stack's hub; nil if the bus needs no keys.
    /// - Throws: `Failure` when the hub's keys are missing.
    package func hubSeal(in state: StateFolder) throws -> HubSeal? {
        guard bus.isSealed else { return nil }
        let folder = keyFolder(state)
        let rights = BusRights(self)
        let environment = ProcessInfo.processInfo.environment
        let pair = Watched([environment.filled("HEALTHBUS_KEY_FILE") ?? folder.secret(folder.hub)]) {
            try folder.pair(of: folder.hub, environment: environment)
        }
        let list = Watched([folder.allowedFolder]) {
            let entries = try folder.allowedNames().compactMap { name in
                try folder.allowedKey(name).map { (name: name, entry: $0) }
            }
            return (entries: entries, guests: GuestList(entries, rights: rights, at: WallClock.now))
        }
        let guests: @Sendable () throws -> GuestList = {
            let (entries, guests) = try list.current()
            // While the entries stay the same, only the expiry of keys changes the list.
            let runOut = entries.contains { $0.entry.keys.contains { $0.until != nil } }
            return runOut ? GuestList(entries, rights: rights, at: WallClock.now) : guests
        }
        _ = try (pair.current(), guests())
        return HubSeal(keys: { try pair.current() }, guests: guests)
    }
}
