import HealthModel

/// Why a text isn't JSON5, and where.
package struct JSONMistake: Sendable, Equatable {
    /// Line and column are both counted from 1, and columns count characters.
    package var line: Int
    package var column: Int
    /// For example "a colon is missing after "plugin"".
    package var reason: String
}

/// The text of a configuration or a manifest: JSON5.
enum ConfigurationText {
    /// - Throws: `ConfigurationError` with line and column when the text isn't JSON5.
    static func value(_ text: some Sequence<UInt8>, file: String) throws(ConfigurationError) -> Value {
        do { return try Value(json: text, comments: true) } catch {
            let mistake = JSONPlaces(text).mistake
            throw ConfigurationError(
                file: file, key: "",
                reason: "isn't JSON: \(mistake?.reason ?? "it holds characters that JSON doesn't allow")",
                line: mistake?.line, column: mistake?.column)
        }
    }
}
