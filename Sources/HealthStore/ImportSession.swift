import HealthModel

/// One file or one request that is being stored, with the rows that its records have claimed.
///
/// Two records in one session are two samples even if they are equal; records in two sessions may be the same sample.
/// If a session is interrupted or one of its transactions is rolled back, it starts again from scratch as a new object.
/// It belongs to the writer's thread.
package final class ImportSession {
    /// The file or request, by the name used in the quarantine.
    package let source: String
    // Exports repeat the children of a Correlation as top-level records, so the two kinds claim rows independently of
    // each other.
    private var topLevel = SequenceSet()
    private var children = SequenceSet()
    /// How many of the database's transactions had been rolled back when this session began.
    var rollbackCount: Int?
    /// New names that a trial run's records have used so far, which an import would have added to the store.
    var triedTypes: Set<String> = []
    var triedUnits: Set<String> = []
    /// Rows that a trial run would have stored or changed.
    var tried = TriedRows()
    /// For each type, the second in which the session's first record of that type starts.
    private(set) var firstSeconds: [String: Int64] = [:]
    /// For each row of the current batch, the first sequence of the row that its record claimed; `.beginning` when it
    /// claimed none, or one that was deleted, absent or quarantined.
    var claimed: [SequenceNumber] = []
    var openPiece = OpenPiece()
    /// The session's origin; nil when unknown.
    let bringer: Bringer?
    /// The origin's number in the store.
    var bringerNumber: Int?
    /// When the export being imported was made; nil if it doesn't say, and for pushes.
    package var exported: Instant?
    /// When the request was pushed; nil for a file.
    private let pushed: Instant?
    /// What the session shows about the names of sources.
    var names = SessionNames()
    /// For each type, the stretches in which the session has added samples beside older ones.
    var times: [Int: TimeSpans] = [:]
    /// In a trial run, the samples that it would have added there.
    var triedForms: [TriedForm] = []
    /// The samples that these would replace, once that is known.
    var triedReplaced: SequenceSet?
    /// For each type, the time that the store's samples covered when the session began, in seconds since 1970; nil if
    /// there were none.
    var oldTimes: [Int: ClosedRange<Int64>?] = [:]
    /// For each row of the current batch, the row that its record has claimed. It is recorded only for workouts, if the
    /// time at which they were seen is known, and for rows that are stored again.
    var claimedRows: [Int: StoredRow] = [:]
    /// Whether the records are the store's own rows, which are stored again.
    var isRewriting = false
    /// The most recently claimed row, kept for as long as it is needed.
    var lastClaimed: StoredRow?
    var keepsLastClaimed = false
    /// Whether to record the outcome of each record.
    let reportsOutcomes: Bool
    /// The outcome for each row of the latest batch, if outcomes were requested.
    package internal(set) var outcomes: [RecordOutcome] = []
    /// The reasons why rows of that batch were quarantined, where there is a reason.
    package internal(set) var reasons: [Int: String] = [:]

    package init(source: String, bringer: Bringer? = nil, pushed: Instant? = nil, reportsOutcomes: Bool = false) {
        (self.source, self.pushed, self.bringer, self.reportsOutcomes) = (source, pushed, bringer, reportsOutcomes)
    }

    var isPushed: Bool { pushed != nil }

    /// Whether the session is a file, which is settled when it has been read to its end.
    var isFile: Bool { if case .importing = bringer { true } else { false } }

    /// When the session's samples were seen.
    var moment: WorkoutSightings.Moment? {
        if let exported { return .init(at: exported.microseconds, isExport: true) }
        return pushed.map { .init(at: $0.microseconds, isExport: false) }
    }

    /// The names by which the session calls sources that the store calls otherwise.
    package var renamings: [NameProgress.Renaming] {
        names.counts.map { .init(from: $0.key.stored, to: $0.key.given, samples: $0.value) }
            .sorted { ($0.from, $0.to) < ($1.from, $1.to) }
    }

    func cover(_ type: String, from second: Int64) {
        firstSeconds[type] = min(firstSeconds[type] ?? .max, second)
    }

    // A row is claimed under both its current sequence and its first one; no other row ever has either.

    func claim(_ row: StoredRow, child: Bool) {
        if keepsLastClaimed { lastClaimed = row }
        claim(row.sequence, child: child)
        if row.born != row.sequence { claim(row.born, child: child) }
    }

    private func claim(_ sequence: SequenceNumber, child: Bool) {
        if child { children.insert(sequence) } else { topLevel.insert(sequence) }
    }

    /// Claims the rows that were first stored under these sequences.
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

    /// Whatever was claimed since the last call, as whole chunks.
    func takeNewClaims() -> [(number: Int64, births: BirthChunk)] {
        topLevel.takeGrown().union(children.takeGrown()).sorted().map { number in
            var births = BirthChunk()
            topLevel.add(chunk: number, to: &births.bits)
            children.add(chunk: number, to: &births.bits)
            return (number, births)
        }
    }

    /// A changed row has a new sequence: its claim moves with it.
    func move(_ old: SequenceNumber, to new: SequenceNumber) {
        if topLevel.contains(old) { topLevel.insert(new) }
        if children.contains(old) { children.insert(new) }
    }
}

/// The outcomes of a batch's records.
package struct IngestCounts: Sendable, Equatable {
    package struct Tally: Sendable, Equatable {
        /// New rows.
        package var added = 0
        /// Rows that already existed and stay as they are.
        package var known = 0
        /// Rows that already existed and gained information, which gives them a new version.
        package var joined = 0
        /// Absent rows that have been restored.
        package var revived = 0
        /// Records refused because their sample was deleted permanently.
        package var deleted = 0
        /// Records that are in quarantine, whether or not they are new there. They are outside the plausibility limits,
        /// contradict a sample (`conflicts`), or have a type or unit for which the store has no room.
        package var quarantined = 0
        /// How many entries the quarantine has gained; negative if it has shrunk.
        package var newlyQuarantined = 0
        /// Quarantined records whose UUID belongs to a sample with different content.
        package var conflicts = 0

        package init() {}

        package static func += (a: inout Tally, b: Tally) {
            a.added += b.added
            a.known += b.known
            a.joined += b.joined
            a.revived += b.revived
            a.deleted += b.deleted
            a.quarantined += b.quarantined
            a.newlyQuarantined += b.newlyQuarantined
            a.conflicts += b.conflicts
        }
    }

    package var total = Tally()
    /// All types for which the store has no room are counted together, as `otherTypes`.
    package var byType: [String: Tally] = [:]
    package static let otherTypes = "(other types)"

    package init() {}

    package static func += (a: inout IngestCounts, b: IngestCounts) {
        a.total += b.total
        for (type, tally) in b.byType { a.byType[type, default: Tally()] += tally }
    }
}

/// For a given type, a function that returns the rule that a sample breaks (without giving its value); nil if the
/// sample is plausible. It is applied to samples that are new, restored or tried again, not to each record.
package typealias PlausibilityRule = (_ type: String) -> (
    (_ value: Double, _ start: Instant, _ end: Instant) -> String?
)
