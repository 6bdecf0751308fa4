import Configuration
import HealthModel
import Logging
import TestSupport
import Testing

/// Tests what each secret allows, and when.
@Suite struct TokenListTests {
    private let now: Instant = 1_795_000_000_000_000
    private var generator = SeededRandom(seed: 5)
    private var list = TokenList()

    private mutating func made(_ wish: TokenWish = TokenWish()) throws -> (secret: TokenSecret, entry: TokenEntry) {
        let secret = TokenSecret.make(using: &generator)
        return (secret, try list.add(wish, secret, now: now, using: &generator))
    }

    @Test func theHashIsSHA256() throws {
        // From FIPS 180-4 itself.
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect("\(SecretDigest(of: "abc"))" == known)
        #expect("\(SecretDigest(of: ""))" == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(SecretDigest(hexadecimal: known) == SecretDigest(of: "abc"))
        #expect(SecretDigest(of: "abc") != SecretDigest(of: "abd"))
        for wrong in ["", "ba", known.uppercased(), known + "00", String(known.dropLast()) + "g"] {
            #expect(SecretDigest(hexadecimal: wrong) == nil, "\(wrong)")
        }
    }

    @Test mutating func aSecretHasItsForm() {
        let secret = TokenSecret.make(using: &generator)
        #expect(secret.text.wholeMatch(of: #/hbt_[A-Za-z0-9_-]{43}/#) != nil)
        #expect(secret.text != TokenSecret.make(using: &generator).text)
        #expect(TokenSecret(secret.text)?.text == secret.text)
        // Printing a secret by mistake reveals nothing.
        #expect(!"\(secret)".contains(secret.text))
        let body = secret.text.dropFirst(4)
        for wrong in [
            "", "hbt_", String(body), "HBT_\(body)", "hbt_\(body)a", "hbt_\(body.dropLast())",
            "hbt_\(body.dropLast())=",
        ] {
            #expect(TokenSecret(wrong) == nil, "\(wrong)")
        }
    }

    @Test mutating func whatHoldsIsGrantedAndNothingElse() throws {
        let anna = try made(TokenWish(user: "anna", device: "watch"))
        _ = try made()
        #expect(
            list.answer(to: anna.secret, at: now)
                == .granted(TokenGrant(id: anna.entry.id, user: "anna", device: "watch", scopes: [.ingest])))
        #expect(list.answer(to: TokenSecret.make(using: &generator), at: now) == .unknown)
        #expect(TokenList().answer(to: anna.secret, at: now) == .unknown)
    }

    @Test(arguments: [
        (TokenScope.ingest, [TokenScope.ingest]), (.read, [.read]), (.admin, [.ingest, .read, .admin]),
    ])
    mutating func scopesAreWhatTheySay(scope: TokenScope, allowed: [TokenScope]) throws {
        let token = try made(TokenWish(scope: scope))
        guard case .granted(let grant) = list.answer(to: token.secret, at: now) else {
            Issue.record("it isn't granted")
            return
        }
        #expect(TokenScope.allCases.filter { grant.allows($0) } == allowed)
    }

    @Test mutating func whatIsTakenBackOrOverIsSaidSo() throws {
        let short = try made(TokenWish(device: "short", ends: now + .seconds(60)))
        let long = try made(TokenWish(device: "long"))
        #expect(list.answer(to: short.secret, at: now + .seconds(59)) == .granted(short.entry.grant))
        #expect(list.answer(to: short.secret, at: now + .seconds(60)) == .ended)
        let revoked = try list.revoke("long", now: now + .seconds(5))
        #expect(revoked.revoked == now + .seconds(5) && revoked.id == long.entry.id)
        #expect(list.answer(to: long.secret, at: now + .seconds(5)) == .revoked)
        // Revoking a token again changes nothing, and expired tokens can be revoked too.
        #expect(try list.revoke(long.entry.id, now: now + .seconds(50)) == revoked)
        _ = try list.revoke(short.entry.id, now: now + .seconds(90))
        #expect(list.answer(to: short.secret, at: now + .seconds(90)) == .revoked)
    }

    @Test mutating func aDeviceNamesATokenWhereItIsTheOnlyOne() throws {
        let first = try made()
        let second = try made()
        #expect(first.entry.device == "phone" && second.entry.device == "phone-2")
        #expect(first.entry.id != second.entry.id)
        let same = try made(TokenWish(device: "phone"))
        let error = try #require(throws: Failure.self) { try list.revoke("phone", now: now) }
        #expect(error.code == .usage && error.message.contains(first.entry.id) && error.message.contains(same.entry.id))
        _ = try list.revoke(first.entry.id, now: now)
        #expect(try list.revoke("phone", now: now).id == same.entry.id)
        // The name no longer belongs to a valid token, so it is free again.
        #expect(throws: Failure.self) { try list.revoke("phone", now: now) }
        #expect(try made().entry.device == "phone")
    }

    @Test mutating func whatNoTokenCanHaveIsRefused() throws {
        for wish in [
            TokenWish(user: ""), TokenWish(user: "a\nb"), TokenWish(device: "\u{1B}[2J"),
            TokenWish(device: String(repeating: "x", count: 101)), TokenWish(ends: now),
        ] {
            let error = try #require(throws: Failure.self) { try made(wish) }
            #expect(error.code == .usage && error.hint != nil)
        }
        #expect(list.entries.isEmpty)
    }

    @Test mutating func theListDoesNotGrowWithoutEnd() throws {
        for _ in 0..<1000 { _ = try made(TokenWish(device: "d")) }
        #expect(throws: Failure.self) { try made() }
        let third = list.entries[2].id
        _ = try list.revoke(third, now: now)
        _ = try made()
        #expect(list.entries.count == 1000 && !list.entries.contains { $0.id == third })
    }

    @Test func endsAreDaysOrTimes() {
        #expect(TokenWish.end("2027-12-31") == InstantText.parse("2028-01-01T00:00:00Z"))
        #expect(TokenWish.end("2027-12-31T12:00:00+01:00") == InstantText.parse("2027-12-31T11:00:00Z"))
        for wrong in ["", "tomorrow", "2027-02-30", "2027-12-31T12:00:00"] { #expect(TokenWish.end(wrong) == nil) }
    }
}
