import Configuration
import Foundation
import HealthModel
import TestSupport
import Testing

/// A phone joins with a code, and its app renews its tokens.
@Suite struct TokenFamilyTests {
    private let now: Instant = 1_795_000_000_000_000
    private var generator = SeededRandom(seed: 7)
    private var list = TokenList()

    /// Makes an invitation.
    /// - Returns: its code, and its id.
    private mutating func invite() throws -> (code: String, id: String) {
        let code = TokenSecret.makeCode(using: &generator)
        let entry = try list.add(TokenWish(user: "anna", isInvited: true), code, now: now, using: &generator)
        return (code.text, entry.id)
    }

    /// - Parameter seconds: when, after `now`.
    private mutating func answer(_ request: JoinRequest, after seconds: Int = 0) throws -> JoinAnswer {
        let salt = "\(generator.next())"
        return list.answer(
            request, first: TokenPair.make(using: &generator), salt: salt, now: now + .seconds(seconds))
    }

    private mutating func pair(_ request: JoinRequest, after seconds: Int = 0) throws -> TokenPair {
        guard case .joined(let pair, let grant) = try answer(request, after: seconds) else {
            throw Refused()
        }
        #expect(grant.user == "anna" && grant.scopes == [.ingest])
        return pair
    }

    private struct Refused: Error {}

    private mutating func isRefused(_ request: JoinRequest, after seconds: Int = 0) throws -> Bool {
        guard case .refused(let reason) = try answer(request, after: seconds) else { return false }
        return !reason.isEmpty
    }

    private func verdict(_ secret: TokenSecret, after seconds: Int = 0) -> TokenAnswer {
        list.answer(to: secret, at: now + .seconds(seconds))
    }

    @Test mutating func aCodeHasItsForm() {
        let code = TokenSecret.makeCode(using: &generator)
        #expect(code.text.wholeMatch(of: #/[A-HJ-NP-Z2-9]{8}/#) != nil)
        #expect(TokenSecret(code: code.text.lowercased())?.text == code.text && TokenSecret(code.text) == nil)
        for wrong in ["", "ABCDEFG", "ABCDEFGHJ", "ABCDEFG0", "ABCDEFGI", "ABCDEFG "] {
            #expect(TokenSecret(code: wrong) == nil, "\(wrong)")
        }
    }

