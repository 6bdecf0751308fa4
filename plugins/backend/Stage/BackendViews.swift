import HealthViews
import SQLite

/// The views for querying the file with any SQLite tool. They are recreated when their definition changes: with a new
/// release, or when a different set of handlers provides the figures.
enum BackendViews {
    static func create(_ views: HealthViews, in database: Database) throws {
        try database.transaction {
            let held = try database.prepare("SELECT sql FROM sqlite_master WHERE type = 'view' AND name = ?1")
            for view in views.sqlite {
                guard try held.with(view.name.rawValue).firstRow({ $0.string(0) }) != view.text else { continue }
                try database.execute("DROP VIEW IF EXISTS \(view.name)")
                try database.execute(view.text)
            }
        }
    }
}
