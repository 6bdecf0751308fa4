import HealthModel
import JSON
import SQLite

/// Finds the row that a record belongs to, or makes a new one, by the rules of identity.
struct RecordClaim {
    let writer: HealthStoreWriter
    let session: ImportSession
    let user: Int
    let type: Int
    /// Whether the records are statistics.
    let isStatistics: Bool
    /// Whether rows are only claimed and nothing is written.
    let isTrial: Bool
    /// Whether rows that the trial would store or change are remembered, so that later records find them.
    let keepsTried: Bool
    /// The first sequences of workouts that are earlier versions of others: being contained in an export isn't enough
    /// to restore them.
    let replaced: Set<Int64>
    /// The origins that have no source name, by their numbers in the store.
    let unnamedOrigins: Set<Int>
    /// If `type` is the workout type, its number in the store; otherwise a number that no type has.
    let workouts: Int
    /// The batch's origins.
    let origins: [Origin]
    /// What is known about the names of the user's sources.
    let names: SourceNames.Known
    /// Whether names of sources may differ between the batch and the store for one and the same source.
    let hasRenamed: Bool
    /// The time that the type's samples covered when the session began, in seconds since 1970; nil for types whose
    /// samples don't replace each other.
    let oldTimes: ClosedRange<Int64>?
    /// HealthKit's identifier of the type.
    let typeName: String
    /// See `HealthType.coarseness`.
    let coarseness: Double
    let plausibility: (Double, Instant, Instant) -> String?

    /// At most this many rows of a key are shifted to keep its ordinals in the order of values; more would cost too
    /// much.
    static let longestShift = 256

    /// What to do with a record that agrees with another source's row.
    enum Asking {
        /// It waits until the others have claimed their rows; `row` is its row in the batch.
        case waiting(row: Int)
        /// It is that row's sample if the names are a pair of these.
        case decided(Set<SessionNames.Pair>)
    }

