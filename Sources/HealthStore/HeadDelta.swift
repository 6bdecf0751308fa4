import HealthModel

/// What one transaction changes in a type's head; collected in memory and written once per batch.
struct HeadDelta {
    private(set) var sequence = SequenceNumber.beginning
    /// The stretches in which it has new rows in `samples`; consecutive repeats are listed only once.
    private(set) var stretches: [Int64] = []
    var alive = 0
    var deleted = 0
    var quarantined = 0
    /// The longest duration (µs) among samples of at most `HealthStoreSchema.longDuration`, including deleted ones.
    var reach: Int64 = 0
    var firstStart = Int64.max
    var lastStart = Int64.min
    var lastEnd = Int64.min
    // The earliest and latest times of rows that were deleted or moved. If one of these times was also the type's
    // earliest or latest, the new earliest or latest must be looked up.
    var lostFirstStart = Int64.max
    var lostLastStart = Int64.min
    var lostLastEnd = Int64.min

    mutating func enter(_ row: StoredRow) {
        touch(row)
        if row.duration <= HealthStoreSchema.longDuration { reach = max(reach, row.duration) }
        count(row.state, 1)
        guard row.state == .alive else { return }
        firstStart = min(firstStart, row.start)
        lastStart = max(lastStart, row.start)
        lastEnd = max(lastEnd, row.countedEnd)
    }

    /// Called for every change, even for a new version that counts exactly as the old one did.
    mutating func touch(_ row: StoredRow) {
        if row.sequence.value > sequence.value { sequence = row.sequence }
    }

    /// Records which stretch the row is in.
    mutating func note(_ row: StoredRow) {
        let stretch = Stretches.of(row.sequence.value)
        if stretches.last != stretch { stretches.append(stretch) }
    }

    mutating func leave(_ row: StoredRow) {
        count(row.state, -1)
        guard row.state == .alive else { return }
        lostFirstStart = min(lostFirstStart, row.start)
        lostLastStart = max(lostLastStart, row.start)
        lostLastEnd = max(lostLastEnd, row.countedEnd)
    }

    private mutating func count(_ state: SampleState, _ step: Int) {
        switch state {
        case .alive: alive += step
        case .absent, .deleted, .replaced: deleted += step
        case .quarantined: quarantined += step
        }
    }
}
