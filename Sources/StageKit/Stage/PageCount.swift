import HealthModel
import Protocol

/// How many samples or rows are added and deleted by the pages of an answer, counted the way an app counts the results
/// of an anchored query.
package struct PageCount: Sendable, Equatable {
    package private(set) var added = 0
    package private(set) var deleted = 0
    /// Whether the pages are of a kind that is counted, all of them, and there is nothing in them.
    package private(set) var isNothing = true

    package init(_ pages: [Value]) {
        for page in pages {
            guard let page = page.read(CountedPage.self) else {
                isNothing = false
                continue
            }
            if let rows = page.rows {
                count(rows.count, deleted: rows.count { $0.deleted == true })
            } else if let flags = page.samples?.flags {
                count(flags.count, deleted: flags.count { SampleFlags(rawValue: $0).contains(.deleted) })
            } else {
                added += page.added ?? 0
                deleted += page.deleted ?? 0
                if page.added == nil { isNothing = false }
            }
        }
        if added + deleted > 0 { isNothing = false }
    }

    private mutating func count(_ all: Int, deleted gone: Int) {
        added += all - gone
        deleted += gone
    }
}
