import Foundation
import HealthModel
import Logging
import Synchronization

/// Where the backend's token comes from: a file or a command (read or run again when the backend refuses it), or the
/// environment. Never from an argument, never in a log.
package final class TokenSource: Sendable {
    private let file: String?
    private let command: TokenCommand?
    private let environment: String?
    /// Held while the command runs, so that two threads don't both run it.
    private let cached = Mutex<String?>(nil)

    package init(file: String?, command: TokenCommand? = nil, environment: String?) {
        self.file = file
        self.command = command
        self.environment = environment.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// From an uploader's options, `tokenCommand` before `tokenFile`.
    /// - Parameter file: read when they name neither.
    package convenience init(_ options: Value, file: String, environment: String?) {
        let words = options["tokenCommand"].array?.compactMap(\.string) ?? []
        self.init(
            file: options["tokenFile"].string ?? file, command: words.isEmpty ? nil : TokenCommand(words),
            environment: environment
        )
    }

    /// - Throws: `Failure` when there is none.
    package func current(refresh: Bool) throws -> String {
        if let environment { return environment }
        return try cached.withLock { cached in
            if !refresh, let cached { return cached }
            // A refused token is no longer used, no matter what happens to the next one.
            cached = nil
            let token = try command?.token() ?? read()
            cached = token
            return token
        }
    }

    private func read() throws -> String {
        guard let file else {
            throw Failure(
                "no token for the backend",
                hint: "set HEALTHBUS_BACKEND_TOKEN, or 'tokenFile' in the uploader's configuration")
        }
        guard let data = FileManager.default.contents(atPath: file) else {
            throw Failure(
                "the token's file \(file) can't be read", hint: "write the backend's token into it, with mode 0600")
        }
        let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw Failure("the token's file \(file) is empty", hint: "write the backend's token into it")
        }
        return token
    }
}
