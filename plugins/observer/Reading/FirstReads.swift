import HealthModel
import SQLite

/// Which of the store's sequence numbers came from the first read of a person's history: their content isn't news, no
/// matter how recent it is.
struct FirstReads {
    /// The ranges from first reads, `after` excluded, `until` included; one that isn't over has no end.
    private let spans: [(after: SequenceNumber, until: SequenceNumber)]

    init(_ database: Database) throws {
        // A store from an earlier release has no such table until this release's observer has opened it.
        guard try database.hasTable("first_reads") else {
            spans = []
            return
        }
        spans = try database.prepare("SELECT after, until FROM first_reads").rows {
            (SequenceNumber($0.int64(0)), $0.optional(1).map { SequenceNumber($0) } ?? .end)
        }
    }

    /// Whether any of these sequence numbers, `after` excluded, came from a first read of a person's history.
    func touches(after: SequenceNumber, through: SequenceNumber) -> Bool {
        spans.contains { $0.after < through && after < $0.until }
    }
}
