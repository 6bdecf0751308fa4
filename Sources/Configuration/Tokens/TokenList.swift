import HealthModel
import Logging

/// The tokens of a stack, in the order in which they were made. Pure.
package struct TokenList: Sendable, Equatable {
    package internal(set) var entries: [TokenEntry]

    package init(_ entries: [TokenEntry] = []) { self.entries = entries }

    /// The maximum number of tokens: a request is compared with each of them.
    private static let limit = 1_000

    /// What the holder of a secret may do at a given time.
    ///
    /// The secret's hash is compared in full with that of every token, so the time taken reveals nothing about any of
    /// them.
    package func answer(to secret: TokenSecret, at now: Instant) -> TokenAnswer {
        entry(of: secret)?.answer(at: now) ?? .unknown
    }

    func entry(of secret: TokenSecret) -> TokenEntry? {
        let digest = secret.digest
        var found: TokenEntry?
        for entry in entries where entry.digest == digest && entry.key == nil && !entry.isInvitation { found = entry }
        return found
    }

    /// The entry of a phone that signs its requests.
    func signer(_ id: String) -> TokenEntry? { entries.first { $0.id == id && $0.key != nil } }

    /// Adds a new token.
    /// - Throws: `Failure` for an invalid request, and when there are too many.
    package mutating func add(
        _ wish: TokenWish, _ secret: TokenSecret, now: Instant, using generator: inout some RandomNumberGenerator
    ) throws(Failure) -> TokenEntry {
        try wish.check(now: now)
        if entries.count >= Self.limit {
            // Tokens no longer valid are kept only as a record.
            guard let oldest = entries.firstIndex(where: { $0.state(at: now) != .valid }) else {
                throw Failure(
                    "there are already \(Self.limit) tokens, the most allowed",
                    hint:
                        "'healthbus token list' shows them; revoke unused ones with 'healthbus token revoke ID'")
            }
            entries.remove(at: oldest)
        }
        // Whole seconds are enough for people.
        let created = Instant(seconds: now.flooredSecond)
        let entry = TokenEntry(
            id: newID(using: &generator), digest: secret.digest, user: wish.user,
            device: wish.device ?? freeDevice(now: now), scope: wish.scope, created: created,
            ends: wish.isInvited ? created + TokenFamily.invitationLife : wish.ends,
            key: wish.signs ? secret.text : nil, isInvitation: wish.isInvited)
        entries.append(entry)
        return entry
    }

    /// Revokes a token; a token that is already revoked stays as it is.
    /// - Parameter name: the token's id, or its device if only one valid token has it.
    /// - Throws: `Failure` when no token matches, or several do.
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
            throw .usage("\(ofDevice.count) tokens belong to that device: \(ids)", hint: "name one by its id")
        }
        throw Failure(
            "no token has the id '\(name)', and no valid token belongs to a device with that name",
            hint: "'healthbus token list' shows them all")
    }

    private func newID(using generator: inout some RandomNumberGenerator) -> String {
        // An alphabet without characters that are easily mistaken for one another.
        let alphabet = Array("23456789abcdefghjkmnpqrstuvwxyz")
        while true {
            let id = String((0..<8).map { _ in alphabet[Int.random(in: alphabet.indices, using: &generator)] })
            if !entries.contains(where: { $0.id == id || $0.device == id }) { return id }
        }
    }

    /// A name that isn't in use, so that each device has a single token unless a person chooses otherwise.
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

    /// The list as stored in the file; nil for anything that isn't a list of this version.
    init?(_ value: Value) {
        guard value["version"].int == Self.version, let list = value["tokens"].array else { return nil }
        var entries: [TokenEntry] = []
        for one in list {
            // An unreadable entry might be a revoked token, so it is better to accept no token at all than that one.
            guard let entry = TokenEntry(one) else { return nil }
            entries.append(entry)
        }
        self.init(entries)
    }

    var value: Value { ["version": .integer(Self.version), "tokens": .array(entries.map(\.value))] }
}
