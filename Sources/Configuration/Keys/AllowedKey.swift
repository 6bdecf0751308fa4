import HealthModel

/// One entry of the hub's list: a name, its role, and the public keys that prove it.
package struct AllowedKey: Sendable, Equatable {
    package struct Key: Sendable, Equatable {
        /// Z85.
        package var publicKey: String
        /// When it stops being valid; nil while it is the current one.
        package var until: Instant?

        package init(publicKey: String, until: Instant? = nil) { (self.publicKey, self.until) = (publicKey, until) }
    }

    package var role: KeyRole
    /// The current key first.
    package var keys: [Key]

    package init(role: KeyRole, keys: [Key]) { (self.role, self.keys) = (role, keys) }

    /// nil for anything that isn't such an entry.
    package init?(_ value: Value) {
        guard let role = value["role"].string, let list = value["keys"].array else { return nil }
        var keys: [Key] = []
        for entry in list {
            guard let key = entry["public"].string, entry["until"].isNull || entry["until"].int != nil else {
                return nil
            }
            keys.append(Key(publicKey: key, until: entry["until"].int.map { Instant(microseconds: $0) }))
        }
        self.init(role: KeyRole(role), keys: keys)
    }

    package var value: Value {
        let list = keys.map { key -> Value in
            var members: [String: Value] = ["public": .string(key.publicKey)]
            if let until = key.until { members["until"] = .integer(until.microseconds) }
            return .object(members)
        }
        return ["role": .string("\(role)"), "keys": .array(list)]
    }

    /// The keys that are valid at a given moment.
    package func valid(at now: Instant) -> [Key] { keys.filter { $0.until.map { $0 > now } ?? true } }

    /// The entry with a new key added; the previous key stays valid until `oldUntil`. Keys no longer valid are
    /// forgotten.
    package func rotated(to publicKey: String, oldUntil: Instant, now: Instant) -> AllowedKey {
        let old = valid(at: now).map { Key(publicKey: $0.publicKey, until: min($0.until ?? oldUntil, oldUntil)) }
        return AllowedKey(
            role: role, keys: [Key(publicKey: publicKey)] + old.filter { $0.until.map { $0 > now } ?? true })
    }
}
