import HealthModel
import JSON
import SQLite

/// Finds the row that a record is, or makes it one: the rules of identity.
struct RecordClaim {
    let writer: HealthStoreWriter
    let session: ImportSession
    let user: Int
    let type: Int
    /// What is taken are statistics.
    let isStatistics: Bool
    /// Claims rows, but writes nothing.
    let isTrial: Bool
    let plausibility: (Double, Instant, Instant) -> String?

    /// Shifting rows to keep a key's ordinals in the order of values stops being worth it beyond so many.
    static let longestShift = 256

    /// - Returns: the birth of the row that it claimed; `.beginning` when it claimed none, or one that is dead or kept apart.
    func take(_ record: IncomingRecord, _ tally: inout IngestCounts.Tally) throws -> SequenceNumber {
        if isStatistics { return try state(record, &tally) }
        var candidates = try candidates(of: record)
        var buried = false
        if let uuid = record.uuid, !candidates.isUUIDFound {
            switch try known(uuid) {
            case .no: break
            case .deletedUnseen: buried = true
            case .elsewhere:
                tally.known += 1
                return .beginning
            case .slot(let slot): candidates.best = slot
            }
        }
        guard let slot = candidates.best else {
            return try take(new: record, ordinals: candidates.count, buried: buried, &tally)
        }
        let row = writer.window.rows[slot]
        session.claim(row, child: record.isChild)
        if buried {
            // The sample was deleted under its UUID before this row was known to be it.
            if !isTrial { try bury(slot, uuid: record.uuid) }
            tally.deleted += 1
            return .beginning
        }
        let changed = try !isTrial && join(record, slot)
        switch row.state {
        case .deleted: tally.deleted += 1
        case .absent:
            // The limits may be others than when it was last alive.
            if implausible(record) == nil {
                tally.revived += 1
            } else {
                tally.quarantined += 1
                if !isTrial { tally.newlyQuarantined += 1 }
            }
        case .alive: if changed { tally.joined += 1 } else { tally.known += 1 }
        case .quarantined:
            tally.quarantined += 1
            if !isTrial { try writer.sawAgain(row.id, user: user) }
        }
        // What has come alive again is looked at once more: it may be kept apart.
        return row.state == .alive ? row.born : .beginning
    }

    /// Takes a record that no row is.
    func take(
        new record: IncomingRecord, ordinals: Int, buried: Bool, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber {
        if isTrial {
            count(record, buried: buried, &tally)
            return .beginning
        }
        return try insert(record, ordinals: ordinals, buried: buried, &tally)
    }

    /// What would become of a record that no row is.
    private func count(_ record: IncomingRecord, buried: Bool, _ tally: inout IngestCounts.Tally) {
        if buried {
            tally.deleted += 1
        } else if implausible(record) != nil {
            tally.quarantined += 1
        } else if record.isChild {
            // As a rule a copy of a top-level record, which counts.
            tally.known += 1
        } else {
            tally.added += 1
        }
    }

    private struct Candidates {
        var best: Int?
        var isUUIDFound = false
        /// Rows of the key.
        var count = 0
    }

    /// Walks the rows of the record's key.
    private func candidates(of record: IncomingRecord) throws -> Candidates {
        var result = Candidates()
        var near: Int?
        var nearDifference = Double.infinity
        var absent: Int?
        var deleted: Int?
        var absentOther: Int?
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
            if session.hasClaimed(row, child: record.isChild) { continue }
            if allClaimed, ordinal > begin, let firstSlot {
                writer.window.setClaimedBelow(firstSlot, ordinal, child: record.isChild)
            }
            allClaimed = false
            if let element, row.hasPayload {
                switch element.likeness(of: try writer.text(.payload, of: row, user: user)) {
                case .same where record.uuid == nil: return Candidates(best: slot)
                case .same, .perhaps: if [.alive, .quarantined].contains(row.state) { near = near ?? slot }
                case .other: break
                }
                continue
            }
            let agrees = row.unit == record.unit && StoredValue.agrees(row.value, record.value)
            switch row.state {
            case .alive, .quarantined:
                guard agrees else { continue }
                if StoredValue.isSame(row.value, record.value) {
                    // Nothing can be better, unless a row further on has the UUID.
                    if record.uuid == nil { return Candidates(best: slot) }
                    if nearDifference > 0 { (near, nearDifference) = (slot, 0) }
                } else if abs(row.value - record.value) < nearDifference {
                    (near, nearDifference) = (slot, abs(row.value - record.value))
                }
            case .absent:
                if agrees { absent = absent ?? slot } else if row.uuid == nil { absentOther = absentOther ?? slot }
            case .deleted:
                if agrees { deleted = deleted ?? slot }
            }
        }
        result.count = ordinal
        result.best = near ?? absent ?? deleted ?? absentOther
        return result
    }

