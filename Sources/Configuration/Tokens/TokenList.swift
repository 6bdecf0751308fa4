import HealthModel
import Logging

/// The tokens of a stack, in the order in which they were made. Pure.
package struct TokenList: Sendable, Equatable {
    package private(set) var entries: [TokenEntry]

    package init(_ entries: [TokenEntry] = []) { self.entries = entries }

    /// A request is compared with each.
    private static let limit = 1_000

    /// What a secret is good for at a time.
    ///
    /// Its hash is compared with every token's, whole and to the last, so the time that it takes tells nothing of any of them.
    package func answer(to secret: TokenSecret, at now: Instant) -> TokenAnswer {
        let digest = secret.digest
        var found: TokenEntry?
        for entry in entries where entry.digest == digest { found = entry }
        guard let found else { return .unknown }
        return switch found.state(at: now) {
        case .valid: .granted(found.grant)
        case .ended: .ended
        case .revoked: .revoked
        }
    }

    /// Enters a new token.
    /// - Throws: `Failure` for what no token can have, and when there are too many.
    package mutating func add(
        _ wish: TokenWish, _ secret: TokenSecret, now: Instant, using generator: inout some RandomNumberGenerator
    ) throws(Failure) -> TokenEntry {
        try wish.check(now: now)
        if entries.count >= Self.limit {
            // Those that no longer hold only tell that they did.
            guard let oldest = entries.firstIndex(where: { $0.state(at: now) != .valid }) else {
                throw Failure(
                    "there are \(Self.limit) tokens, which is all that there may be",
                    hint:
                        "'healthbus token list' shows them; take back with 'healthbus token revoke ID' what isn't used")
            }
            entries.remove(at: oldest)
        }
        let entry = TokenEntry(
            id: newID(using: &generator), digest: secret.digest, user: wish.user,
            device: wish.device ?? freeDevice(now: now), scope: wish.scope,
            // Whole seconds are enough for people.
            created: Instant(seconds: now.flooredSecond), ends: wish.ends)
        entries.append(entry)
        return entry
    }

    /// Takes a token back; one that was taken back before stays as it is.
    /// - Parameter name: its id, or its device where only one that holds has that.
    /// - Throws: `Failure` when there is none, or are several.
    package mutating func revoke(_ name: String, now: Instant) throws(Failure) -> TokenEntry {
        let index = try index(of: name, now: now)
        if entries[index].revoked == nil { entries[index].revoked = Instant(seconds: now.flooredSecond) }
        return entries[index]
    }

    private func index(of name: String, now: Instant) throws(Failure) -> Int {
        if let index = entries.firstIndex(where: { $0.id == name }) { return index }
        let ofDevice = entries.indices.filter { entries[$0].device == name && entries[$0].state(at: now) == .valid }
        if let only = ofDevice.first, ofDevice.count == 1 { return only }
        guard ofDevice.isEmpty else {
            let ids = ofDevice.map { entries[$0].id }.joined(separator: ", ")
            throw .usage("\(ofDevice.count) tokens are of that device: \(ids)", hint: "name one by its id")
        }
        throw Failure(
            "there is no token \"\(name)\", and none that holds is of a device with that name",
            hint: "'healthbus token list' shows all")
    }

    private func newID(using generator: inout some RandomNumberGenerator) -> String {
        // Without those that are taken for each other.
        let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz")
        while true {
            let id = String((0..<8).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
            if !entries.contains(where: { $0.id == id || $0.device == id }) { return id }
        }
    }

    /// So that a device names one token, unless a person wants it otherwise.
    private func freeDevice(now: Instant) -> String {
        let taken = Set(entries.filter { $0.state(at: now) == .valid }.map(\.device))
        guard taken.contains(TokenWish.usualDevice) else { return TokenWish.usualDevice }
        var number = 2
        while taken.contains("\(TokenWish.usualDevice)-\(number)") { number += 1 }
        return "\(TokenWish.usualDevice)-\(number)"
    }
}

extension TokenList {
    private static let version: Int64 = 1

    /// As the file has it; nil for what isn't a list, or isn't one of this version.
    init?(_ value: Value) {
        guard value["version"].int == Self.version, let list = value["tokens"].array else { return nil }
        var entries: [TokenEntry] = []
        for one in list {
            // One that can't be read might be one that was taken back: better none of them than that one.
            guard let entry = TokenEntry(one) else { return nil }
            entries.append(entry)
        }
        self.init(entries)
    }

    var value: Value { ["version": .integer(Self.version), "tokens": .array(entries.map(\.value))] }
}
