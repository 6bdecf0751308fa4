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
        let other = conflict.other
        if takesOther {
            let rule = plausibility(conflict.type)
            let why = Self.refusal(start: other.start, end: other.end, value: other.value ?? .nan, rule: rule)
            if let why { return .isImplausible(why) }
        }
        var moved: RecordBatch?
        let isThere = try change { user in
            guard let old = try aliveRow(uuid, user: user) else { return false }
            var row = old
            let held = try held(old)
            var (type, now) = (held.type, held.kept)
            if takesOther {
                let start = other.start.flooredSecond
                let isInPlace =
                    held.type == conflict.type && abs(old.second - start) <= 1
                    && abs(held.kept.end.flooredSecond - other.end.flooredSecond) <= 1
                if isInPlace {
                    row.value = other.value ?? .nan
                    row.unit = try units.id(other.unit)
                } else {
                    // Only the name of the other content's source was kept. It is the version and device of the stored
                    // sample, if they have the same source.
                    let origin =
                        held.origin.sourceName == conflict.source ? held.origin : Origin(sourceName: conflict.source)
                    moved = batch(conflict, uuid, old, origin, metadata: try rows.text(.metadata, of: old, user: user))
                    // Its UUID belongs to the sample that replaces it.
                    row.state = .deleted
                    row.uuid = nil
                }
                (type, now) = (conflict.type, other)
                if isInPlace { (now.start, now.end) = (held.kept.start, held.kept.end) }
                try quarantined.refuse(
                    RecordConflict(
                        type: held.type, uuid: conflict.uuid, source: held.origin.sourceName, other: held.kept,
                        kept: held.type == type ? now : nil), from: entry.source, user: user)
            }
            try quarantined.show(now, type: type, inConflictsOf: conflict.uuid, besides: entry.number, user: user)
            try rewrite(&row, was: old, user: user)
            if takesOther, row.state == .alive { try leaveFormer(of: old, user: user) }
            return true
        }
        guard isThere else { return .isGone }
        if let moved { _ = try ingest(moved, session: ImportSession(source: entry.source), plausibility: plausibility) }
        if takesOther { try forgetQuarantined(entry) } else { try dropQuarantined([entry]) }
        return .settled
    }

    private func leaveFormer(of old: StoredRow, user: Int) throws {
        let id = try ids(of: old)
        _ = try leaveFormer(of: old, user: user) { ordinal in
            (id(ordinal), try rows.row(user: user, type: old.type, second: old.second, id: id(ordinal)))
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
            kept: RecordConflict.Content(row, unit: try units.name(row.unit)))
    }

    /// The other content as a record of its own, with the sample's UUID, metadata, flags and creation time.
    private func batch(
        _ conflict: RecordConflict, _ uuid: SampleID, _ row: StoredRow, _ origin: Origin, metadata: [UInt8]
    ) -> RecordBatch {
        var batch = RecordBatch()
        batch.types = [conflict.type]
        batch.units = [conflict.other.unit]
        batch.origins = [origin]
        (batch.type, batch.unit, batch.origin) = ([0], [0], [0])
        batch.start = [conflict.other.start.microseconds]
        batch.end = [conflict.other.end.microseconds]
        batch.value = [conflict.other.value ?? .nan]
        batch.created = [row.created]
        batch.flags = [RecordFlags(rawValue: row.flags)]
        batch.metadata.append(bytes: metadata)
        batch.payload.appendEmpty()
        batch.healthKitUUID = [uuid]
        batch.line = [0]
        return batch
    }
}
