/// A shared secret, compared in a time that doesn't depend on where two tokens differ.
package struct SecretToken: Sendable, CustomStringConvertible {
    private let bytes: [UInt8]

    /// nil for an empty token, which would let everyone in. Surrounding white space (such as a file's last newline)
    /// isn't part of it.
    package init?(_ text: String) {
        let trimmed = text.utf8.drop { $0 <= 0x20 }
        let end = trimmed.lastIndex { $0 > 0x20 }
        guard let end else { return nil }
        bytes = Array(trimmed[...end])
    }

    /// Whether `candidate` is this token. The time it takes reveals only the candidate's own length.
    package func matches(_ candidate: String?) -> Bool {
        guard let candidate else { return false }
        var difference: UInt8 = candidate.utf8.count == bytes.count ? 0 : 1
        var index = 0
        for byte in candidate.utf8 {
            difference |= byte ^ bytes[index]
            index += 1
            if index == bytes.count { index = 0 }
        }
        return difference == 0
    }

    /// Never shows the secret.
    package var description: String { "SecretToken(…)" }
}
