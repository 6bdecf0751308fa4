import Configuration
import DeliveryKit
import HealthModel

extension TokenSource {
    private static let backends = DestinationDeclaration.Token(option: "tokenFile", variable: DestinationToken.variable)

    /// Creates the source of the token for a backend.
    package convenience init(file: String?, command: TokenCommand? = nil, environment: String?) {
        self.init(Self.backends, file: file, command: command, environment: environment)
    }

    /// Creates the source for a backend that asks for no token.
    package convenience init() { self.init(noneFor: Self.backends) }

    /// Creates the source from an uploader's options, `tokenCommand` before `tokenFile`.
    /// - Parameter file: read when they name neither.
    package convenience init(_ options: Value, file: String, environment: String?) {
        let words = options["tokenCommand"].array?.compactMap(\.string) ?? []
        self.init(
            file: options["tokenFile"].string ?? file, command: words.isEmpty ? nil : TokenCommand(words),
            environment: environment)
    }
}
