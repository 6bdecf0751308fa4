import HealthModel
import JSON

// A source that was renamed brings all its samples again, under another name. A record without a row of its own may
// therefore be the sample of a row that agrees in everything but the name.
extension RecordClaim {
    enum Namesake {
        /// The record's source has this row, under a key from before the source was renamed.
        case own(Int)
        /// Another source has it.
        case other(Int)
    }

    /// A row that agrees with the record in everything but its key: type, times, value and, where both are known,
    /// the device's model.
    func namesake(_ record: IncomingRecord) throws -> Namesake? {
        guard session.isFile || session.isPushed, writer.window.mayHold(record.second), !record.isUnnamed else {
            return nil
        }
        var best: (slot: Int, rank: Int, isOwn: Bool)?
        for slot in writer.window.slots(inSecond: record.second) {
            let row = writer.window.rows[slot]
            guard record.agrees(with: row), !unnamedOrigins.contains(row.origin),
                !session.hasClaimed(row, child: record.isChild), !row.isMoved,
                record.uuid == nil || row.uuid == nil || record.uuid == row.uuid,
                row.flags & RecordFlags.manual.rawValue == record.flags & RecordFlags.manual.rawValue
            else { continue }
            let origin = try writer.origins.origin(row.origin)
            let given = origins[record.batchOrigin].sourceName
            let isOwn = origin.sourceName == given || names.key(origin.sourceName) == names.key(given)
            let rank = (isOwn ? 0 : 10) + Self.rank(row.state)
            guard best.map({ rank < $0.rank }) ?? true,
                isOwn || Self.mayBeOneDevice(origin, origins[record.batchOrigin]), try isSameBody(record, row)
            else { continue }
            best = (slot, rank, isOwn)
        }
        return best.map { $0.isOwn ? .own($0.slot) : .other($0.slot) }
    }

    private static func rank(_ state: SampleState) -> Int {
        switch state {
        case .alive: 0
        case .quarantined: 1
        case .replaced: 2
        case .absent: 3
        case .deleted: 4
        }
    }

    /// Two models are two devices. Versions and names of a device change.
    private static func mayBeOneDevice(_ a: Origin, _ b: Origin) -> Bool {
        guard let mine = DeviceText.field("hardware", of: a.device),
            let other = DeviceText.field("hardware", of: b.device),
            !mine.isEmpty, !other.isEmpty
        else { return true }
        return mine == other
    }

    private func isSameBody(_ record: IncomingRecord, _ row: StoredRow) throws -> Bool {
        guard record.value.isNaN else { return true }
        if type == workouts { return try isSameActivity(record, row) }
        let payload = try writer.rows.text(.payload, of: row, user: user)
        if let element = ElementBody(record) { return element.likeness(of: payload) == .same }
        return (JSONMembers.canonical(record.payload) ?? [UInt8](record.payload)) == payload
    }

    /// If devices share a name and only one of them was renamed, at least this many of its samples must show it.
    static let manyRenamed = 10

    /// Which pairs of names the batch shows to be one source: the file no longer has the stored source's samples, and
    /// has them under another name. Records that both sources have speak against it; so do many samples that the stored
    /// source still has.
    func renamings(_ waiting: [SessionNames.Waiting]) throws -> Set<SessionNames.Pair> {
        var moved: [SessionNames.Pair: Int] = [:]
        var stayed: [SessionNames.Pair: Int] = [:]
        for entry in waiting {
            if session.hasClaimed(writer.window.rows[entry.slot], child: entry.isChild) {
                stayed[entry.pair, default: 0] += 1
            } else {
                moved[entry.pair, default: 0] += 1
            }
        }
        let sources = Set(moved.keys.map(\.stored))
        var held: [String: Int] = [:]
        var prefixes = KeyPrefixes(user: writer.user)
        for row in writer.window.loadedRows where row.state == .alive && session.hasClaimed(row) {
            let name = try writer.origins.origin(row.origin).sourceName
            guard sources.contains(name), session.names.given(row) == nil else { continue }
            // A row that a request has renamed may have been claimed under the name that it had before.
            if try prefixes.suit(row, type: { try writer.types.name(type) }, key: names.key(name)) {
                held[name, default: 0] += 1
            }
        }
        return Set(
            moved.filter { pair, count in
                let both = stayed[pair] ?? 0
                let rest = held[pair.stored] ?? 0
                // A request has only part of what there is.
                if session.isPushed, names.areTwo(pair.stored, pair.given) { return false }
                return count > both && (rest == 0 || both == 0 && count >= Self.manyRenamed && count * 4 >= rest)
            }.keys)
    }

    /// Remembers that a record calls the source of its row by another name.
    /// - Returns: the name that the row should have at once. A file's names are settled at its end.
    func noteName(_ row: StoredRow, _ record: IncomingRecord) throws -> String? {
        guard !record.isUnnamed, !unnamedOrigins.contains(row.origin) else { return nil }
        let pair = SessionNames.Pair(
            stored: try writer.origins.origin(row.origin).sourceName, given: origins[record.batchOrigin].sourceName)
        guard pair.stored != pair.given else { return nil }
        session.names.note(row, pair)
        guard session.isPushed else { return nil }
        // Channels may spell names differently: only the one that brought the sample can say that its source has
        // another name now.
        guard !isTrial, let moment = session.moment, let bringer = session.bringer,
            try writer.brought.has(row.born.value, bringer: writer.brought.number(bringer, user: user)),
            try writer.names.known(of: user).last(pair.stored) < moment.at
        else { return nil }
        return pair.given
    }
}
