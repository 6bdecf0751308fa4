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
        noteTried(record, state)
        guard isKept else { return }
        let row = session.tried.add(record, as: record.id(ordinals), type: type, state: state)
        session.claim(row, child: record.isChild)
        writer.window.append(row)
    }

    /// Remembers a new sample that may be another form of older ones.
    private func noteTried(_ record: IncomingRecord, _ state: SampleState) {
        guard state == .alive, let oldTimes, record.second <= oldTimes.upperBound,
            record.endSecond >= oldTimes.lowerBound, session.triedForms.count < Self.triedLimit
        else { return }
        noteTimes(record)
        let source = origins[record.batchOrigin].sourceName
        session.triedForms.append(
            TriedForm(
                type: type, key: session.names.keys[source] ?? names.key(source), unit: record.unit,
                form: SampleForm(
                    start: record.second, end: record.endSecond, value: record.value,
                    imports: [HealthStoreWriter.trial],
                    exported: session.exported?.microseconds ?? .min,
                    created: record.created == 0 ? .min : record.created &* Instant.microsecondsPerSecond)))
    }

    /// 100 MB would be too much; what is condensed in a month is a hundredth of this.
    private static let triedLimit = 200_000

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
        case .alive, .absent, .replaced: added += 1
        case .deleted: deleted += 1
        case .quarantined: quarantined += 1
        }
    }
}
