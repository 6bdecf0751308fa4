import Changelog
import HealthModel
import Logging
import Protocol

/// The content of an answer, and whether it can be read.
extension Upstream {
    /// Pages that have arrived, and the position of the cursor after they have been processed.
    package struct Fetched {
        package var pages: [Value]
        let cursor: Cursor
        /// Whether there is anything in them.
        let hasRows: Bool

        package init(pages: [Value], cursor: Cursor, hasRows: Bool = true) {
            (self.pages, self.cursor, self.hasRows) = (pages, cursor, hasRows)
        }
    }

    /// The result of an answer.
    package enum Arrival {
        /// The answer belongs to another pull of the stage, or to one that this upstream has given up.
        case other
        /// The device is locked, or the producer refuses the request or can't be understood: everything stays as it is.
        case inaccessible
        /// The upstream starts over: everything known about it is invalid.
        case reset(StoreHead)
        case pages(Fetched)
    }

    /// The days (since 1970) that a row may belong to: roughly the years 0 to 10000.
    private static let days = -720_000...2_940_000

    /// Whether the rows of a keyed changelog are valid, checked before any of them is applied. Samples are read as
    /// columns by the stage that uses them.
    func isReadable(_ page: Value) -> Bool {
        guard let query = query as? ChangesQuery else { return true }
        let hasDays = query.topic?.hasPrefix("figures.") == true
        return page.read(ChangesPage.self)?.rows.allSatisfy { row in
            row.day.map(Self.days.contains) ?? !hasDays
        } == true
    }

    /// How the log describes pages.
    func pageFields(_ count: PageCount, _ through: SequenceNumber) -> LogFields {
        ["upstream": producer, "added": count.added, "deleted": count.deleted, "through": through.value]
    }
}
