/// The available paths.
package enum IngestRoute: String, CaseIterable {
    case samples = "/v1/samples"
    case healthAutoExport = "/v1/health-auto-export"
    case wake = "/v1/wake"
    /// An export as it is.
    case files = "/v1/files"
    /// The state of one: its id follows.
    case file = "/v1/files/"
    /// Whether the process is there: the only path that needs no token.
    case health = "/v1/health"

    package var method: String { self == .health || self == .file ? "GET" : "POST" }

    static func of(_ path: String) -> IngestRoute? {
        if let route = IngestRoute(rawValue: path), route != .file { return route }
        return file(path) == nil ? nil : .file
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
