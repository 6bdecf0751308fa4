import HealthModel
import SQLite

/// What became of a conflict that a person decided.
package enum ConflictEnd: Sendable, Equatable {
    /// The sample has a new version, with the chosen content.
    case settled
    /// The sample was deleted in the meantime, and nothing changed.
    case isGone
    /// The other content can't be true, and nothing changed.
    case isImplausible(String)
}

extension HealthStoreWriter {
    /// Ends a conflict: the chosen content is a new version of the sample, and the content that wasn't chosen is
    /// refused from now on.
    /// - Parameters:
    ///   - entry: of the quarantine, with this conflict as its text.
    ///   - takesOther: whether the content that was set aside replaces that of the sample.
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
            if takesOther {
                let held = try held(old)
                let start = told.start.flooredSecond
                let isInPlace =
                    held.type == conflict.type && abs(old.second - start) <= 1
                    && abs(held.kept.end.flooredSecond - told.end.flooredSecond) <= 1
                if isInPlace {
                    row.value = told.value ?? .nan
                    row.unit = try units.id(told.unit)
                } else {
                    moved = batch(conflict, uuid, old, metadata: try text(.metadata, of: old, user: user))
                    // Its UUID belongs to the sample that takes its place.
                    row.state = .deleted
                    row.uuid = nil
                    let forget = try database.prepare("DELETE FROM uuids WHERE user = ? AND uuid = ?")
                    forget.bind(1, user)
                    forget.bind(2, uuid)
                    try forget.run()
                }
                var now = told
                if isInPlace { (now.start, now.end) = (held.kept.start, held.kept.end) }
                try refuse(
                    RecordConflict(
                        type: held.type, uuid: conflict.uuid, source: held.source, told: held.kept,
                        kept: held.type == conflict.type ? now : nil), from: entry.source, user: user)
            }
            try rewrite(&row, was: old, user: user)
            return true
        }
        guard isThere else { return .isGone }
        if let moved { _ = try ingest(moved, session: ImportSession(source: entry.source), plausibility: plausibility) }
        if takesOther { try forgetQuarantined(entry) } else { try dropQuarantined([entry]) }
        return .settled
    }

    private struct Held {
        var type: String
        var source: String
        var kept: RecordConflict.Content
    }

    private func held(_ row: StoredRow) throws -> Held {
        Held(
            type: try types.name(row.type), source: try origins.origin(row.origin).sourceName,
            kept: RecordConflict.Content(
                start: Instant(microseconds: row.start), end: Instant(microseconds: row.end),
                value: row.value.isFinite ? row.value : nil, unit: try units.name(row.unit)))
    }

    /// The content that loses may come again with any repeat of an old request: it is refused without a word.
    private func refuse(_ conflict: RecordConflict, from source: String, user: Int) throws {
        let raw = conflict.json
        _ = try setAside(
            QuarantinedInput(line: 0, reason: RecordConflict.reason, raw: raw), from: source, user: user)
        let drop = try database.prepare(
            "UPDATE quarantine SET dropped = 1, raw = '' WHERE user = ? AND reason = ? AND raw = ?")
        drop.bind(1, user)
        drop.bind(2, RecordConflict.reason)
        drop.bind(3, raw)
        try drop.run()
    }

    /// The other content as a record of its own, with what the sample has besides.
    private func batch(
        _ conflict: RecordConflict, _ uuid: SampleID, _ row: StoredRow, metadata: [UInt8]
    ) -> RecordBatch {
        var batch = RecordBatch()
        batch.types = [conflict.type]
        batch.units = [conflict.told.unit]
        batch.origins = [Origin(sourceName: conflict.source)]
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
