import HealthModel

// What a trial run does where an import would write. For types that are parts of correlations, it remembers what would
// have been written. The other record of the same sample then finds the remembered row, as it would in an import.
extension RecordClaim {
    /// Counts the outcome for a record that matches no row.
    func tryInserting(
        _ record: IncomingRecord, ordinals: Int, isDeleted: Bool, _ tally: inout IngestCounts.Tally
    ) {
        let state = Self.state(ofNew: isDeleted ? nil : implausible(record), isDeleted: isDeleted)
        let isKept = keepsTried && record.payload.isEmpty && record.uuid == nil && !session.tried.isFull
        if record.isChild, state == .alive, !isKept {
            // This is usually a copy of a top-level record, which is the one that counts.
            tally.known += 1
            return
        }
        tally.count(new: state)
        guard isKept else { return }
        let row = session.tried.add(record, as: record.id(ordinals), type: type, state: state)
        session.claim(row, child: record.isChild)
        writer.window.append(row)
    }

    /// Remembers that a record would restore a row.
    func tryReviving(_ old: StoredRow, _ record: IncomingRecord, _ slot: Int) {
        var row = old
        row.state = implausible(record) == nil ? .alive : .quarantined
        if !StoredValue.agrees(row.value, record.value) || row.unit != record.unit {
            (row.value, row.unit) = (record.value, record.unit)
        }
        session.tried.change(row)
        writer.window.update(slot, row)
    }
}

extension IngestCounts.Tally {
    /// Counts a record that became, or would become, a row of its own.
    mutating func count(new state: SampleState) {
        switch state {
        case .alive, .absent: added += 1
        case .deleted: deleted += 1
        case .quarantined: quarantined += 1
        }
    }
}
