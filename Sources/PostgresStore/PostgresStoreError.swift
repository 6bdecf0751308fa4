/// Errors of a store besides PostgreSQL's own.
package enum PostgresStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The schema was made by a newer release.
    case schema(name: String, version: Int64, known: Int64)
    /// `meta` has no row: somebody has emptied it.
    case noIdentity(name: String)

    package var description: String {
        switch self {
        case .schema(let name, let version, let known):
            "the schema \(name) has version \(version), but this release knows only \(known)"
        case .noIdentity(let name): "the table \(name).meta is empty"
        }
    }
}
