import HealthModel
import SQLite

/// The outcome of a conflict that a person decided.
package enum ConflictEnd: Sendable, Equatable {
    /// The sample has a new version, with the chosen content.
    case settled
    /// The sample was deleted in the meantime, and nothing changed.
    case isGone
    /// The other content can't be true, and nothing changed.
    case isImplausible(String)
}

extension HealthStoreWriter {
    /// Ends a conflict: the chosen content becomes a new version of the sample, and the content that wasn't chosen is
    /// refused from now on. The sample's other conflicts stay open, and show its new content.
    /// - Parameters:
    ///   - entry: a quarantine entry with this conflict as its text.
    ///   - takesOther: whether the content that was set aside replaces the content of the sample.
    package func settle(
        _ entry: QuarantineEntry, _ conflict: RecordConflict, takesOther: Bool, plausibility: PlausibilityRule
    ) throws -> ConflictEnd {
        guard let uuid = SampleID(conflict.uuid) else { return .isGone }
        let told = conflict.told
        if takesOther {
            let rule = plausibility(conflict.type)
            let why = Self.refusal(start: told.start, end: told.end, value: told.value ?? .nan, rule: rule)
            if let why { return .isImplausible(why) }
        }
        var moved: RecordBatch?
        let isThere = try change { user in
            guard let old = try aliveRow(uuid, user: user) else { return false }
            var row = old
            let held = try held(old)
            var (type, now) = (held.type, held.kept)
            if takesOther {
                let start = told.start.flooredSecond
                let isInPlace =
                    held.type == conflict.type && abs(old.second - start) <= 1
                    && abs(held.kept.end.flooredSecond - told.end.flooredSecond) <= 1
                if isInPlace {
                    row.value = told.value ?? .nan
                    row.unit = try units.id(told.unit)
                } else {
                    // Only the name of the other content's source was kept. It is the version and device of the stored
                    // sample, if they have the same source.
                    let origin =
                        held.origin.sourceName == conflict.source ? held.origin : Origin(sourceName: conflict.source)
                    moved = batch(conflict, uuid, old, origin, metadata: try text(.metadata, of: old, user: user))
                    // Its UUID belongs to the sample that replaces it.
                    row.state = .deleted
                    row.uuid = nil
                }
                (type, now) = (conflict.type, told)
                if isInPlace { (now.start, now.end) = (held.kept.start, held.kept.end) }
                try refuse(
                    RecordConflict(
                        type: held.type, uuid: conflict.uuid, source: held.origin.sourceName, told: held.kept,
                        kept: held.type == type ? now : nil), from: entry.source, user: user)
            }
            try showInOthers(now, type: type, of: conflict.uuid, besides: entry.number, user: user)
            try rewrite(&row, was: old, user: user)
            if takesOther, row.state == .alive { try leaveFormer(of: old, origin: held.origin, user: user) }
            return true
        }
        guard isThere else { return .isGone }
        if let moved { _ = try ingest(moved, session: ImportSession(source: entry.source), plausibility: plausibility) }
        if takesOther { try forgetQuarantined(entry) } else { try dropQuarantined([entry]) }
        return .settled
    }

    private func leaveFormer(of old: StoredRow, origin: Origin, user: Int) throws {
        let prefix = SampleKeyPrefix(
            user: self.user, type: try types.name(old.type),
            sourceName: try names.known(of: user).key(origin.sourceName))
        let end = Instant(microseconds: old.end).flooredSecond
        _ = try leaveFormer(of: old, user: user) { ordinal in
            let id = SampleID(prefix, startSecond: old.second, endSecond: end, ordinal: ordinal)
            return (id, try self.row(user: user, type: old.type, second: old.second, id: id))
        }
    }

    private struct Held {
        var type: String
        var origin: Origin
        var kept: RecordConflict.Content
    }

    private func held(_ row: StoredRow) throws -> Held {
        Held(
            type: try types.name(row.type), origin: try origins.origin(row.origin),
            kept: RecordConflict.Content(
                start: Instant(microseconds: row.start), end: Instant(microseconds: row.end),
                value: row.value.isFinite ? row.value : nil, unit: try units.name(row.unit)))
    }

    /// The content that wasn't chosen may arrive again whenever an old request is repeated; it is then refused
    /// silently.
    private func refuse(_ conflict: RecordConflict, from source: String, user: Int) throws {
        _ = try setAside(conflict, line: 0, from: source, user: user)
        let keys = keys(of: conflict)
        let drop = try database.prepare(
            "UPDATE quarantine SET dropped = 1, raw = '' WHERE user = ? AND content IN (?, ?)")
        drop.bind(1, user)
        drop.bind(2, keys.current)
        drop.bind(3, keys.former)
        try drop.run()
    }

    /// Updates a sample's other conflicts with its new content. A conflict about exactly that content is resolved.
    private func showInOthers(
        _ now: RecordConflict.Content, type: String, of uuid: String, besides number: Int64, user: Int
    ) throws {
        let list = try database.prepare(
            "SELECT number, raw FROM quarantine WHERE user = ? AND reason = ? AND dropped = 0 AND number <> ?")
        list.bind(1, user)
        list.bind(2, RecordConflict.reason)
        list.bind(3, number)
        var others: [(number: Int64, conflict: RecordConflict)] = []
        try list.forEachRow { row in
            guard let conflict = RecordConflict(json: row.string(1)), conflict.uuid == uuid else { return }
            others.append((row.int64(0), conflict))
        }
        let write = try database.prepare("UPDATE OR IGNORE quarantine SET raw = ?, content = ? WHERE number = ?")
        let forget = try database.prepare("DELETE FROM quarantine WHERE number = ?")
        for (number, other) in others {
            var conflict = other
            conflict.kept = other.type == type ? now : nil
            var isWritten = false
            if conflict.isOpen {
                write.bind(1, conflict.json)
                write.bind(2, keys(of: conflict).current)
                write.bind(3, number)
                try write.run()
                isWritten = database.changes > 0
            }
            // If a conflict's new key is already taken, the same content is already listed or refused.
            guard !isWritten else { continue }
            forget.bind(1, number)
            try forget.run()
        }
    }

    /// The other content as a record of its own, with the sample's UUID, metadata, flags and creation time.
    private func batch(
        _ conflict: RecordConflict, _ uuid: SampleID, _ row: StoredRow, _ origin: Origin, metadata: [UInt8]
    ) -> RecordBatch {
        var batch = RecordBatch()
        batch.types = [conflict.type]
        batch.units = [conflict.told.unit]
        batch.origins = [origin]
        (batch.type, batch.unit, batch.origin) = ([0], [0], [0])
        batch.start = [conflict.told.start.microseconds]
        batch.end = [conflict.told.end.microseconds]
        batch.value = [conflict.told.value ?? .nan]
        batch.created = [row.created]
        batch.flags = [RecordFlags(rawValue: row.flags)]
        batch.metadata.append(bytes: metadata)
        batch.payload.appendEmpty()
        batch.healthKitUUID = [uuid]
        batch.line = [0]
        return batch
    }
}

extension RecordConflict.Content {
    /// Whether both contents are the same, by the rules for records with the same UUID.
    func agrees(with other: RecordConflict.Content) -> Bool {
        unit == other.unit && StoredValue.agrees(value ?? .nan, other.value ?? .nan)
            && abs(start.flooredSecond - other.start.flooredSecond) <= RecordClaim.tolerance
            && abs(end.flooredSecond - other.end.flooredSecond) <= RecordClaim.tolerance
    }
}
