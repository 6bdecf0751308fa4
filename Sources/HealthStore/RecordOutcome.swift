import HealthModel

/// What became of one record, or of one word that a sample is deleted.
package enum RecordOutcome: UInt8, Sendable, CaseIterable {
    /// A new sample.
    case added
    /// It was there, and stays as it is.
    case known
    /// It was there and learned something, or is alive again: a new version.
    case changed
    /// It stays out, because its sample was deleted for good.
    case deleted
    /// Kept apart: outside the plausibility limits, or not understood.
    case quarantined
}

extension IngestCounts.Tally {
    /// Of a tally of one record.
    var outcome: RecordOutcome {
        if quarantined > 0 { return .quarantined }
        if deleted > 0 { return .deleted }
        if added > 0 { return .added }
        return joined + revived > 0 ? .changed : .known
    }
}
