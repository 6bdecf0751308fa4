import HealthModel

/// How many samples or rows the pages of an answer add and delete, as an app counts what an anchored query brings.
package struct PageCount: Sendable, Equatable {
    package private(set) var added = 0
    package private(set) var deleted = 0

    package init(_ pages: [Value]) {
        for page in pages {
            if let rows = page["rows"].array {
                count(rows.count, deleted: rows.count { $0["deleted"].bool == true })
            } else if let flags = page["samples"]["flags"].uint8s {
                count(flags.count, deleted: flags.count { SampleFlags(rawValue: $0).contains(.deleted) })
            } else {
                added += Int(page["added"].int ?? 0)
                deleted += Int(page["deleted"].int ?? 0)
            }
        }
    }

    private mutating func count(_ all: Int, deleted gone: Int) {
        added += all - gone
        deleted += gone
    }
}
