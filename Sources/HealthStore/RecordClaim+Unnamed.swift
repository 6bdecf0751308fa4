import HealthModel
import JSON

// The source is part of a sample's identity, and some senders don't name it: Health Auto Export doesn't say who
// recorded a workout. So a record without a source matches a sample of any source that agrees in everything else, and a
// record with a source matches a sample that came without one.
extension RecordClaim {
    /// How a record is matched if its own key has no current row.
    enum Unnamed {
        /// The record is this row.
        case row(Int)
        /// The record belongs to this row, which came without a source and now gets the record's source.
        case toBeNamed(Int)
    }

    func unnamed(_ record: IncomingRecord) throws -> Unnamed? {
        guard !record.isChild, hasUnnamed || record.isUnnamed, type == workouts || !record.value.isNaN,
            !writer.window.crowded.contains(record.second)
        else { return nil }
        var dead: Int?
        for slot in writer.window.slots(inSecond: record.second) {
            let row = writer.window.rows[slot]
            guard row.type == type, row.second == record.second,
                unnamedOrigins.contains(row.origin) != record.isUnnamed,
                record.agrees(with: row), !session.hasClaimed(row),
                record.uuid == nil || row.uuid == nil || record.uuid == row.uuid
            else { continue }
            guard try type != workouts || isSameActivity(record, row) else { continue }
            switch row.state {
            case .alive where !record.isUnnamed: return .toBeNamed(slot)
            case .alive, .quarantined: return .row(slot)
            case .deleted, .replaced: dead = dead ?? slot
            case .absent: break
            }
        }
        // Records of samples that were deleted permanently are refused, whereas samples that are only absent are
        // restored under their own key.
        return dead.map { .row($0) }
    }

    /// Whether both have the same activity. Only HealthKit's names are compared: apps name activities in the phone's
    /// language.
    func isSameActivity(_ record: IncomingRecord, _ row: StoredRow) throws -> Bool {
        guard let mine = Self.activity([UInt8](record.payload)),
            let other = Self.activity(try writer.rows.text(.payload, of: row, user: user))
        else { return true }
        return mine == other
    }

    private static func activity(_ payload: [UInt8]) -> String? {
        // A payload that isn't JSON has no activity.
        let name = (try? Value(json: payload))?["activity"].string
        return name.flatMap { $0.hasPrefix("HKWorkoutActivityType") ? $0 : nil }
    }

    /// Gives a row the record's source: a new row, under the key that results, replaces the one without a source.
    func name(_ slot: Int, by record: IncomingRecord, ordinals: Int) throws -> SequenceNumber {
        let old = writer.window.rows[slot]
        let metadata = try writer.rows.text(.metadata, of: old, user: user)
        let payload = try writer.rows.text(.payload, of: old, user: user)
        writer.window.update(slot, try writer.rewrite(old, user: user) { ($0.state, $0.uuid) = (.absent, nil) })
        var tally = IngestCounts.Tally()
        let born = try take(new: record, ordinals: ordinals, isDeleted: false, &tally)
        let new = writer.window.rows.count - 1
        guard born != .beginning else { return born }
        try metadata.withUnsafeBytes { metadata in
            try payload.withUnsafeBytes { payload in
                var known = record
                (known.start, known.end, known.value, known.origin) = (old.start, old.end, old.value, old.origin)
                (known.created, known.flags, known.uuid) = (old.created, old.flags, old.uuid)
                known.isCoarse = old.isCoarse
                (known.metadata, known.payload) = (metadata, payload)
                _ = try join(known, new, &tally)
            }
        }
        try writer.brought.copy(old.born.value, to: born.value)
        if type == workouts { try writer.inheritSighting(old, to: writer.window.rows[new], user: user) }
        return born
    }
}
