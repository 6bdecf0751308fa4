import HealthModel

/// Any stage: rows of its keyed changelog within the window.
package struct ChangesQuery: Query {
    package typealias Answer = ChangesPage
    package static let name = "changes"

    /// Only topics with this prefix.
    @IfReadable package var topic: String?
    /// The first and last day of a range (since 1970), both included.
    @IfReadable var days: [Int]?

    /// - Throws: `PullRefusal` for a range that ends before it begins.
    package func range() throws -> ClosedRange<Int>? {
        guard let first = days?.first, let last = days?.last else { return nil }
        guard first <= last else { throw PullRefusal("'days' ends before it begins") }
        return first...last
    }
}

extension Query where Self == ChangesQuery {
    package static func changes(topic: String? = nil, days: ClosedRange<Int>? = nil) -> Self {
        Self(topic: topic, days: days.map { [$0.lowerBound, $0.upperBound] })
    }
}

/// Rows of a keyed changelog, in order of their sequence.
package struct ChangesPage: PageContent, Equatable {
    package var rows: [ChangedRow]
    /// This page covers (from, through] of the window; the earlier ones cover everything before that.
    package var from: SequenceNumber?
    package var through: SequenceNumber

    package init(rows: [ChangedRow], from: SequenceNumber, through: SequenceNumber) {
        (self.rows, self.from, self.through) = (rows, from, through)
    }
}
