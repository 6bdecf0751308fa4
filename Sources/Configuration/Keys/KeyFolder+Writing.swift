import Foundation
import Glibc
import HealthModel
import Logging
import MessageBus

/// Who should own the key files, if not the process that makes them: in containers a one-shot process makes them for
/// all others.
package struct FileOwner: Sendable, Equatable {
    package var user: uid_t
    package var group: gid_t

    package init(user: uid_t, group: gid_t) { (self.user, self.group) = (user, group) }

    /// Reads "1000" or "1000:1000"; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { UInt32($0) }
        guard let user = parts.first ?? nil, parts.count <= 2, let group = parts.last ?? nil else { return nil }
        self.init(user: user, group: group)
    }
}

extension KeyFolder {
    /// Makes a pair of keys for the hub and one for each name, unless they exist, and adds the names to the hub's list.
    /// - Returns: the names that got a new pair.
    package func initialize(_ roles: [(name: String, role: KeyRole)], owner: FileOwner?) throws -> [String] {
        var made: [String] = []
        if !FileManager.default.fileExists(atPath: secret(hub)) {
            try writePair(try BusKeyPair.make(), of: hub, owner: owner)
            made.append(hub)
        }
        try makeFolder(allowedFolder, owner: owner)
        for (name, role) in roles where try add(name, role, owner: owner) { made.append(name) }
        return made
    }

    /// Adds a name; returns false when it already has its key.
    @discardableResult
    package func add(_ name: String, _ role: KeyRole, owner: FileOwner?) throws -> Bool {
        let hubPair = try pair(of: hub, environment: [:])
        let isNew = !FileManager.default.fileExists(atPath: secret(name))
        if isNew { try writePair(try BusKeyPair.make(), of: name, owner: owner) }
        try write(hubPair.publicKey + "\n", to: hubKey(name), owner: owner)
        let key = try pair(of: name, environment: [:]).publicKey
        let entry = try allowedKey(name)
        if entry?.role != role || entry?.keys.first?.publicKey != key {
            try write(AllowedKey(role: role, keys: [.init(publicKey: key)]), as: name)
        }
        return isNew
    }

    /// Gives a name a new pair of keys. The hub accepts both the old and the new key until `oldUntil`: the hub gets the
    /// new one first, then the process.
    package func rotate(_ name: String, oldUntil: Instant, now: Instant) throws {
        guard let entry = try allowedKey(name) else {
            throw Failure("the hub's list has no '\(name)'", hint: "'healthbus keys list' shows its entries")
        }
        let pair = try BusKeyPair.make()
        try write(entry.rotated(to: pair.publicKey, oldUntil: oldUntil, now: now), as: name)
        try writePair(pair, of: name, owner: nil)
    }

    /// Gives the hub a new pair of keys, and puts the public one into the folder of every process that has one here.
    package func rotateHub() throws {
        let pair = try BusKeyPair.make()
        for name in try allowedNames() where FileManager.default.fileExists(atPath: folder(name)) {
            try write(pair.publicKey + "\n", to: hubKey(name), owner: nil)
        }
        try writePair(pair, of: hub, owner: nil)
    }

    /// Removes a name from the hub's list, and deletes its keys.
    package func remove(_ name: String) throws {
        guard try allowedKey(name) != nil || FileManager.default.fileExists(atPath: secret(name)) else {
            throw Failure("there is no key for '\(name)'", hint: "'healthbus keys list' shows all keys")
        }
        for file in [allowed(name), secret(name), publicKey(name), hubKey(name)] { unlink(file) }
        // A volume mounted there stays, as does anything else in it.
        rmdir(folder(name))
    }

    private func writePair(_ pair: BusKeyPair, of name: String, owner: FileOwner?) throws {
        try makeFolder(folder(name), owner: owner)
        try write(pair.publicKey + "\n", to: publicKey(name), owner: owner)
        try write(pair.secret + "\n", to: secret(name), owner: owner)
    }

    private func write(_ entry: AllowedKey, as name: String) throws {
        try write(entry.value.json(pretty: true) + "\n", to: allowed(name), owner: nil)
    }

    /// An existing folder keeps its owner, unless a different one is requested.
    private func makeFolder(_ folder: String, owner: FileOwner?) throws {
        if mkdir(folder, 0o700) != 0 {
            guard errno == EEXIST else {
                guard errno == ENOENT else { throw cannot("make", folder) }
                try StateFolder.make((folder as NSString).deletingLastPathComponent)
                guard mkdir(folder, 0o700) == 0 else { throw cannot("make", folder) }
                return try give(folder, to: owner)
            }
        }
        guard chmod(folder, 0o700) == 0 else { throw cannot("close", folder) }
        try give(folder, to: owner)
    }

    private func give(_ path: String, to owner: FileOwner?) throws {
        guard let owner else { return }
        guard chown(path, owner.user, owner.group) == 0 else { throw cannot("give away", path) }
    }

    /// Writes in one step, so that a reader finds either the old or the new content. The file has mode 0600 and belongs
    /// to the folder's owner.
    private func write(_ text: String, to file: String, owner: FileOwner?) throws {
        let folder = (file as NSString).deletingLastPathComponent
        let draft = file + ".\(UUID().uuidString)"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannot("write", draft) }
        defer {
            close(descriptor)
            unlink(draft)
        }
        let bytes = Array(text.utf8)
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, fsync(descriptor) == 0 else {
            throw cannot("write", draft)
        }
        var status = stat()
        guard stat(folder, &status) == 0 else { throw cannot("read", folder) }
        if status.st_uid != getuid() || status.st_gid != getgid() {
            guard fchown(descriptor, status.st_uid, status.st_gid) == 0 else { throw cannot("give away", draft) }
        }
        guard rename(draft, file) == 0 else { throw cannot("write", file) }
    }

    private func cannot(_ what: String, _ path: String) -> Failure {
        Failure(
            "can't \(what) \(path): \(String(cString: strerror(errno)))",
            hint: "check who owns the keys folder, or choose another with HEALTHBUS_KEYS")
    }
}
