import Configuration
import Foundation
import HealthModel
import Logging
import StageKit
import Synchronization

/// Where a destination's token comes from: a file or a command (read or run again when the destination refuses it), or
/// the environment. Never from an argument, never in a log.
package final class TokenSource: Sendable {
    /// Where the token is looked for, for a person who must correct it.
    package enum Place: Sendable, Equatable {
        /// The configuration says that the server asks for no token.
        case none
        /// In a variable.
        case environment(String)
        case command
        /// nil where no file is named.
        case file(String?)

        /// What to do when the server refuses the token, as the end of a sentence.
        package var remedy: String {
            switch self {
            case .none: "it asks for a token: replace \"token\": \"none\" in the configuration by 'tokenFile'"
            case .environment(let variable):
                "it refuses the token in \(variable): set the right one, and start the stack again"
            case .command: "it refuses the token that 'tokenCommand' prints: correct that program"
            case .file(let file): "it refuses the token: put the right one into \(file ?? "the token's file")"
            }
        }
    }

    package let place: Place
    private let declared: DestinationDeclaration.Token
    private let file: String?
    private let command: TokenCommand?
    private let environment: String?
    /// Held while the command runs, so that two threads don't both run it.
    private let cached = Mutex<String?>(nil)

    /// - Parameters:
    ///   - declared: the names of the option and variable, for messages.
    ///   - environment: the variable's value, which takes precedence.
    package init(
        _ declared: DestinationDeclaration.Token, file: String?, command: TokenCommand? = nil, environment: String?
    ) {
        (self.declared, self.file, self.command) = (declared, file, command)
        self.environment = environment.flatMap { $0.isEmpty ? nil : $0 }
        place =
            self.environment != nil
            ? .environment(declared.variable ?? "the environment") : command != nil ? .command : .file(file)
    }

    /// Creates the source for a server that asks for no token.
    package init(noneFor declared: DestinationDeclaration.Token) {
        self.declared = declared
        (file, command, environment, place) = (nil, nil, nil, .none)
    }

    /// The token of an instance, as its plugin's manifest declares; nil if neither the option nor the variable says
    /// where it is. The option takes precedence, so that two instances can have different tokens.
    package static func declared(
        by instance: StackConfiguration.Instance,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> TokenSource? {
        guard let declared = instance.manifest.destination?.token else { return nil }
        if let file = instance.configuration[declared.option].string {
            return TokenSource(declared, file: file, environment: nil)
        }
        return declared.variable.flatMap { environment.filled($0) }.map {
            TokenSource(declared, file: nil, environment: $0)
        }
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
                "there is no token to send",
                hint: (declared.variable.map { "set \($0), or" } ?? "set")
                    + " '\(declared.option)' in the configuration")
        }
        guard let token = TextFile.text(file) else {
            throw Failure(
                "the token's file \(file) can't be read", hint: "write the token into it, with mode 0600")
        }
        guard !token.isEmpty else {
            throw Failure("the token's file \(file) is empty", hint: "write the token into it")
        }
        return token
    }
}

extension RetryPolicy.Pause {
    /// The token is refused, even after being read again.
    package static func unauthorized(_ place: TokenSource.Place) -> Self { Self(remedy: place.remedy) }
}
