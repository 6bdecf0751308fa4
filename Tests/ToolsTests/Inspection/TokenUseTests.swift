import Configuration
import Doctor
import HealthModel
import Inspection
import Terminal
import TestSupport
import Testing

/// What servers note about the stack's own tokens, and what is made of it.
@Suite struct TokenUseTests {
    private let now = Instant(seconds: 1_790_000_000)

    @Test func whoWasLetInAndWhoIsRefusedIsNotedAndKept() throws {
        let folder = try TemporaryFolder()
        let file = TokenFile(path: folder.path + "/secrets/tokens.json")
        let uses = TokenUses(folder: folder.path)
        let gate = TokenGate(file, lookingEvery: .zero, noting: uses)
        let (secret, entry) = try file.add(TokenWish(device: "phone", ends: now + .seconds(60)), now: now)
        var generator = SystemRandomNumberGenerator()
        let guess = TokenSecret.make(using: &generator)
        for (text, seconds) in [(secret.text, 1), (guess.text, 2), (secret.text, 61), (secret.text, 70)] {
            let moment = MonotonicTime(microseconds: Int64(seconds) * 1_000_000)
            _ = try gate.answer(to: text, now: now + .seconds(seconds), at: moment)
        }
        #expect(TokenUses.read(folder: folder.path) == [:])
        uses.save { Issue.record("\($0)") }
        let kept = TokenUses.read(folder: folder.path)
        var expected = TokenUse(last: now + .seconds(1))
        expected.note(isGranted: false, at: now + .seconds(61))
        expected.note(isGranted: false, at: now + .seconds(70))
        // A guess leaves nothing behind.
        #expect(kept == [entry.id: expected])

        let list = try file.read()
        let found = TokenRefusals.findings(list, kept, subject: "/s", now: now + .seconds(80))
        #expect(found.count == 1 && found[0].severity == .warning)
        #expect(found[0].what.contains("'phone' of me") && found[0].what.contains("2 requests refused since 2026-"))
        #expect(found[0].remedy.contains("'healthbus pair --user me'"))
        // A device that gave up a day ago isn't reported any more.
        #expect(TokenRefusals.findings(list, kept, subject: "/s", now: now + .seconds(90_000)) == [])
        let table = TokenReport(list, uses: kept, now: now).table(for: Terminal(isTerminal: false))
        #expect(table.contains("then refused 2 times"), "\(table)")
        #expect(!table.contains(secret.text) && !found[0].what.contains(secret.text))

        _ = try file.revoke(entry.id, now: now + .seconds(71))
        // Whoever revoked it wants that.
        let revoked = TokenRefusals.findings(try file.read(), kept, subject: "/s", now: now + .seconds(80))
        #expect(revoked.map(\.severity) == [.note])
    }

    @Test func whatTwoServersNotedIsOneRecord() {
        var one = TokenUse(last: now)
        one.note(isGranted: false, at: now + .seconds(9))
        var other = TokenUse(last: now + .seconds(5))
        other.note(isGranted: false, at: now + .seconds(7))
        let both = one.merged(with: other)
        #expect(both.last == now + .seconds(5) && both.refused == 2)
        #expect(both.firstRefused == now + .seconds(7) && both.lastRefused == now + .seconds(9))
        #expect(TokenUse().merged(with: one) == one)
    }
}
