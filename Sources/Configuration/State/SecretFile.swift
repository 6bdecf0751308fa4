import Foundation
import Glibc
import Logging

/// A random secret in its own file (0600), made once.
package enum SecretFile {
    /// Makes the file unless it exists. Two processes that start together end up with the same secret.
    package static func ensure(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        try StateFolder.make((path as NSString).deletingLastPathComponent)
        var generator = SystemRandomNumberGenerator()
        let words = (0..<4).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 36) }
        // The draft isn't named after the process id: processes in containers that share the folder may have the same
        // id.
        let draft = path + ".\(UUID().uuidString)"
        guard
            FileManager.default.createFile(
                atPath: draft, contents: Data((words.joined() + "\n").utf8), attributes: [.posixPermissions: 0o600])
        else { throw Failure("can't write \(draft)", hint: "check that the state folder is yours and has room") }
        defer { unlink(draft) }
        // link fails if another process was first; that process's secret is then used.
        guard link(draft, path) == 0 || errno == EEXIST else {
            throw Failure(
                "can't make \(path): \(String(cString: strerror(errno)))", hint: "check that the state folder is yours")
        }
    }

    package static func read(_ path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(
                "the secret \(path) can't be read", hint: "the stack's first start makes it; check its permissions")
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