    @Test mutating func aCodeCountsOnce() throws {
        let (code, id) = try invite()
        #expect(try isRefused(.redeem(code: "AAAAAAAA")))
        #expect(try isRefused(.redeem(code: "")))
        let pair = try pair(.redeem(code: code.lowercased()), after: 60)
        #expect(
            verdict(pair.access, after: 60)
                == .granted(TokenGrant(id: id, user: "anna", device: "phone", scopes: [.ingest])))
        #expect(verdict(pair.refresh, after: 60) == .unknown && pair.access.text != pair.refresh.text)
        #expect(try isRefused(.redeem(code: code), after: 60))
        // The invitation and its phone are one entry, which doesn't end.
        #expect(list.entries.count == 1 && list.entries[0].state(at: now + .seconds(1 << 30)) == .valid)
    }

    @Test mutating func aCodeCountsForSevenDays() throws {
        let (first, second) = (try invite().code, try invite())
        #expect(try isRefused(.redeem(code: first), after: 7 * 86_400))
        _ = try list.revoke(second.id, now: now)
        #expect(try isRefused(.redeem(code: second.code), after: 1))
        let third = try invite().code
        _ = try pair(.redeem(code: third), after: 7 * 86_400 - 1)
    }

    @Test mutating func anAccessTokenLastsAnHour() throws {
        let first = try pair(.redeem(code: try invite().code))
        #expect(verdict(first.access, after: 3599) == .granted(list.entries[0].grant))
        #expect(verdict(first.access, after: 3600) == .ended)
        let second = try pair(.refresh(first.refresh.text), after: 3600)
        #expect(verdict(second.access, after: 7199) == .granted(list.entries[0].grant))
        #expect(verdict(first.access, after: 3600) == .unknown)
        #expect(Set([first, second].flatMap { [$0.access.text, $0.refresh.text] }).count == 4)
    }

    /// The answer was lost: the app asks again, perhaps after the ingest has been restarted.
    @Test mutating func aRepeatWithinAMinuteGetsTheSamePair() throws {
        let first = try pair(.redeem(code: try invite().code))
        let second = try pair(.refresh(first.refresh.text), after: 100)
        let before = list
        for seconds in [100, 159, 40] {
            let again = try pair(.refresh(first.refresh.text), after: seconds)
            #expect(again.access.text == second.access.text && again.refresh.text == second.refresh.text)
        }
        #expect(list == before)
        // Once the phone has gone on, the same request is another's.
        _ = try pair(.refresh(second.refresh.text), after: 120)
        #expect(try isRefused(.refresh(first.refresh.text), after: 121))
        #expect(list.entries[0].state(at: now + .seconds(121)) == .revoked)
    }

    @Test(arguments: [1, 2, 5]) mutating func aLateRepeatEndsAllTokens(exchanges: Int) throws {
        let (code, id) = try invite()
        let other = try pair(.redeem(code: try invite().code))
        let first = try pair(.redeem(code: code))
        var last = first
        for number in 1...exchanges { last = try pair(.refresh(last.refresh.text), after: number) }
        let late = exchanges + 60
        #expect(try isRefused(.refresh(first.refresh.text), after: late))
        #expect(list.entries.first { $0.id == id }?.revoked == now + .seconds(late))
        #expect(verdict(last.access, after: late) == .revoked)
        #expect(try isRefused(.refresh(last.refresh.text), after: late))
        // Nobody else's.
        #expect(verdict(other.access, after: late) == .granted(list.entries[1].grant))
    }

    /// Whoever has copied a token, but not the file, doesn't find the tokens after it.
    @Test mutating func thePairDependsOnTheSalt() throws {
        let first = try pair(.redeem(code: try invite().code))
        var found: Set<String> = []
        for salt in ["1", "2", "1"] {
            var copy = list
            let answer = copy.answer(.refresh(first.refresh.text), first: first, salt: salt, now: now)
            guard case .joined(let pair, _) = answer else { throw Refused() }
            found.formUnion([pair.access.text, pair.refresh.text])
        }
        #expect(found.count == 4)
    }

    @Test mutating func theAppAndAPersonEndIt() throws {
        let first = try pair(.redeem(code: try invite().code))
        guard case .revoked = try answer(.revoke(first.refresh.text), after: 5) else { throw Refused() }
        #expect(verdict(first.access, after: 5) == .revoked)
        #expect(try isRefused(.refresh(first.refresh.text), after: 5))
        #expect(try isRefused(.revoke(first.access.text)))
        #expect(try isRefused(.revoke("hbt_")))
        let second = try pair(.redeem(code: try invite().code))
        _ = try list.revoke("phone", now: now)
        #expect(verdict(second.access) == .revoked)
    }

    /// The file holds nothing with which somebody gets in, and is read as it was written.
    @Test mutating func theFileHoldsNoSecret() throws {
        let folder = try TemporaryFolder()
        let file = TokenFile(StateFolder(path: folder.path + "/state"))
        let code = try file.add(TokenWish(user: "anna", isInvited: true), now: now).secret.text
        guard case .joined(let first, _) = try file.answer(.redeem(code: code), now: now),
            case .joined(let second, let grant) = try file.answer(.refresh(first.refresh.text), now: now),
            case .joined(let again, _) = try file.answer(.refresh(first.refresh.text), now: now)
        else { throw Refused() }
        #expect(again.refresh.text == second.refresh.text)
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        for secret in [code, first.refresh.text, second.access.text, second.refresh.text] {
            #expect(!text.contains(secret))
        }
        let gate = TokenGate(file, lookingEvery: .zero)
        #expect(try gate.answer(to: second.access.text, now: now, at: .distantPast) == .granted(grant))
        #expect(try gate.answer(to: code, now: now, at: .distantPast) == .unknown)
    }
}
