import HealthModel

/// Where each member of a stack's configuration comes from.
package struct ConfigurationOrigins: Sendable {
    package enum Origin: Sendable, Equatable {
        /// The default stack, or the default of a plugin's option.
        case standard
        case file(String, line: Int?)
        case variable(String)
        /// A variable that was set when the stack was last started.
        case remembered(String)
        /// A command-line option.
        case option(String)
    }

    /// The content of the file applied on top of the default; null if there is none.
    let own: Value
    let places: JSONPlaces
    let file: String
    /// Instances that have run a different plugin since a swap, and the file in the state folder that records the swap.
    let swapped: Set<String>
    let stateFile: String?

    /// - Parameter key: the names of nested members, from the outermost.
    package func origin(of key: [String]) -> Origin {
        if let stateFile, key.count == 3, key[0] == "instances", key[2] == "plugin", swapped.contains(key[1]) {
            return .file(stateFile, line: nil)
        }
        guard !key.reduce(own, { $0[$1] }).isNull else { return .standard }
        return .file(file, line: places.line(of: key.joined(separator: ".")))
    }
}
