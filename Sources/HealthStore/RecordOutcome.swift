import HealthModel

/// The outcome of one record, or of one notice that a sample was deleted.
package enum RecordOutcome: UInt8, Sendable, CaseIterable {
    /// A new sample.
    case added
    /// It already existed and stays as it is.
    case known
    /// It already existed and gained information or was restored, which makes a new version.
    case changed
    /// It is refused, because its sample was deleted permanently.
    case deleted
    /// In quarantine: outside the plausibility limits, or not understood.
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
