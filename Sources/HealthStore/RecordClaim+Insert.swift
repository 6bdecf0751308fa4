import HealthModel
import JSON
import SQLite

// Turns a record without a matching row into a new row.
extension RecordClaim {
    /// Adds a new row at the ordinal that keeps the key's rows ordered by value, so that ids don't depend on which
    /// record came first. Quarantined rows come after all others: none may take the id of a sample that has already
    /// been delivered.
    func insert(
        _ record: IncomingRecord, ordinals: Int, isDeleted: Bool, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber {
        let reason = isDeleted ? nil : implausible(record)
        var ordinal = ordinals
        while ordinal > 0, ordinals - ordinal < Self.longestShift,
            let slot = try slot(record, ordinal - 1),
            isAfter(writer.window.rows[slot], record, isQuarantined: reason != nil)
        {
            ordinal -= 1
        }
        if ordinal < ordinals { try shift(record, from: ordinal, below: ordinals) }

        var row = record.row(record.id(ordinal), type: type)
        row.flags = record.flags
        row.created = record.created
        row.uuid = record.uuid
        row.hasPayload = !record.payload.isEmpty
        row.state = Self.state(ofNew: reason, isDeleted: isDeleted)
        tally.count(new: row.state)
        if reason != nil { tally.newlyQuarantined += 1 }
        try store(&row, record)
        session.claim(row, child: record.isChild)
        writer.window.append(row)
        noteTimes(record)
        if let reason {
            try writer.quarantined.add(row.id, reason: reason, line: record.line, source: session.source, user: user)
        }
        return row.state == .alive ? row.born : .beginning
    }

    /// Notes a sample that was added, or seen again, within the time of older samples of its type.
    func noteTimes(_ record: IncomingRecord) {
        guard let oldTimes, record.second <= oldTimes.upperBound, record.endSecond >= oldTimes.lowerBound else {
            return
        }
        session.times[type, default: TimeSpans()].add(record.second...max(record.second, record.endSecond))
    }

    static func state(ofNew reason: String?, isDeleted: Bool) -> SampleState {
        isDeleted ? .deleted : reason == nil ? .alive : .quarantined
    }

    private func isAfter(_ row: StoredRow, _ record: IncomingRecord, isQuarantined: Bool) -> Bool {
        guard (row.state == .quarantined) == isQuarantined else { return row.state == .quarantined }
        return StoredValue.isAfter(row.value, record.value)
    }

    func implausible(_ record: IncomingRecord) -> String? {
        SampleGuard.reason(start: record.start, end: record.end, value: record.value, rule: plausibility)
    }

    private func store(_ row: inout StoredRow, _ record: IncomingRecord) throws {
        try Self.withCanonical(record.metadata) { metadata in
            try Self.withCanonical(record.payload) { payload in
                try writer.add(&row, metadata: metadata, payload: payload, user: user)
            }
        }
    }

    private static func withCanonical(
        _ text: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if !text.isEmpty, let canonical = JSONMembers.canonical(text) {
            try canonical.withUnsafeBytes(body)
        } else {
            try body(text)
        }
    }

    /// Moves the key's rows from the given ordinal onward up by one. It starts with the last row, so that no two rows
    /// collide.
    private func shift(_ record: IncomingRecord, from first: Int, below ordinals: Int) throws {
        for ordinal in (first..<ordinals).reversed() {
            guard let slot = try slot(record, ordinal) else { continue }
            let old = writer.window.rows[slot]
            var row = old
            row.id = record.id(ordinal + 1)
            row.claimedBelow = (0, 0)
            try writer.rewrite(&row, was: old, user: user)
            if row.state == .quarantined { try writer.quarantined.rename(old.id, to: row.id, user: user) }
            writer.window.update(slot, row)
            writer.window.relink()
        }
        // The row inserted in between hasn't been claimed by both kinds of records.
        if first > 0, let slot = try slot(record, 0) {
            let below = writer.window.rows[slot].claimedBelow
            writer.window.setClaimedBelow(slot, min(below.0, first), child: false)
            writer.window.setClaimedBelow(slot, min(below.1, first), child: true)
        }
    }

    func leaveTombstone(_ slot: Int, uuid: SampleID?) throws {
        let row = try writer.rewrite(writer.window.rows[slot], user: user) {
            ($0.state, $0.uuid) = (.deleted, $0.uuid ?? uuid)
        }
        writer.window.update(slot, row)
    }
}
