import HealthModel
import SQLite

/// A slice whose pages are fetched one after the other: it holds one read transaction, so that all of them show one moment.
///
/// It needs a read-only connection of its own. An open one keeps the writer's log from shrinking: close it when done, and when its
/// deadline has passed.
package final class OpenSlice {
    package let query: SliceQuery
    /// By the caller's monotonic clock, in the unit that it gave.
    package let deadline: Int64
    private let database: Database
    private let reader: HealthStoreReader
    private var position: SlicePosition?
    private(set) package var isDone = false

    package init(_ query: SliceQuery, on database: Database, deadline: Int64) throws {
        self.query = query
        self.deadline = deadline
        self.database = database
        reader = try HealthStoreReader(database: database)
        try database.execute("BEGIN")
        // The moment that a transaction shows is that of its first read.
        _ = try reader.head()
    }

    /// The next page; an empty one at the end, when the transaction has ended too.
    package func next(limits: PullLimits = PullLimits()) throws -> SlicePage {
        if isDone { return SlicePage() }
        do {
            let page = try reader.slice(query, after: position, limits: limits)
            position = page.next
            if page.next == nil { try close() }
            return page
        } catch {
            try close()
            throw error
        }
    }

    /// Ends the transaction; again does nothing.
    package func close() throws {
        if isDone { return }
        isDone = true
        try database.execute("COMMIT")
    }
}
