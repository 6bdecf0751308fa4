import HealthModel

// Some senders round values, and leave out when a reading ended. Such a record matches the exact one of the same sample,
// in either order; what is exact stays.
extension RecordClaim {
    /// How a coarse record is matched with an exact row under another key, or an exact record with a coarse row.
    func coarse(_ record: IncomingRecord) throws -> Unnamed? {
        guard record.isCoarse || writer.window.hasCoarse, !record.value.isNaN,
            !writer.window.crowded.contains(record.second)
        else { return nil }
        var dead: Int?
        for slot in writer.window.slots(inSecond: record.second) {
            let row = writer.window.rows[slot]
            guard row.type == type, row.isCoarse != record.isCoarse, isSameSample(record, row), !row.isMoved,
                !session.hasClaimed(row, child: record.isChild),
                record.uuid == nil || row.uuid == nil || record.uuid == row.uuid, try hasSameSource(record, row)
            else { continue }
            switch row.state {
            case .alive where !record.isCoarse: return .toBeNamed(slot)
            case .alive, .quarantined: return .row(slot)
            case .deleted, .replaced: dead = dead ?? slot
            case .absent: break
            }
        }
        return dead.map { .row($0) }
    }

    /// Whether values are the same as far as their senders' rounding says.
    func isSameValue(_ record: IncomingRecord, _ row: StoredRow) -> Bool {
        if StoredValue.agrees(row.value, record.value) { return true }
        // The exact one may have been printed in another unit.
        let printed = 2e-5 * max(abs(row.value), abs(record.value))
        return (record.isCoarse || row.isCoarse) && abs(row.value - record.value) <= coarseness + printed
    }

    /// Whether a coarse and an exact one may be one sample: an instant may be the start of a reading.
    func isSameSample(_ record: IncomingRecord, _ row: StoredRow) -> Bool {
        guard row.unit == record.unit, isSameValue(record, row), abs(row.second - record.second) <= Self.tolerance
        else { return false }
        let lacksEnd = record.isCoarse && record.start == record.end || row.isCoarse && row.duration == 0
        return lacksEnd || abs(row.endSecond - record.endSecond) <= Self.tolerance
    }

    /// Whether a record is the exact form of a coarse row that has another key, as it lacks the end.
    func isExact(_ record: IncomingRecord, _ slot: Int) -> Bool {
        let row = writer.window.rows[slot]
        return row.isCoarse && !record.isCoarse && row.state == .alive && isSameSample(record, row)
            && (row.second != record.second || row.endSecond != record.endSecond)
    }

    private func hasSameSource(_ record: IncomingRecord, _ row: StoredRow) throws -> Bool {
        let (mine, other) = (origins[record.batchOrigin].sourceName, try writer.origins.origin(row.origin).sourceName)
        return mine == other || names.key(mine) == names.key(other) || record.isUnnamed
            || unnamedOrigins.contains(row.origin)
    }

    enum Certainty { case less, same, more }

    /// Whether a record's type is more certain than that of the row that has its UUID.
    func certainty(of record: IncomingRecord, against row: StoredRow) throws -> Certainty {
        let held = row.isCoarse ? HealthType.certainty(ofCoarse: try writer.types.name(row.type)) : 2
        let said = record.isCoarse ? HealthType.certainty(ofCoarse: typeName) : 2
        return said == held ? .same : said < held ? .less : .more
    }

    /// Takes back a row whose type was only a guess: another has its UUID now.
    func withdraw(_ row: StoredRow) throws {
        try writer.rewrite(row, user: user) { ($0.state, $0.uuid) = (.absent, nil) }
    }
}
