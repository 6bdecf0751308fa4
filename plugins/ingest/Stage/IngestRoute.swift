/// The available paths.
package enum IngestRoute: String, CaseIterable {
    case samples = "/v1/samples"
    case healthAutoExport = "/v1/health-auto-export"
    case wake = "/v1/wake"
    /// Types that a person makes.
    case ownTypes = "/v1/types"
    /// One of them: its name follows.
    case ownType = "/v1/types/"
    /// What a person enters.
    case events = "/v1/events"
    /// One such event: its id follows.
    case event = "/v1/events/"
    /// An export as it is.
    case files = "/v1/files"
    /// The state of one: its id follows.
    case file = "/v1/files/"
    /// Whether the process is running: the only path that needs no token.
    case health = "/v1/health"

    package var methods: [String] {
        switch self {
        case .health, .file: ["GET"]
        case .samples, .healthAutoExport, .wake, .files, .events: ["POST"]
        case .ownTypes: ["POST", "GET"]
        case .ownType: ["PATCH", "DELETE"]
        case .event: ["GET", "PATCH", "DELETE"]
        }
    }

    /// The path's name in docs/openapi-ingest.json.
    package var template: String {
        switch self {
        case .file, .event: rawValue + "{id}"
        case .ownType: rawValue + "{name}"
        default: rawValue
        }
    }

    /// Whether the path is about what a person makes: events and types of their own.
    package var isOwn: Bool { [.ownTypes, .ownType, .events, .event].contains(self) }

    static func of(_ path: String) -> IngestRoute? {
        if let route = IngestRoute(rawValue: path) { return route.template == path ? route : nil }
        if file(path) != nil { return .file }
        return [IngestRoute.ownType, .event].first { $0.last(of: path) != nil }
    }

    /// What follows the path of an event or type, as a single path component; nil for any other path.
    func last(of path: String) -> String? {
        guard path.hasPrefix(rawValue) else { return nil }
        let last = path.dropFirst(rawValue.count)
        return (1...64).contains(last.utf8.count) && !last.contains("/") ? String(last) : nil
    }

    /// The id in a path that asks about a file: an import's id has no other characters.
    static func file(_ path: String) -> String? {
        guard path.hasPrefix(file.rawValue) else { return nil }
        let id = path.dropFirst(file.rawValue.count)
        guard (8...64).contains(id.utf8.count), id.utf8.allSatisfy({ Array("0123456789abcdef-".utf8).contains($0) })
        else { return nil }
        return String(id)
    }
}
