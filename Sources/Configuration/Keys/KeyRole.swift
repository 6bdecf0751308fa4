/// What the holder of a key acts as.
package enum KeyRole: Sendable, Equatable, CustomStringConvertible {
    /// Acts as this instance of the stack.
    case instance(String)
    /// A person's tool that sends queries and gives commands.
    case `operator`
    /// A person's tool that only listens.
    case tap
    /// `healthbus up`: an operator that reports the state of its processes.
    case supervisor

    package static let cli = "cli"
    package static let tapName = "tap"
    package static let supervisorName = "supervisor"

    /// Names that don't belong to instances, each with its role; every stack has them.
    package static let people: [(name: String, role: KeyRole)] = [
        (supervisorName, .supervisor), (cli, .operator), (tapName, .tap),
    ]

    package init(_ text: String) {
        self =
            switch text {
            case "operator": .operator
            case "tap": .tap
            case Self.supervisorName: .supervisor
            default: .instance(text)
            }
    }

    package var description: String {
        switch self {
        case .instance(let name): name
        case .operator: "operator"
        case .tap: "tap"
        case .supervisor: Self.supervisorName
        }
    }

    /// The identity that the hub gives to the holder of this key.
    package func identity(of name: String) -> String {
        if case .instance(let instance) = self { instance } else { name }
    }
}
