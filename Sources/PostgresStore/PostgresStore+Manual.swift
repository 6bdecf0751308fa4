import HealthModel
import PostgreSQL

/// Manual samples that aren't deleted: of those with the same user, type and start, only the one with the highest
/// version stays. The others become tombstones of their own versions.
///
/// There are few of them, so each is written separately, with the user's lock held: two that arrive at the same time
/// under different ids can't both be the first.
extension PostgresStore {
    func putManual(
        _ rows: [Int], of batch: PostgresBatch, _ namesElements: Bool, _ outcome: inout PostgresOutcome
    ) throws {
        guard !rows.isEmpty else { return }
        _ = try connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", ["\(schema.name) \(batch.user)"])
        let fields = PageFields(batch.samples)
        for row in rows {
            let id = batch.samples.ids[row].description
            switch try putManual([batch.user] + fields.parameters(row)) {
            case .created:
                outcome.created += 1
                if namesElements { outcome.createdIDs.append(id) }
            case .updated:
                outcome.updated += 1
                if namesElements { outcome.updatedIDs.append(id) }
            case .known: outcome.known += 1
            case .conflict:
                outcome.known += 1
                outcome.conflicts.append(id)
            }
        }
    }

    private enum Verdict { case created, updated, known, conflict }

    /// - Parameter values: the user, then `SampleRows.columns`.
    private func putManual(_ values: [String?]) throws -> Verdict {
        let table = schema.table("samples")
        let held = try connection.execute(
            """
            SELECT id = $2::uuid, version < $3::bigint, id FROM \(table) WHERE user_id = $1 AND (id = $2::uuid
                OR (type = $4 AND start_time = $5::timestamptz AND manual AND NOT deleted))
            """, [values[0], values[1], values[2], values[4], values[5]])
        let own = (0..<held.count).first { held.bool($0, 0) }
        let other = (0..<held.count).first { !held.bool($0, 0) }
        if let own, !held.bool(own, 1) { return try contradicts(values) ? .conflict : .known }
        if let other {
            guard held.bool(other, 1) else {
                // This sample gives way. If it has a row, that is of an older version, which no longer counts either.
                guard own != nil else { return .known }
                try entomb(values[1], version: values[2], user: values[0])
                return .updated
            }
            try entomb(held.text(other, 2), version: nil, user: values[0])
        }
        if own == nil {
            _ = try connection.execute(
                "INSERT INTO \(table) (user_id, \(SampleRows.columns)) VALUES ($1, \(Self.parameters))", values)
            return .created
        }
        _ = try connection.execute(
            """
            UPDATE \(table) held SET (\(SampleRows.columns)) = ROW(\(Self.parameters.replacing("$12::uuid", with: "coalesce($12::uuid, held.healthkit_uuid)")))
            WHERE user_id = $1 AND id = $2::uuid
            """, values)
        return .updated
    }

    /// Makes a sample a tombstone, unless a deletion has come first.
    /// - Parameter version: the tombstone's; nil for the sample's own.
    private func entomb(_ id: String?, version: String?, user: String?) throws {
        _ = try connection.execute(
            """
            UPDATE \(schema.table("samples")) SET version = coalesce($3::bigint, version), deleted = true, value = NULL,
                unit = NULL, source = NULL, manual = false, metadata = NULL, payload = NULL
            WHERE user_id = $1 AND id = $2::uuid AND ($3::bigint IS NULL AND NOT deleted OR version < $3::bigint)
            """, [user, id, version])
    }

    /// Whether a row with the same id and version has different content.
    private func contradicts(_ values: [String?]) throws -> Bool {
        let found = try connection.execute(
            """
            SELECT true FROM \(schema.table("samples")) held,
                (SELECT \(Self.parameters)) sent (\(SampleRows.columns))
            WHERE held.user_id = $1 AND held.id = sent.id AND held.version = sent.version AND NOT held.deleted
                AND \(Self.differ("held", "sent", Self.content, json: Self.contentJSON))
            """, values)
        return found.count > 0
    }

    private static let parameters = """
        $2::uuid, $3::bigint, $4::boolean, $5, $6::timestamptz, $7::timestamptz, $8::double precision, $9, $10,
        $11::boolean, $12::uuid, $13::jsonb, $14::jsonb
        """
}
