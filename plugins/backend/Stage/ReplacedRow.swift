import SQLite

/// The row that the last update replaced, or that it found and left unchanged.
///
/// The upserts call the SQL function `replaced` in their SET part, which is evaluated only for an update: so a single
/// statement shows which rows were created or updated, and which counts go down. They call `contradicted` last in their
/// WHERE part, which is evaluated only for a row that exists: it costs new rows nothing.
final class ReplacedRow {
    /// For a sample, kind · 2 + deleted; for a document, deleted; nil if nothing was replaced.
    var row: Int64?
    /// Whether the kept row has the same version but different columns.
    var isContradicted = false

    init(_ database: Database) throws {
        try database.addObserver(named: "replaced") { [weak self] in self?.row = $0 }
        try database.addObserver(named: "contradicted") { [weak self] _ in self?.isContradicted = true }
    }

    /// Call this before each upsert.
    func forget() { (row, isContradicted) = (nil, false) }

    /// The end of an upsert's WHERE part: whether a newer version arrives. Records a kept row with the same version
    /// that differs and isn't deleted.
    /// - Parameter differs: SQL that compares the kept row with `excluded`.
    static func isNewer(noting differs: String) -> String {
        // `contradicted` returns its argument, which is 0 here, so nothing is updated.
        "excluded.version > version OR (excluded.version = version AND deleted = 0 AND (\(differs)) AND contradicted(deleted))"
    }
}
