import SQLite

/// What the update that just ran replaced.
///
/// The upserts call the SQL function `replaced` in their SET part, which is evaluated only for an update: so a single
/// statement shows which rows were created or updated, and which counts go down.
final class ReplacedRow {
    /// kind · 2 + deleted for a sample, deleted for a document; nil when nothing was replaced.
    var row: Int64?

    init(_ database: Database) throws {
        try database.addObserver(named: "replaced") { [weak self] in self?.row = $0 }
    }
}
