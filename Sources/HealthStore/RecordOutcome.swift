import HealthModel

/// The outcome of one record, or of one notice that a sample was deleted.
package enum RecordOutcome: UInt8, Sendable, CaseIterable {
    /// A new sample.
    case added
    /// The sample already existed and stays as it is.
    case known
    /// The sample already existed and gained information or was restored, which gives it a new version.
    case changed
    /// The record is refused, because its sample was deleted permanently.
    case deleted
    /// The record is in quarantine, because it is outside the plausibility limits, contradicts a sample, has a name for
    /// which there is no room, or wasn't understood.
    case quarantined
}

extension IngestCounts.Tally {
    /// The outcome, given a tally for one record.
    var outcome: RecordOutcome {
        if quarantined > 0 { return .quarantined }
        if deleted > 0 { return .deleted }
        if added > 0 { return .added }
        return joined + revived > 0 ? .changed : .known
    }
}