    /// - Returns: the first sequence of the row that the record claimed; `.beginning` if it claimed none, or one that
    ///   was deleted, absent, quarantined or replaced; nil if it waits.
    func take(
        _ record: IncomingRecord, _ asking: Asking, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber? {
        if isStatistics { return try state(record, asking, &tally) }
        var candidates = try candidates(of: record)
        var isDeleted = record.isDeleted
        if let uuid = record.uuid, !candidates.isUUIDFound {
            switch try known(uuid) {
            case .no: break
            case .deletedUnseen: isDeleted = true
            case .ofAnotherType(let other):
                switch try certainty(of: record, against: other) {
                case .same:
                    try setAside(record, against: nil, &tally)
                    return .beginning
                case .less:
                    tally.known += 1
                    return .beginning
                case .more: if !isTrial { try withdraw(other) }
                }
            case .slot(let slot) where isExact(record, slot) && !isTrial && implausible(record) == nil:
                tally.joined += 1
                return try name(slot, by: record, ordinals: candidates.count)
            case .slot(let slot): candidates.best = slot
            }
        }
        if candidates.best.map({ writer.window.rows[$0].state != .alive }) ?? true {
            switch try unnamed(record) {
            case nil: break
            case .row(let slot): candidates.best = slot
            case .toBeNamed(let slot):
                // If the limits have changed, the sample stays as it came, since a new row would be quarantined.
                if candidates.best == nil, !isTrial, !isDeleted, implausible(record) == nil {
                    tally.joined += 1
                    return try name(slot, by: record, ordinals: candidates.count)
                }
                // A row that an export had lacked stays absent, because the row without a source now represents the
                // sample.
                if candidates.best.map({ writer.window.rows[$0].state == .absent }) ?? true { candidates.best = slot }
            }
        }
        if candidates.best.map({ writer.window.rows[$0].state != .alive }) ?? true {
            switch try coarse(record) {
            case nil: break
            case .row(let slot): candidates.best = slot
            case .toBeNamed(let slot):
                if candidates.best == nil, !isTrial, !isDeleted, implausible(record) == nil {
                    tally.joined += 1
                    return try name(slot, by: record, ordinals: candidates.count)
                }
            }
        }
        var isNamesake = false
        if let best = candidates.best, writer.window.rows[best].state == .absent,
            case .own(let slot)? = try namesake(record), writer.window.rows[slot].state == .alive
        {
            // The sample has another id, which it got from its source's other name.
            (candidates.best, isNamesake) = (slot, true)
        }
        if candidates.best == nil {
            switch try found(record, asking) {
            case nil: return nil
            case .some(let slot): (candidates.best, isNamesake) = (slot, slot != nil)
            }
        }
        guard let slot = candidates.best else {
            return try take(new: record, ordinals: candidates.count, isDeleted: isDeleted, &tally)
        }
        let row = writer.window.rows[slot]
        session.claim(row, child: record.isChild)
        let noted = session.names.total
        let mayBeRenamed = row.origin != record.origin && (isNamesake || hasRenamed || record.uuid != nil)
        let name =
            try session.isRewriting
            ? origins[record.batchOrigin].sourceName : mayBeRenamed ? noteName(row, record) : nil
        if isDeleted {
            // The sample was deleted under its UUID before anyone knew that this row is the same sample.
            if !isTrial, row.state != .deleted { try leaveTombstone(slot, uuid: record.uuid) }
            tally.deleted += 1
            return .beginning
        }
        var replaces = false
        switch try contradiction(of: record, with: row) {
        case nil: break
        case .replaces: replaces = true
        case .isOutdated:
            if !isTrial { try leaveFormer(of: row, value: record.value, unit: record.unit, record) }
            tally.known += 1
            return row.born
        case .isConflict:
            try setAside(record, against: row, &tally)
            return row.born
        }
        let changed = try !isTrial && join(record, slot, replaces: replaces, named: name, &tally)
        if replaces, changed { try leaveFormer(of: row, value: row.value, unit: row.unit, record) }
        switch row.state {
        case .deleted: tally.deleted += 1
        case .absent where isReplaced(row): tally.known += 1
        case .absent where isTrial && session.hasClaimed(row, child: !record.isChild):
            // The other record of this sample has already restored it.
            if implausible(record) == nil { tally.known += 1 } else { tally.quarantined += 1 }
        case .absent:
            // The limits may have changed since the sample was last checked.
            if implausible(record) == nil { tally.revived += 1 } else { tally.quarantined += 1 }
            noteTimes(record)
            if keepsTried { tryReviving(row, record, slot) }
        case .alive:
            // An export repeats the parts of a blood pressure: that it is one is nothing new about the sample.
            let isOnlyPart = record.flags & ~row.flags == SampleFlags.part.rawValue
            if changed, !isOnlyPart { tally.joined += 1 } else { tally.known += 1 }
        case .replaced:
            // A newer export that contains it may show that it is back.
            tally.known += 1
            noteTimes(record)
        case .quarantined:
            tally.quarantined += 1
            if !isTrial { try writer.quarantined.sawAgain(row.id, user: user) }
        }
        // A piece of a file that calls a source by another name is read again until both names are known to be one.
        if session.names.total > noted { return .beginning }
        // A restored sample is checked once more: it may belong in quarantine.
        return row.state == .alive ? row.born : .beginning
    }

    /// The row that a record without a row of its own belongs to all the same: `.some(nil)` if there is none, nil if the
    /// record waits.
    func found(_ record: IncomingRecord, _ asking: Asking) throws -> Int?? {
        guard let namesake = try namesake(record) else { return .some(nil) }
        let slot: Int
        switch namesake {
        case .own(let own): return .some(own)
        case .other(let other): slot = other
        }
        let pair = SessionNames.Pair(
            stored: try writer.origins.origin(writer.window.rows[slot].origin).sourceName,
            given: origins[record.batchOrigin].sourceName)
        switch asking {
        case .waiting(let row):
            session.names.waiting.append(.init(row: row, slot: slot, isChild: record.isChild, pair: pair))
            return nil
        case .decided(let pairs): return .some(pairs.contains(pair) ? slot : nil)
        }
    }

    var hasUnnamed: Bool { !unnamedOrigins.isEmpty }

    func isReplaced(_ row: StoredRow) -> Bool { row.state == .absent && replaced.contains(row.born.value) }

    /// Handles a record that matches no row.
    func take(
        new record: IncomingRecord, ordinals: Int, isDeleted: Bool, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber {
        if isTrial {
            tryInserting(record, ordinals: ordinals, isDeleted: isDeleted, &tally)
            return .beginning
        }
        return try insert(record, ordinals: ordinals, isDeleted: isDeleted, &tally)
    }

    private struct Candidates {
        var best: Int?
        var isUUIDFound = false
        /// How many rows have the record's key.
        var count = 0
    }

    /// Walks the rows with the record's key.
    private func candidates(of record: IncomingRecord) throws -> Candidates {
        var result = Candidates()
        var near: Int?
        var nearDifference = Double.infinity
        var absent: Int?
        var deleted: Int?
        var absentOther: Int?
        var replaced: Int?
        var ordinal = 0
        let element = ElementBody(record)
        let firstSlot = try slot(record, 0)
        if let firstSlot {
            let below = writer.window.rows[firstSlot].claimedBelow
            ordinal = record.isChild ? below.1 : below.0
        }
        var allClaimed = true
        let begin = ordinal
        while let slot = ordinal == 0 ? firstSlot : try slot(record, ordinal) {
            defer { ordinal += 1 }
            let row = writer.window.rows[slot]
            if let uuid = record.uuid, let other = row.uuid {
                if uuid == other { return Candidates(best: slot, isUUIDFound: true) }
                allClaimed = false
                continue
            }
            if session.hasClaimed(row, child: record.isChild) || row.isMoved && !session.isRewriting { continue }
            if allClaimed, ordinal > begin, let firstSlot {
                writer.window.setClaimedBelow(firstSlot, ordinal, child: record.isChild)
            }
            allClaimed = false
            if let element, row.hasPayload {
                switch element.likeness(of: try writer.rows.text(.payload, of: row, user: user)) {
                case .same where record.uuid == nil: return Candidates(best: slot)
                case .same, .perhaps: if [.alive, .quarantined].contains(row.state) { near = near ?? slot }
                case .other: break
                }
                continue
            }
            let agrees = row.unit == record.unit && isSameValue(record, row)
            switch row.state {
            case .alive, .quarantined:
                guard agrees else { continue }
                if StoredValue.isSame(row.value, record.value) {
                    // No other row can be better, except for a later row that has the UUID.
                    if record.uuid == nil { return Candidates(best: slot) }
                    if nearDifference > 0 { (near, nearDifference) = (slot, 0) }
                } else if abs(row.value - record.value) < nearDifference {
                    (near, nearDifference) = (slot, abs(row.value - record.value))
                }
            case .absent:
                if agrees { absent = absent ?? slot } else if row.uuid == nil { absentOther = absentOther ?? slot }
            case .deleted:
                if agrees { deleted = deleted ?? slot }
            case .replaced:
                if agrees { replaced = replaced ?? slot }
            }
        }
        result.count = ordinal
        result.best = near ?? replaced ?? absent ?? deleted ?? absentOther
        return result
    }

    func slot(_ record: IncomingRecord, _ ordinal: Int) throws -> Int? {
        let id = record.id(ordinal)
        if let slot = writer.window.slot(of: id) {
            if keepsTried { writer.window.update(slot, session.tried.current(writer.window.rows[slot])) }
            return slot
        }
        if writer.window.crowded.contains(record.second),
            let row = try writer.rows.row(user: user, type: type, second: record.second, id: id)
        {
            return writer.window.append(keepsTried ? session.tried.current(row) : row)
        }
        guard keepsTried, let row = session.tried.new(record, as: id, type: type) else { return nil }
        return writer.window.append(row)
    }

    private enum KnownUUID {
        case no
        case deletedUnseen
        case ofAnotherType(StoredRow)
        case slot(Int)
    }

    private func known(_ uuid: SampleID) throws -> KnownUUID {
        guard let entry = try writer.uuids.entry(uuid, user: user) else { return .no }
        guard let sequence = entry.sequence, let row = try writer.rows.row(at: sequence, user: user) else {
            return entry.isDeleted ? .deletedUnseen : .no
        }
        guard row.type == type else { return .ofAnotherType(row) }
        return .slot(writer.window.slot(of: row.id) ?? writer.window.append(row))
    }
}
