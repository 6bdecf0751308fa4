import SQLite

/// What the update that just ran replaced.
///
/// The upserts call the SQL function `replaced` in their SET part, which is evaluated only when an update happens: that tells
/// created from updated, and what the counts lose, in the one statement.
final class ReplacedRow {
    /// kind · 2 + deleted of a sample, deleted of a document; nil when nothing was replaced.
    var row: Int64?

    init(_ database: Database) throws {
        try database.addObserver(named: "replaced") { [weak self] in self?.row = $0 }
    }
}
