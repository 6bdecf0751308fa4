import HealthModel

/// One file or one request, while it is taken in: which rows its records have claimed.
///
/// Two records of one session are two samples even when they are equal; records of two sessions may be the same sample. A session
/// that is interrupted, or of which a transaction is undone, starts again from zero as a new object. Belongs to the writer's thread.
package final class ImportSession {
    /// The file or request, as quarantine lists name it.
    package let source: String
    // Exports repeat the children of a Correlation as top-level records: the two kinds claim the same rows apart.
    private var topLevel = SequenceSet()
    private var children = SequenceSet()
    /// How many transactions of the database had been undone when it began.
    var rollbackCount: Int?
    /// Names that a trial's records have made up so far, which an import would have put into the store.
    var triedTypes: Set<String> = []
    var triedUnits: Set<String> = []
    /// The second in which the first of its records starts, by type.
    private(set) var firstSeconds: [String: Int64] = [:]
    /// By row of the batch that is being taken in, the birth of the row that its record claimed; `.beginning` when it claimed none, or one that
    /// isn't simply there.
    var claimed: [SequenceNumber] = []
    var openPiece = OpenPiece()
    /// By what it comes; nil: nobody says.
    let bringer: Bringer?
    /// As the store numbers it.
    var bringerNumber: Int?
    /// When the export was made that is taken in; nil where it doesn't say, and of what is pushed.
    package var exported: Instant?
    /// When it was pushed; nil of a file.
    private let pushed: Instant?
    /// By row of the batch that is being taken in, the workouts that its records claimed; only where it is known when they were seen.
    var claimedWorkouts: [Int: StoredRow] = [:]
    /// The row that was claimed last, while somebody wants to know.
    var lastClaimed: StoredRow?
    var keepsLastClaimed = false
    /// Whether somebody wants to know of each record what became of it.
    let tellsOutcomes: Bool
    /// By row of the batch that was taken in last, where that was asked for.
    package internal(set) var outcomes: [RecordOutcome] = []
    /// Why rows of that batch are kept apart, where there is a reason.
    package internal(set) var reasons: [Int: String] = [:]

    package init(source: String, bringer: Bringer? = nil, pushed: Instant? = nil, tellsOutcomes: Bool = false) {
        self.source = source
        self.pushed = pushed
        self.bringer = bringer
        self.tellsOutcomes = tellsOutcomes
    }

    var isPushed: Bool { pushed != nil }

    /// When its samples were there.
    var moment: WorkoutSightings.Moment? {
        if let exported { return .init(at: exported.microseconds, isExport: true) }
        return pushed.map { .init(at: $0.microseconds, isExport: false) }
    }

    func cover(_ type: String, from second: Int64) {
        firstSeconds[type] = min(firstSeconds[type] ?? .max, second)
    }

    // A row is claimed by its sequence and by the one that it was born with; no other row ever has either.

    func claim(_ row: StoredRow, child: Bool) {
        if keepsLastClaimed { lastClaimed = row }
        claim(row.sequence, child: child)
        if row.born != row.sequence { claim(row.born, child: child) }
    }

    private func claim(_ sequence: SequenceNumber, child: Bool) {
        if child { children.insert(sequence) } else { topLevel.insert(sequence) }
    }

    /// Claims the rows that were born with these sequences.
    func claim(_ born: ClosedRange<Int64>) {
        for sequence in born { topLevel.insert(SequenceNumber(sequence)) }
    }

    func hasClaimed(_ row: StoredRow, child: Bool) -> Bool {
        if child { return children.contains(row.sequence) || row.born != row.sequence && children.contains(row.born) }
        return topLevel.contains(row.sequence) || row.born != row.sequence && topLevel.contains(row.born)
    }

    func hasClaimed(_ row: StoredRow) -> Bool { hasClaimed(row, child: false) || hasClaimed(row, child: true) }

    func hasClaimedAny(of born: ClosedRange<Int64>) -> Bool {
        born.contains { topLevel.contains(SequenceNumber($0)) }
    }

    /// What was claimed since this was last called, whole chunks of it.
    func takeNewClaims() -> [(number: Int64, births: BirthChunk)] {
        topLevel.takeGrown().union(children.takeGrown()).sorted().map { number in
            var births = BirthChunk()
            topLevel.add(chunk: number, to: &births.bits)
            children.add(chunk: number, to: &births.bits)
            return (number, births)
        }
    }

    /// A changed row has a new sequence: a claim goes with it.
    func move(_ old: SequenceNumber, to new: SequenceNumber) {
        if topLevel.contains(old) { topLevel.insert(new) }
        if children.contains(old) { children.insert(new) }
    }
}

/// What became of a batch's records.
package struct IngestCounts: Sendable, Equatable {
    package struct Tally: Sendable, Equatable {
        /// New rows.
        package var added = 0
        /// Rows that were there and stay as they are.
        package var known = 0
        /// Rows that were there and learned something: a new version.
        package var joined = 0
        /// Rows that a complete export had lacked and that are alive again.
        package var revived = 0
        /// Records that stay out because their sample was deleted for good.
        package var deleted = 0
        /// Records outside the plausibility limits, or of a type that the store has no room for: kept apart, now or before.
        package var quarantined = 0
        /// Of those the ones that the quarantine didn't hold before.
        package var newlyQuarantined = 0

        package init() {}

        package static func += (a: inout Tally, b: Tally) {
            a.added += b.added
            a.known += b.known
            a.joined += b.joined
            a.revived += b.revived
            a.deleted += b.deleted
            a.quarantined += b.quarantined
            a.newlyQuarantined += b.newlyQuarantined
        }
    }

    package var total = Tally()
    /// With `otherTypes` for all types that the store has no room for.
    package var byType: [String: Tally] = [:]
    package static let otherTypes = "(other types)"

    package init() {}

    package static func += (a: inout IngestCounts, b: IngestCounts) {
        a.total += b.total
        for (type, tally) in b.byType { a.byType[type, default: Tally()] += tally }
    }
}

/// For a type, the rule that says why a sample can't be true (without its value), or nil when it can. Asked for new samples only.
package typealias PlausibilityRule = (_ type: String) -> (
    (_ value: Double, _ start: Instant, _ end: Instant) -> String?
)
