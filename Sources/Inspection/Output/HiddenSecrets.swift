import Configuration
import Foundation
import HealthModel

/// Removes secrets from options, so that a configuration may be shown to others. Pure.
enum HiddenSecrets {
    static let hidden: Value = "(not shown)"

    /// - Parameter name: the option's name.
    static func redacted(_ value: Value, name: String, of kind: Manifest.Kind?) -> Value {
        let name = name.lowercased()
        if let words = value.array?.compactMap(\.string), name.hasSuffix("command"), let program = words.first {
            // Arguments may hold a token; the program's name isn't secret.
            return words.count == 1
                ? value : .array([.string(program), .string("(\(words.count - 1) more, not shown)")])
        }
        guard let text = value.string else { return value }
        if ["password", "secret", "token", "key", "passphrase", "credentials"].contains(where: name.hasSuffix) {
            return hidden
        }
        return .string(address(text, of: kind))
    }

    /// A URL without its password and query; a webhook's URL also loses its path, since the path is its secret.
    private static func address(_ text: String, of kind: Manifest.Kind?) -> String {
        guard text.contains("://") else { return text }
        guard var parts = URLComponents(string: text) else { return "(not shown)" }
        if parts.password != nil { parts.password = "hidden" }
        if parts.query != nil { parts.query = "hidden" }
        if kind == .notifier, parts.path.count > 1 { parts.path = "/hidden" }
        return parts.string ?? "(not shown)"
    }
}
