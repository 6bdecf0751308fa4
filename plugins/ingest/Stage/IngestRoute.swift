import HealthPush

/// The available paths.
package enum IngestRoute: Sendable, Equatable {
    case push(WayIn)
    case wake
    /// Types that a person makes, and one of them.
    case ownTypes, ownType
    /// What a person enters, and one such event.
    case events, event
    /// An export as it is, and the state of one.
    case files, file
    /// An app joins with an invitation's code, renews its tokens, ends them.
    case redeem, refresh, revoke
    /// An app's diagnostics.
    case logs
    /// Whether the process is running.
    case health

    package static let all: [IngestRoute] =
        WayIn.all.map { .push($0) } + [
            .wake, .ownTypes, .ownType, .events, .event, .files, .file, .redeem, .refresh, .revoke, .logs, .health,
        ]

    package var methods: [String] {
        switch self {
        case .health, .file: ["GET"]
        case .push, .wake, .files, .events, .redeem, .refresh, .revoke, .logs: ["POST"]
        case .ownTypes: ["POST", "GET"]
        case .ownType: ["PATCH", "DELETE"]
        case .event: ["GET", "PATCH", "DELETE"]
        }
    }

    /// The path, with the name of a variable component in braces; docs/openapi-ingest.json has the same.
    package var template: String {
        switch self {
        case .push(let way): way.path
        case .wake: "/v1/wake"
        case .ownTypes: "/v1/types"
        case .ownType: "/v1/types/{name}"
        case .events: "/v1/events"
        case .event: "/v1/events/{id}"
        case .files: "/v1/files"
        case .file: "/v1/files/{id}"
        case .redeem: "/api/v1/invitation-code/redeem"
        case .refresh: "/api/v1/token/refresh"
        case .revoke: "/api/v1/token/revoke"
        case .logs: "/api/v1/sdk/users/{user}/logs"
        case .health: "/v1/health"
        }
    }

    /// How a caller proves who they are; nil where anybody is let in.
    package var proof: WayIn.Proof? {
        switch self {
        case .push(let way): way.proof
        // What an app hands in there proves it.
        case .redeem, .refresh, .revoke: nil
        case .health: nil
        default: .bearer
        }
    }

    /// Whether the path is about what a person makes: events and types of their own.
    package var isOwn: Bool { [.ownTypes, .ownType, .events, .event].contains(self) }

    /// Whether the path's variable component is the UUID of the person, who must be the token's.
    var isPersons: Bool { template.contains("{user}") }

    /// The largest body in bytes, where a smaller one than elsewhere is enough.
    var bodyLimit: Int? {
        switch self {
        case .redeem, .refresh, .revoke: 4 << 10
        case .logs: 256 << 10
        default: nil
        }
    }

    package static func == (a: IngestRoute, b: IngestRoute) -> Bool { a.template == b.template }

    private static let components = all.map { $0.template.split(separator: "/", omittingEmptySubsequences: false) }

    /// The route of a path, and the path's variable component, if it has one, of 1 to 64 bytes.
    static func of(_ path: String) -> (route: IngestRoute, id: String?)? {
        let asked = path.split(separator: "/", omittingEmptySubsequences: false)
        for (route, expected) in zip(all, components) where asked.count == expected.count {
            var id: String?
            let isIt = zip(asked, expected).allSatisfy { part, name in
                guard name.first == "{" else { return part == name }
                id = String(part)
                return (1...64).contains(part.utf8.count)
            }
            if isIt { return (route, id) }
        }
        return nil
    }
}
