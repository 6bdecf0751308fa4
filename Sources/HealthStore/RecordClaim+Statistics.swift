import HealthModel
import JSON

// Statistics have no ordinals: there is one statistic for each type, source and stretch of time, but it may be sent
// again with a different number.
extension RecordClaim {
    /// Stores a statistic. The newest one by creation time (`created`) counts, whatever the order of arrival; if two
    /// have the same time, the one with the greater number counts, and of equal ones the one with the richer payload.
    /// - Returns: as `take`.
    func state(
        _ record: IncomingRecord, _ asking: Asking, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber? {
        var own = try slot(record, 0)
        if own == nil {
            guard let found = try found(record, asking) else { return nil }
            own = found
        }
        guard let slot = own else { return try take(new: record, ordinals: 0, isDeleted: false, &tally) }
        let old = writer.window.rows[slot]
        session.claim(old, child: false)
        let name = try old.origin == record.origin ? nil : noteName(old, record)
        let isNewer = try replaces(old, record)
        // A deleted statistic without a UUID was dropped from the quarantine; it stays dropped until a newer one
        // arrives.
        if old.state == .deleted, old.uuid != nil || !isNewer {
            tally.deleted += 1
            return .beginning
        }
        guard isNewer || old.state == .absent else {
            if let name, old.state == .alive, !isTrial {
                let origin = try writer.origins.named(old.origin, name)
                writer.window.update(slot, try writer.rewrite(old, user: user) { $0.origin = origin })
                tally.joined += 1
                return .beginning
            }
            if old.state == .quarantined { tally.quarantined += 1 } else { tally.known += 1 }
            return old.state == .alive ? old.born : .beginning
        }
        let reason = implausible(record)
        if reason != nil { tally.quarantined += 1 } else { tally.joined += 1 }
        guard !isTrial else { return .beginning }
        if let reason, !isNewer, record.created == old.created, StoredValue.isSame(record.value, old.value) {
            // It is still the absent statistic that can't be true.
            tally.newlyQuarantined += try note(reason, old, record)
            return .beginning
        }
        var row = old
        row.value = record.value
        row.unit = record.unit
        row.created = record.created
        // A statistic that counted becomes absent, so that anyone who had it learns that it no longer exists.
        row.state = reason == nil ? .alive : old.state == .quarantined ? .quarantined : .absent
        row.origin = try writer.origins.joined(row.origin, record.origin)
        if let name { row.origin = try writer.origins.named(row.origin, name) }
        try writer.rewrite(&row, was: old, user: user)
        for (text, column) in [(record.metadata, RowText.metadata), (record.payload, .payload)] {
            try writer.rows.set(column, of: row, JSONMembers.canonical(text) ?? [UInt8](text))
        }
        row.metadata = nil
        row.hasPayload = !record.payload.isEmpty
        writer.window.update(slot, row)
        if let reason {
            tally.newlyQuarantined += try note(reason, row, record)
        } else if old.state != .alive {
            tally.newlyQuarantined -= try writer.quarantined.forget(old.id, user: user)
        }
        return .beginning
    }

    private func note(_ reason: String, _ row: StoredRow, _ record: IncomingRecord) throws -> Int {
        try writer.quarantined.add(row.id, reason: reason, line: record.line, source: session.source, user: user)
    }

    /// Whether the record replaces the row. If the content is the same, the record doesn't replace the row, whatever
    /// its creation time.
    private func replaces(_ old: StoredRow, _ record: IncomingRecord) throws -> Bool {
        guard record.created == old.created else { return try record.created > old.created && !isSame(old, record) }
        guard StoredValue.isSame(record.value, old.value) else {
            return StoredValue.isAfter(record.value, old.value) && !record.value.isNaN
        }
        return try old.state != .deleted && !record.payload.isEmpty && isRicher(record, than: old)
    }

    private func isRicher(_ record: IncomingRecord, than old: StoredRow) throws -> Bool {
        let said = JSONMembers.canonical(record.payload) ?? [UInt8](record.payload)
        let known = try writer.rows.text(.payload, of: old, user: user)
        return said.withUnsafeBytes { said in known.withUnsafeBytes { JSONMembers.isRicher(said[...], $0[...]) } }
    }

    private func isSame(_ old: StoredRow, _ record: IncomingRecord) throws -> Bool {
        guard StoredValue.agrees(old.value, record.value), old.hasPayload != record.payload.isEmpty else {
            return false
        }
        if record.payload.isEmpty { return true }
        let said = JSONMembers.canonical(record.payload) ?? [UInt8](record.payload)
        return try writer.rows.text(.payload, of: old, user: user) == said
    }
}
