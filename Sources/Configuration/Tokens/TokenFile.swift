import Foundation
import Glibc
import HealthModel
import Logging

/// The file of a stack's tokens, `<state>/secrets/tokens.json`: hashes, not secrets. Commands write it, servers read
/// it.
package struct TokenFile: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    package init(_ state: StateFolder) { self.init(path: state.tokens) }

    private var folder: String { (path as NSString).deletingLastPathComponent }

    /// The current list; empty if there is no file.
    /// - Throws: `Failure` when the file can't be read or understood: it is better to let nobody in than somebody with
    ///   a revoked token.
    package func read() throws(Failure) -> TokenList {
        let data: Data
        do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch CocoaError.fileReadNoSuchFile {
            return TokenList()
        } catch {
            throw Failure("the tokens in \(path) can't be read", hint: "check who owns the file, and its permissions")
        }
        var status = stat()
        guard stat(path, &status) != 0 || status.st_mode & 0o077 == 0 else {
            throw Failure("the tokens in \(path) are open to other users", hint: "run chmod 600 on it")
        }
        guard let list = (try? Value(json: data)).flatMap({ TokenList($0) }) else {
            throw Failure(
                "\(path) isn't a list of tokens, or was written by a newer release",
                hint: "put it back as it was, or remove it, and make new tokens with 'healthbus token new'",
                code: .damaged)
        }
        return list
    }

    /// Changes the list under a lock, so that two simultaneous commands don't lose each other's entries.
    /// - Throws: `Failure`, and any error that the body throws; the file is then unchanged.
    package func change<Result>(_ body: (inout TokenList) throws -> Result) throws -> Result {
        try StateFolder.make(folder)
        guard let lock = try InstanceLock.take(folder: folder, waiting: 10) else {
            throw Failure(
                "another process has been changing \(path) for 10 s",
                hint: "end it (\(folder)/lock names it), then try again")
        }
        defer { withExtendedLifetime(lock) {} }
        let before = try read()
        var list = before
        let result = try body(&list)
        if list != before { try write(list.value.json(pretty: true) + "\n") }
        return result
    }

    /// Writes in one step; it is on disk when this returns, so a power loss can't restore a revoked token.
    private func write(_ text: String) throws(Failure) {
        // All drafts have the same name: leftovers of a crash are overwritten next time.
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(draft) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard fchmod(descriptor, 0o600) == 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count,
            fsync(descriptor) == 0
        else { throw cannotWrite(draft) }
        guard rename(draft, path) == 0 else { throw cannotWrite(path) }
        let parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw cannotWrite(folder) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw cannotWrite(folder) }
    }

    private func cannotWrite(_ path: String) -> Failure {
        Failure(
            "can't write \(path): \(String(cString: strerror(errno)))",
            hint: "check that the state folder is yours and has room")
    }
}

extension TokenFile {
    /// Makes a token, or the code of an invitation, and stores its hash.
    /// - Returns: the secret, which can't be retrieved again, and the entry that is stored.
    /// - Throws: `Failure` for an invalid request, and when the file can't be read or written.
    package func add(_ wish: TokenWish, now: Instant) throws -> (secret: TokenSecret, entry: TokenEntry) {
        var generator = SystemRandomNumberGenerator()
        let secret =
            wish.isInvited ? TokenSecret.makeCode(using: &generator) : TokenSecret.make(using: &generator)
        let entry = try change { try $0.add(wish, secret, now: now, using: &generator) }
        return (secret, entry)
    }

    /// Revokes a token, by its id or its device.
    /// - Throws: `Failure` when none or several match, and when the file can't be read or written.
    package func revoke(_ name: String, now: Instant) throws -> TokenEntry {
        try change { try $0.revoke(name, now: now) }
    }
}
