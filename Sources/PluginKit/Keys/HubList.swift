import Foundation
import Glibc
import HealthModel
import MessageBus
import Synchronization

/// The hub's list, from its folder: read again when something in it has changed, judged anew each time, for keys run out.
final class HubList: Sendable {
    private struct Known {
        var changed: timespec
        var entries: [(name: String, entry: AllowedKey)]
    }

    private let folder: KeyFolder
    private let rights: BusRights
    private let known = Mutex<Known?>(nil)

    init(_ folder: KeyFolder, rights: BusRights) {
        self.folder = folder
        self.rights = rights
    }

    func guests(at now: Instant) throws -> GuestList { Self.guests(try entries(), rights: rights, at: now) }

    private func entries() throws -> [(name: String, entry: AllowedKey)] {
        var status = stat()
        let exists = stat(folder.allowedFolder, &status) == 0
        let changed = exists ? status.st_mtim : timespec()
        if let known = known.withLock({ $0 }), known.changed.tv_sec == changed.tv_sec,
            known.changed.tv_nsec == changed.tv_nsec
        {
            return known.entries
        }
        let entries = try folder.allowedNames().compactMap { name in
            try folder.allowedKey(name).map { (name: name, entry: $0) }
        }
        known.withLock { $0 = Known(changed: changed, entries: entries) }
        return entries
    }

    static func guests(
        _ entries: [(name: String, entry: AllowedKey)], rights: BusRights, at now: Instant
    ) -> GuestList {
        var list = GuestList()
        for (name, entry) in entries {
            let identity = entry.role.identity(of: name)
            guard let grant = rights.grant(entry.role, name: name) else { continue }
            list.grants[identity] = grant
            for key in entry.valid(at: now) { list.identities[key.publicKey] = identity }
        }
        return list
    }
}

extension StackConfiguration {
    /// What seals this stack's hub; nil where the bus asks nobody.
    /// - Throws: `Failure` when the hub's keys aren't there.
    public func hubSeal(in state: StateFolder) throws -> HubSeal? {
        guard bus.isSealed else { return nil }
        let folder = keyFolder(state)
        let list = HubList(folder, rights: BusRights(self))
        _ = try (folder.pair(of: folder.hub), list.guests(at: WallClock.now))
        return HubSeal(
            keys: { try folder.pair(of: folder.hub) }, guests: { try list.guests(at: WallClock.now) })
    }
}
