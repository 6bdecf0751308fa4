/// An invitation's code: 8 characters, which a person copies from a screen into an app.
///
/// These are 40 bits, so unlike a token a code can be guessed. It counts once and for seven days, and whoever tries out
/// codes must wait after a few (`FailedAttempts`). Its hash only keeps it from being read in passing: whoever can read
/// the file of tokens could find it.
extension TokenSecret {
    private static let codeLength = 8
    /// Without characters that are easily mistaken for one another. The app takes any of A to Z and 2 to 9.
    private static let codeCharacters = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")

    /// A new code.
    package static func makeCode(using generator: inout some RandomNumberGenerator) -> TokenSecret {
        let characters = (0..<codeLength).map { _ in
            codeCharacters[Int.random(in: codeCharacters.indices, using: &generator)]
        }
        return TokenSecret(made: String(characters))
    }

    /// Reads a code in upper or lower case; nil for text that can't be one.
    package init?(code text: String) {
        let code = text.uppercased()
        guard code.utf8.count == Self.codeLength, code.allSatisfy({ Self.codeCharacters.contains($0) })
        else { return nil }
        self.init(made: code)
    }
}
