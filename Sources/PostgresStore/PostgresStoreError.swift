/// A store's errors, apart from PostgreSQL's own.
package enum PostgresStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The schema was made by a newer release.
    case schema(name: String, version: Int64, known: Int64)
    /// `meta` has no row: somebody has emptied it.
    case noIdentity(name: String)
    /// The type of a view's column has changed, and somebody's view is built on that view.
    case viewInUse(String)

    package var description: String {
        switch self {
        case .schema(let name, let version, let known):
            "the schema \(name) has version \(version), but this release knows only \(known)"
        case .noIdentity(let name): "the table \(name).meta is empty"
        case .viewInUse(let view): "a column of \(view) has a different type now, and a view of yours is built on it"
        }
    }
}
