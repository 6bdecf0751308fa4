import HealthModel
import JSON
import SQLite

// The merge is commutative, associative and idempotent: each part has a rule that picks the same winner in either
// order.
extension RecordClaim {
    /// Merges the record's information into the row wherever it is better than the row's own. Adding the same record
    /// again changes nothing.
    /// - Parameters:
    ///   - replaces: whether the record is a later version, whose value counts.
    ///   - name: what the row's source is called now, if it has another name.
    ///   - tally: counts how the quarantine changes if the row is restored.
    /// - Returns: whether the row has a new version.
    func join(
        _ record: IncomingRecord, _ slot: Int, replaces: Bool = false, named name: String? = nil,
        _ tally: inout IngestCounts.Tally
    ) throws -> Bool {
        let old = writer.window.rows[slot]
        var row = old
        var metadata: [UInt8]?
        var payload: [UInt8]?
        row.uuid = old.uuid ?? record.uuid
        // In a tombstone, only the UUID matters: it prevents later copies from being added. A replaced row needs it for
        // deletions.
        if old.state != .deleted, old.state != .replaced {
            if old.state == .absent, !isReplaced(old) { try revive(&row, record, &tally) }
            try joinColumns(&row, record, old)
            if let name { row.origin = try writer.origins.named(row.origin, name) }
            if replaces { (row.value, row.unit) = (record.value, record.unit) }
            metadata = try joined(record.metadata, into: row, column: .metadata)
            payload = try joined(record.payload, into: row, column: .payload)
        }
        guard row.isDifferent(from: old) || metadata != nil || payload != nil else { return false }
        try writer.rewrite(&row, was: old, user: user)
        if let metadata {
            try writer.rows.set(.metadata, of: row, metadata)
            row.metadata = nil
        }
        if let payload {
            try writer.rows.set(.payload, of: row, payload)
            row.hasPayload = true
        }
        writer.window.update(slot, row)
        return true
    }

    private func revive(_ row: inout StoredRow, _ record: IncomingRecord, _ tally: inout IngestCounts.Tally) throws {
        row.state = .alive
        row.flags &= ~StoredRow.moved
        if !StoredValue.agrees(row.value, record.value) || row.unit != record.unit {
            row.value = record.value
            row.unit = record.unit
        }
        // The limits may have changed since the sample was last checked.
        if let reason = implausible(record) {
            row.state = .quarantined
            tally.newlyQuarantined += try writer.quarantined.add(
                row.id, reason: reason, line: record.line, source: session.source, user: user)
        } else {
            // A sample that another stack's version had put into quarantine counts again.
            tally.newlyQuarantined -= try writer.quarantined.forget(row.id, user: user)
        }
    }

    private func joinColumns(_ row: inout StoredRow, _ record: IncomingRecord, _ old: StoredRow) throws {
        if row.unit == record.unit, !StoredValue.isSame(row.value, record.value) {
            // A channel that gives the UUID reads the number itself; others read it as printed, perhaps in another
            // unit.
            let isBetter =
                record.isCoarse != old.isCoarse
                ? old.isCoarse
                : (record.uuid != nil) == old.hasOwnUUID
                    ? StoredValue.isPlainer(record.value, than: row.value) : record.uuid != nil
            if isBetter { row.value = record.value }
        }
        // A record found by its UUID may start or end in a different second from the row, whose key stays as it is.
        if row.second == record.second, row.endSecond == record.endSecond {
            let end = max(row.end, record.end)
            row.startRemainder = max(row.startRemainder, record.start &- record.second &* Instant.microsecondsPerSecond)
            row.duration = end &- row.start
        }
        row.origin = try writer.origins.joined(row.origin, record.origin)
        if record.created != 0 { row.created = row.created == 0 ? record.created : min(row.created, record.created) }
        row.flags = joined(row.flags, record, old)
    }

    /// A sample is coarse as long as all its records are.
    private func joined(_ flags: UInt8, _ record: IncomingRecord, _ old: StoredRow) -> UInt8 {
        var joined = RecordFlags(rawValue: flags | record.flags)
        if !record.isCoarse || !old.isCoarse { joined.remove(.coarse) }
        if record.uuid != nil, !record.isCoarse {
            joined.remove(.lent)
        } else if record.isCoarse != old.isCoarse, record.isCoarse ? old.uuid == nil : old.uuid != nil {
            joined.insert(.lent)
        }
        return joined.rawValue
    }

    /// The text that the row should have now; nil if the row already has it.
    private func joined(_ text: UnsafeRawBufferPointer, into row: StoredRow, column: RowText) throws -> [UInt8]? {
        if text.isEmpty { return nil }
        if column == .metadata, let range = row.metadata {
            return writer.window.text.withUnsafeBytes { Self.joined(text, $0[range], column) }
        }
        if column == .payload, !row.hasPayload { return JSONMembers.canonical(text) ?? [UInt8](text) }
        return try writer.rows.text(column, of: row, user: user).withUnsafeBytes { Self.joined(text, $0[...], column) }
    }

    private static func joined(
        _ text: UnsafeRawBufferPointer, _ stored: Slice<UnsafeRawBufferPointer>, _ column: RowText
    ) -> [UInt8]? {
        let stored = UnsafeRawBufferPointer(rebasing: stored)
        if isSame(text, stored) { return nil }
        // What is stored was made canonical: the same text, sent again in another form, changes nothing.
        if let canonical = JSONMembers.canonical(text) {
            return canonical.withUnsafeBytes { Self.joined($0, stored[...], column) }
        }
        if stored.isEmpty { return [UInt8](text) }
        let joined = column == .payload ? PayloadJoin.joined(stored, text) : JSONMembers.joined(stored, text)
        return joined.withUnsafeBytes { isSame($0, stored) } ? nil : joined
    }

    private static func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        a.count == b.count && a.elementsEqual(b)
    }
}

extension StoredRow {
    /// Whether any column except metadata and payload differs.
    func isDifferent(from old: StoredRow) -> Bool {
        state != old.state || uuid != old.uuid || !StoredValue.isSame(value, old.value) || unit != old.unit
            || startRemainder != old.startRemainder || duration != old.duration || origin != old.origin
            || created != old.created
            || flags != old.flags
    }
}