    func slot(_ record: IncomingRecord, _ ordinal: Int) throws -> Int? {
        let id = record.id(ordinal)
        if let slot = writer.window.slot(of: id) { return slot }
        guard writer.window.crowded.contains(record.second),
            let row = try writer.row(user: user, type: type, second: record.second, id: id)
        else { return nil }
        return writer.window.append(row)
    }

    private enum KnownUUID {
        case no
        case deletedUnseen
        case elsewhere
        case slot(Int)
    }

    private func known(_ uuid: SampleID) throws -> KnownUUID {
        let find = writer.statements.findUUID
        find.bind(1, user)
        find.bind(2, uuid)
        let found = try find.firstRow { ($0.isNull(0) ? nil : $0.int64(0), $0.int64(1) != 0) }
        guard let (sequence, deleted) = found else { return .no }
        guard let sequence else { return deleted ? .deletedUnseen : .no }
        guard let row = try writer.row(at: SequenceNumber(sequence), user: user), row.type == type else {
            return .elsewhere
        }
        return .slot(writer.window.slot(of: row.id) ?? writer.window.append(row))
    }
}

extension RecordClaim {
    /// A new row, at the ordinal that keeps the key's rows in the order of their values: so ids don't depend on who came first.
    private func insert(
        _ record: IncomingRecord, ordinals: Int, buried: Bool, _ tally: inout IngestCounts.Tally
    ) throws -> SequenceNumber {
        var ordinal = ordinals
        while ordinal > 0, ordinals - ordinal < Self.longestShift,
            let slot = try slot(record, ordinal - 1),
            StoredValue.isAfter(writer.window.rows[slot].value, record.value)
        {
            ordinal -= 1
        }
        if ordinal < ordinals { try shift(record, from: ordinal, below: ordinals) }

        var reason: String?
        var row = StoredRow()
        row.sequence = writer.nextSequence()
        row.born = row.sequence
        row.type = type
        row.second = record.second
        row.startRemainder = record.start &- record.second &* Instant.microsecondsPerSecond
        row.duration = record.end &- record.start
        row.value = record.value
        row.unit = record.unit
        row.origin = record.origin
        row.flags = record.flags
        row.id = record.id(ordinal)
        row.created = record.created
        row.uuid = record.uuid
        row.hasPayload = !record.payload.isEmpty
        if buried {
            row.state = .deleted
            tally.deleted += 1
        } else if let why = implausible(record) {
            reason = why
            row.state = .quarantined
            tally.quarantined += 1
            tally.newlyQuarantined += 1
        } else {
            tally.added += 1
        }
        try store(&row, record)
        session.claim(row, child: record.isChild)
        writer.heads.enter(row)
        if !row.isSealed { writer.heads.note(row) }
        writer.window.append(row)
        if let uuid = row.uuid { try writer.register(uuid, user: user, sequence: row.sequence, deleted: buried) }
        if let reason { try writer.note(row.id, reason: reason, line: record.line, source: session.source, user: user) }
        return row.state == .alive ? row.born : .beginning
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

    /// Moves the key's rows from that ordinal on one ordinal up, from the last, so that no two meet.
    private func shift(_ record: IncomingRecord, from first: Int, below ordinals: Int) throws {
        for ordinal in (first..<ordinals).reversed() {
            guard let slot = try slot(record, ordinal) else { continue }
            let old = writer.window.rows[slot]
            var row = old
            row.id = record.id(ordinal + 1)
            row.claimedBelow = (0, 0)
            try writer.rewrite(&row, was: old, user: user)
            if row.state == .quarantined { try writer.rename(old.id, to: row.id, user: user) }
            writer.window.update(slot, row)
            writer.window.relink()
        }
        // The row that comes between isn't claimed by both kinds of records.
        if first > 0, let slot = try slot(record, 0) {
            let below = writer.window.rows[slot].claimedBelow
            writer.window.setClaimedBelow(slot, min(below.0, first), child: false)
            writer.window.setClaimedBelow(slot, min(below.1, first), child: true)
        }
    }

    private func bury(_ slot: Int, uuid: SampleID?) throws {
        let old = writer.window.rows[slot]
        var row = old
        row.state = .deleted
        row.uuid = old.uuid ?? uuid
        try writer.rewrite(&row, was: old, user: user)
        writer.window.update(slot, row)
    }
}
