import PostgreSQL

/// The statements that move staged rows into a table according to the version rule.
struct Upsert {
    var copy: String
    /// Inserts the staged rows that aren't in the table yet; $1 is the user.
    var insert: String
    /// Updates the rows for which a newer one is staged.
    var update: String
    /// The ids of elements that have a row with the same version but different content; $1 is the user. Run only if
    /// some elements were already known.
    var conflicts: String
}

extension PostgresStore {
    /// The part of a sample that makes up its content; `healthkit_uuid` may be learned later.
    static let content = ["type", "start_time", "end_time", "value", "unit", "source", "manual"]
    static let contentJSON = ["metadata", "payload"]

    /// Whether two rows differ in a column. JSON is compared by its meaning, and a null member counts as a missing one.
    static func differ(_ first: String, _ second: String, _ columns: [String], json: [String]) -> String {
        let plain = columns.map { "\(first).\($0) IS DISTINCT FROM \(second).\($0)" }
        let texts = json.map {
            """
            (\(first).\($0) IS DISTINCT FROM \(second).\($0)
                AND coalesce(jsonb_strip_nulls(\(first).\($0)), '{}') <> coalesce(jsonb_strip_nulls(\(second).\($0)), '{}'))
            """
        }
        return "(" + (plain + texts).joined(separator: " OR ") + ")"
    }

    /// Looks up each staged row by its key: OFFSET keeps the planner from reading the table instead.
    private static func conflicts(
        _ table: String, staged: String, key: [String], _ columns: [String], json: [String]
    ) -> String {
        let same = (key + ["version"]).map { "\($0) = staged.\($0)" }.joined(separator: " AND ")
        return """
            SELECT staged.id FROM \(staged) staged, LATERAL (
                SELECT * FROM \(table) WHERE user_id = $1::text AND \(same) AND NOT deleted OFFSET 0) held
            WHERE NOT staged.deleted AND \(differ("held", "staged", columns, json: json))
            """
    }

    /// A deletion keeps type and times, and drops the value.
    static func sampleUpsert(_ schema: PostgresSchema) -> Upsert {
        let columns = SampleRows.columns
        // The newest of several rows with the same id; in key order, so that each page of the index is written only
        // once, and concurrent writers don't deadlock.
        let select = """
            INSERT INTO \(schema.table("samples")) AS held (user_id, \(columns))
            SELECT $1::text, \(columns) FROM (
                SELECT DISTINCT ON (id) * FROM staged ORDER BY id, version DESC, deleted DESC) newest
            """
        let kept = ["type", "start_time", "end_time"].map {
            "\($0) = CASE WHEN excluded.deleted THEN coalesce(held.\($0), excluded.\($0)) ELSE excluded.\($0) END"
        }
        return Upsert(
            copy: "COPY staged (\(columns)) FROM STDIN (FORMAT binary)",
            insert: select + " ON CONFLICT (user_id, id) DO NOTHING",
            update: select + """
                 ON CONFLICT (user_id, id) DO UPDATE SET version = excluded.version, deleted = excluded.deleted,
                \(kept.joined(separator: ", ")), value = excluded.value, unit = excluded.unit, source = excluded.source,
                manual = excluded.manual, healthkit_uuid = coalesce(excluded.healthkit_uuid, held.healthkit_uuid),
                metadata = excluded.metadata, payload = excluded.payload
                WHERE \(newer)
                """,
            conflicts: conflicts(
                schema.table("samples"), staged: "staged", key: ["id"], content, json: contentJSON))
    }

    static func documentUpsert(_ schema: PostgresSchema) -> Upsert {
        let columns = DocumentRows.columns
        let select = """
            INSERT INTO \(schema.table("documents")) AS held (user_id, \(columns))
            SELECT $1::text, \(columns) FROM (
                SELECT DISTINCT ON (kind, id) * FROM staged_documents ORDER BY kind, id, version DESC, deleted DESC) newest
            """
        let kept = ["start_time", "end_time", "date"].map {
            "\($0) = CASE WHEN excluded.deleted THEN held.\($0) ELSE excluded.\($0) END"
        }
        return Upsert(
            copy: "COPY staged_documents (\(columns)) FROM STDIN (FORMAT binary)",
            insert: select + " ON CONFLICT (user_id, kind, id) DO NOTHING",
            update: select + """
                 ON CONFLICT (user_id, kind, id) DO UPDATE SET version = excluded.version, deleted = excluded.deleted,
                \(kept.joined(separator: ", ")), body = excluded.body
                WHERE \(newer)
                """,
            conflicts: conflicts(
                schema.table("documents"), staged: "staged_documents", key: ["kind", "id"], [], json: ["body"]))
    }

    private static let newer =
        "excluded.version > held.version OR (excluded.version = held.version AND excluded.deleted AND NOT held.deleted)"
}
