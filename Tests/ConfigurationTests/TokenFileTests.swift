import Configuration
import Foundation
import Glibc
import HealthModel
import Logging
import Synchronization
import TestSupport
import Testing

/// Where tokens are kept, and how a server notices changes.
@Suite struct TokenFileTests {
    private let folder: TemporaryFolder
    private let file: TokenFile
    private let now: Instant = 1_795_000_000_000_000

    init() throws {
        folder = try TemporaryFolder()
        file = TokenFile(StateFolder(path: folder.path + "/state"))
    }

    private func text() throws -> String { try String(contentsOfFile: file.path, encoding: .utf8) }

    private func rights(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func onlyItsOwnerReadsIt() throws {
        #expect(try file.read().entries == [])
        #expect(file.path == folder.path + "/state/secrets/tokens.json")
        _ = try file.add(TokenWish(), now: now)
        #expect(try rights(file.path) == 0o600 && rights(folder.path + "/state/secrets") == 0o700)
        // No temporary file is left behind.
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path + "/state/secrets")
        #expect(Set(files) == ["tokens.json", "lock"])
        #expect(chmod(file.path, 0o640) == 0)
        let error = try #require(throws: Failure.self) { try file.read() }
        #expect(error.message.contains("open to other users") && error.hint?.contains("chmod 600") == true)
    }

    @Test func whatIsKeptIsNotTheSecret() throws {
        let (secret, entry) = try file.add(
            TokenWish(user: "anna", device: "Anna's phone", scope: .read, ends: now + .seconds(86_400)), now: now)
        #expect(try !text().contains(secret.text) && !text().contains(String(secret.text.dropFirst(4))))
        #expect(try text().contains("\(secret.digest)"))
        #expect(try file.read().entries == [entry])
        let revoked = try file.revoke(entry.id, now: now + .seconds(7))
        #expect(try file.read().entries == [revoked] && revoked.revoked != nil)
    }

    @Test func whatFailsChangesNothing() throws {
        _ = try file.add(TokenWish(), now: now)
        let before = try text()
        #expect(throws: Failure.self) { try file.revoke("nobody", now: now) }
        #expect(throws: Failure.self) { try file.add(TokenWish(user: ""), now: now) }
        #expect(try text() == before)
    }

    @Test func manyAtOnceLoseNothing() throws {
        let made = Mutex<Set<String>>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 24) { index in
            do {
                let entry = try file.add(TokenWish(device: "d\(index)"), now: now).entry
                if index.isMultiple(of: 3) { _ = try file.revoke(entry.id, now: now) }
                made.withLock { _ = $0.insert(entry.id) }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let entries = try file.read().entries
        #expect(Set(entries.map(\.id)) == made.withLock { $0 } && entries.count == 24)
        #expect(entries.count { $0.revoked != nil } == 8)
    }

    @Test(arguments: [
        "", "{", "[]", #"{ "version": 2, "tokens": [] }"#, #"{ "version": 1, "tokens": [{ "id": "a" }] }"#,
        #"{ "version": 1, "tokens": [{ "id": "a", "sha256": "00", "user": "u", "device": "d", "scope": "all" }] }"#,
    ])
    func whatCannotBeReadLetsNobodyIn(_ content: String) throws {
        let (secret, _) = try file.add(TokenWish(), now: now)
        let gate = TokenGate(file, lookingEvery: .zero)
        #expect(try gate.answer(to: secret.text, now: now, at: .distantPast) != .unknown)
        try Data(content.utf8).write(to: URL(fileURLWithPath: file.path))
        #expect(chmod(file.path, 0o600) == 0)
        let error = try #require(throws: Failure.self) {
            try gate.answer(to: secret.text, now: now, at: .distantPast + .seconds(1))
        }
        #expect(error.code == .damaged && error.hint?.contains("healthbus token new") == true)
        // The damaged file isn't overwritten either.
        #expect(throws: Failure.self) { try file.add(TokenWish(), now: now) }
        #expect(try text() == content)
    }

    /// An unreadable time means neither "never expires" nor "not revoked".
    @Test(arguments: ["ends", "revoked"]) func aTimeThatCannotBeReadIsDamage(_ key: String) throws {
        _ = try file.add(TokenWish(), now: now)
        let damaged = try text().replacing(try Regex("\"\(key)\"\\s*:\\s*null"), with: "\"\(key)\": \"soon\"")
        #expect(try damaged != text())
        try Data(damaged.utf8).write(to: URL(fileURLWithPath: file.path))
        #expect(chmod(file.path, 0o600) == 0)
        #expect(throws: Failure.self) { try file.read() }
    }

    @Test func theGateSeesWhatChangesAfterItsPause() throws {
        let gate = TokenGate(file, lookingEvery: .milliseconds(250))
        let start = MonotonicTime(microseconds: 1_000_000)
        func answer(_ secret: TokenSecret, after milliseconds: Int) throws -> TokenAnswer {
            try gate.answer(to: secret.text, now: now, at: start + .milliseconds(milliseconds))
        }
        var generator = SystemRandomNumberGenerator()
        let early = TokenSecret.make(using: &generator)
        #expect(try answer(early, after: 0) == .unknown)
        let (secret, entry) = try file.add(TokenWish(), now: now)
        // An unknown token is looked up at once, but not at every attempt.
        #expect(try answer(secret, after: 9) == .unknown)
        #expect(try answer(secret, after: 10) == .granted(entry.grant))
        _ = try file.revoke(entry.id, now: now)
        // The previous list stays valid during the pause, no matter how many clients ask; after that, the new one
        // applies.
        #expect(try answer(secret, after: 259) == .granted(entry.grant))
        #expect(try answer(secret, after: 260) == .revoked)
        // Removing the file locks every client out.
        try FileManager.default.removeItem(atPath: file.path)
        #expect(try answer(secret, after: 510) == .unknown)
        for nothing in [nil, "", "hbt_", "Bearer x"] {
            #expect(try gate.answer(to: nothing, now: now, at: start) == .unknown)
        }
    }
}
