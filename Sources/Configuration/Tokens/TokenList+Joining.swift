import HealthModel

/// What an app hands in to get tokens, to renew them or to end them.
package enum JoinRequest: Sendable, Equatable {
    /// An invitation's code.
    case redeem(code: String)
    /// A refresh token, for the next pair.
    case refresh(String)
    /// A refresh token, for the end of all tokens of the phone.
    case revoke(String)
}

package enum JoinAnswer: Sendable {
    case joined(TokenPair, TokenGrant)
    case revoked
    /// Why not, for the log: whoever asks learns nothing.
    case refused(String)
}

// How a phone joins with the code of an invitation, and how its app renews its tokens. All tokens of a phone are one
// entry, so they are listed and revoked as one.
extension TokenList {
    /// - Parameters:
    ///   - first: the pair for a phone that joins.
    ///   - salt: random text for the pair that follows, see `TokenPair`.
    package mutating func answer(
        _ request: JoinRequest, first: TokenPair, salt: String, now: Instant
    ) -> JoinAnswer {
        switch request {
        case .redeem(let text): redeem(text, first, now)
        case .refresh(let text): refresh(text, salt, now)
        case .revoke(let text): end(text, now)
        }
    }

    private mutating func redeem(_ text: String, _ pair: TokenPair, _ now: Instant) -> JoinAnswer {
        guard let digest = TokenSecret(code: text)?.digest,
            let index = entries.firstIndex(where: { $0.isInvitation && $0.digest == digest })
        else { return .refused("no invitation has that code, or it was redeemed before") }
        guard entries[index].state(at: now) == .valid else {
            return .refused("the invitation \(entries[index].id) has ended or was revoked")
        }
        (entries[index].isInvitation, entries[index].ends) = (false, nil)
        return renew(index, pair, TokenFamily(pair, now: now))
    }

    private mutating func refresh(_ text: String, _ salt: String, _ now: Instant) -> JoinAnswer {
        guard let (index, token, family) = member(text) else { return .refused(Self.noMember) }
        let id = entries[index].id
        guard entries[index].state(at: now) == .valid else { return .refused("the tokens of \(id) were revoked") }
        let digest = token.digest
        if family.refresh == digest {
            let exchange = TokenFamily.Exchange(refresh: digest, salt: salt, at: Instant(seconds: now.flooredSecond))
            let pair = TokenPair(exchanging: token, salt: salt)
            return renew(index, pair, TokenFamily(pair, now: now, exchange: exchange))
        }
        // The clock may have been set back since; that doesn't make anybody a thief.
        if let last = family.exchange, last.refresh == digest, now - last.at < TokenFamily.patience {
            return .joined(TokenPair(exchanging: token, salt: last.salt), entries[index].grant)
        }
        entries[index].revoked = Instant(seconds: now.flooredSecond)
        return .refused(
            "a refresh token of \(id) was used again after it had been exchanged. Somebody may have copied it, so all "
                + "tokens of \(id) are revoked: pair the phone again")
    }

    private mutating func end(_ text: String, _ now: Instant) -> JoinAnswer {
        guard let (index, _, _) = member(text) else { return .refused(Self.noMember) }
        if entries[index].revoked == nil { entries[index].revoked = Instant(seconds: now.flooredSecond) }
        return .revoked
    }

    private mutating func renew(_ index: Int, _ pair: TokenPair, _ family: TokenFamily) -> JoinAnswer {
        (entries[index].digest, entries[index].family) = (pair.access.digest, family)
        return .joined(pair, entries[index].grant)
    }

    private static let noMember = "it isn't a refresh token of any phone"

    /// The phone that has or had a refresh token.
    private func member(_ text: String) -> (index: Int, token: TokenSecret, family: TokenFamily)? {
        guard let token = TokenSecret(text) else { return nil }
        let mark = token.familyMark
        for (index, entry) in entries.enumerated() {
            if let family = entry.family, family.mark == mark { return (index, token, family) }
        }
        return nil
    }
}

extension TokenFile {
    /// Answers an app, under the file's lock: of two that redeem a code at once, one is refused.
    /// - Throws: `Failure` when the file can't be read or written.
    package func answer(_ request: JoinRequest, now: Instant) throws -> JoinAnswer {
        var generator = SystemRandomNumberGenerator()
        let first = TokenPair.make(using: &generator)
        let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }.hexadecimal
        return try change { $0.answer(request, first: first, salt: salt, now: now) }
    }
}
