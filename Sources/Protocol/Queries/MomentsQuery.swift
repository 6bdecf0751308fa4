import HealthModel

/// Any stage: when the sequences in a range were committed; with `before`, the latest sequence before a time.
package struct MomentsQuery: Query {
    package typealias Answer = MomentsPage
    package static let name = "moments"

    @IfReadable package var from: SequenceNumber?
    @IfReadable package var to: SequenceNumber?
    @IfReadable package var before: Instant?
}

extension Query where Self == MomentsQuery {
    package static func moments(from: SequenceNumber, to: SequenceNumber) -> Self {
        Self(from: from, to: to, before: nil)
    }
    package static func newest(before: Instant) -> Self { Self(from: nil, to: nil, before: before) }
}

/// When sequences were committed: the time of a sequence is the first of these moments whose sequence reaches it.
/// Alternatively, the latest sequence committed before a time.
package struct MomentsPage: PageContent, Equatable {
    /// Sequence and instant.
    package var moments: [[Int64]]?
    package var sequence: SequenceNumber?

    package init(moments: [[Int64]]) { self.moments = moments }
    package init(sequence: SequenceNumber) { self.sequence = sequence }
}
