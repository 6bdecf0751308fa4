/// A store's errors, apart from PostgreSQL's own.
package enum PostgresStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The schema was made by a newer release.
    case schema(name: String, version: Int64, known: Int64)
    /// `meta` has no row: somebody has emptied it. The next connection begins again.
    case noIdentity(name: String)
    /// A table lacks a column, or has rows that rule out one of its keys, checks or partitions.
    case damaged(table: String)
    /// The type of a view's column has changed, and somebody's view is built on that view.
    case viewInUse(String)

    package var description: String {
        switch self {
        case .schema(let name, let version, let known):
            "the schema \(name) has version \(version), but this release knows only \(known)"
        case .noIdentity(let name): "the table \(name).meta is empty"
        case .damaged(let table): "the table \(table) lacks a column, or has rows that its keys don't allow"
        case .viewInUse(let view): "a column of \(view) has a different type now, and a view of yours is built on it"
        }
    }
}
