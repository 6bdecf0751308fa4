import HealthModel

/// One user's elements, to be written together in one transaction.
package struct PostgresBatch: Sendable {
    package var user: String
    /// Samples in columns; samples flagged as deleted are deletions, and keep their type and times.
    package var samples: SamplePage
    /// Which rows of `samples` to write.
    package var rows: Range<Int>
    /// Deletions of samples about which nothing else is known.
    package var deletions: [Deletion]
    package var documents: [PostgresDocument]

    package struct Deletion: Sendable {
        package var id: SampleID
        package var version: Int64

        package init(id: SampleID, version: Int64) { (self.id, self.version) = (id, version) }
    }

    package init(
        user: String, samples: SamplePage = SamplePage(), rows: Range<Int>? = nil, deletions: [Deletion] = [],
        documents: [PostgresDocument] = []
    ) {
        (self.user, self.samples) = (user, samples)
        self.rows = rows ?? 0..<samples.count
        (self.deletions, self.documents) = (deletions, documents)
    }

    package var count: Int { rows.count + deletions.count + documents.count }
}

/// A document: a day, a workout or a night.
package struct PostgresDocument: Sendable {
    package enum Kind: String, Sendable, CaseIterable { case day, workout, night }

    package var kind: Kind
    /// A day's date.
    package var id: String
    package var version: Int64
    /// The body as JSON; nil deletes the element but keeps its known times.
    package var body: String?
    package var start: Instant?
    package var end: Instant?
    /// The local day that a day or night belongs to; nil for a workout.
    package var date: LocalDay?

    package init(
        kind: Kind, id: String, version: Int64, body: String?, start: Instant? = nil, end: Instant? = nil,
        date: LocalDay? = nil
    ) {
        (self.kind, self.id, self.version, self.body, self.start, self.end) = (kind, id, version, body, start, end)
        self.date = date
    }
}

/// The outcome of a batch, all of it committed.
package struct PostgresOutcome: Sendable, Equatable {
    package var created: Int64 = 0
    package var updated: Int64 = 0
    /// Conflicts included.
    package var known: Int64 = 0
    /// Ids of known elements that are kept in the same version but with different content; each is listed once.
    package var conflicts: [String] = []
    /// Why an element isn't stored, by its index: the written rows of the page come first, counted from 0, then
    /// deletions, then documents.
    package var refused: [Int: String] = [:]
    /// The ids of the elements that were created and changed, if requested.
    package var createdIDs: [String] = []
    package var updatedIDs: [String] = []
    package var identity: PostgresIdentity

    package init(identity: PostgresIdentity) { self.identity = identity }
}

/// Which database it is, and its sequence; together they reveal that a database was lost, or restored from an older
/// copy.
package struct PostgresIdentity: Sendable, Equatable {
    /// Random, created with the tables; replaced when the database turns out to be an older copy, or rows are missing.
    package var generation: String
    /// Rises with each batch that changed something.
    package var sequence: Int64

    package init(generation: String, sequence: Int64) { (self.generation, self.sequence) = (generation, sequence) }
}

/// What a store contains, by its own count.
package struct PostgresHoldings: Sendable, Equatable {
    package var identity: PostgresIdentity
    /// How many elements were ever created, minus those found missing.
    package var created: Int64
    /// The number of rows, if they were counted.
    package var rows: Int64?
    /// How many elements were just found missing, for which a new generation has begun; nil if none were.
    package var missing: Int64?
}
