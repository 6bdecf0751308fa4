import Foundation
import HealthModel
import Logging
import Synchronization

/// Where the backend's token comes from: a file or a command (read or run again when the backend refuses it), or the
/// environment. Never from an argument, never in a log.
package final class TokenSource: Sendable {
    /// Where the token is looked for, for a person who must correct it.
    package enum Place: Sendable, Equatable {
        /// The configuration says that the server asks for no token.
        case none
        case environment
        case command
        /// nil where no file is named.
        case file(String?)

        /// What to do when the server refuses the token, as the end of a sentence.
        package var remedy: String {
            switch self {
            case .none: "it asks for a token: replace \"token\": \"none\" in the configuration by 'tokenFile'"
            case .environment:
                "it refuses the token in HEALTHBUS_BACKEND_TOKEN: set the right one, and start the stack again"
            case .command: "it refuses the token that 'tokenCommand' prints: correct that program"
            case .file(let file): "it refuses the token: put the right one into \(file ?? "the token's file")"
            }
        }
    }

    package let place: Place
    private let file: String?
    private let command: TokenCommand?
    private let environment: String?
    /// Held while the command runs, so that two threads don't both run it.
    private let cached = Mutex<String?>(nil)

    package init(file: String?, command: TokenCommand? = nil, environment: String?) {
        self.file = file
        self.command = command
        self.environment = environment.flatMap { $0.isEmpty ? nil : $0 }
        place = self.environment != nil ? .environment : command != nil ? .command : .file(file)
    }

    /// Creates the source for a server that asks for no token.
    package init() {
        (file, command, environment, place) = (nil, nil, nil, .none)
    }

    /// Creates the source from an uploader's options, `tokenCommand` before `tokenFile`.
    /// - Parameter file: read when they name neither.
    package convenience init(_ options: Value, file: String, environment: String?) {
        let words = options["tokenCommand"].array?.compactMap(\.string) ?? []
        self.init(
            file: options["tokenFile"].string ?? file, command: words.isEmpty ? nil : TokenCommand(words),
            environment: environment
        )
    }

    /// The token to send; nil if the server asks for none.
    /// - Throws: `Failure` when one is needed and there is none.
    package func current(refresh: Bool) throws -> String? {
        if place == .none { return nil }
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
                "the token's file \(file) can't be read", hint: "write the token into it, with mode 0600")
        }
        let token = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !token.isEmpty else {
            throw Failure("the token's file \(file) is empty", hint: "write the token into it")
        }
        return token
    }
}
