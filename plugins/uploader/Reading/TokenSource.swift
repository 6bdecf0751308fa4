import Foundation
import Logging
import Synchronization

/// Where the backend's token comes from: a file (read again when the backend refuses it) or the environment. Never from an argument, never in a log.
package final class TokenSource: Sendable {
    private let file: String?
    private let environment: String?
    private let cached = Mutex<String?>(nil)

    package init(file: String?, environment: String?) {
        self.file = file
        self.environment = environment.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// - Throws: `Failure` when there is none.
    package func current(refresh: Bool) throws -> String {
        if let environment { return environment }
        if !refresh, let token = cached.withLock({ $0 }) { return token }
        guard let file else {
            throw Failure(
                "no token for the backend",
                hint: "set HEALTHBUS_BACKEND_TOKEN, or 'tokenFile' in the uploader's configuration")
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Failure(
                "the token's file \(file) can't be read", hint: "write the backend's token into it, rights 0600")
        }
        let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw Failure("the token's file \(file) is empty", hint: "write the backend's token into it")
        }
        cached.withLock { $0 = token }
        return token
    }
}
