import HealthModel

extension HealthViews {
    /// The views on the tables in the reference backend's file: `sample_rows`, `kinds`, `texts`, `documents`.
    ///
    /// The rows are packed; the views unpack them with plain SQL, so that any tool with SQLite 3.35 or later can read
    /// them.
    package var sqlite: [ViewStatement] {
        all.map { view in
            let columns = view.columns.map { "\(SQLiteText.expression(of: $0)) AS \(ColumnName.quoted($0.name))" }
            return ViewStatement(
                name: view.name, place: "\(view.name)",
                query: """
                    SELECT \(columns.joined(separator: ",\n    "))
                    \(SQLiteText.rows(of: view.name))
                    """, columns: view.columns.map(\.name), comments: [])
        }
    }
}

extension HealthViews {
    /// The views that are made from samples alone, on a table `samples` that also has `start_us`.
    package static var ofSamples: [(name: HealthView.Name, query: String)] {
        [
            (.bloodPressures, pressures(from: "SELECT * FROM samples")),
            (
                .sources,
                """
                SELECT user_id, source, type, count(*) AS samples, \(SQLiteText.moment("min(start_us)")) AS first_date,
                    \(SQLiteText.moment("max(start_us)")) AS last_date FROM samples GROUP BY user_id, source, type
                """
            ),
        ]
    }
}

/// The parts from which SQLite's statements are made.
private enum SQLiteText {
    static func rows(of view: HealthView.Name) -> String {
        switch view {
        case .samples: "FROM (\(samples))"
        case .days: "FROM (\(documents(0)))"
        case .workouts: "FROM (\(documents(1)))"
        case .nights: "FROM (\(documents(2)))"
        case .workoutParts:
            """
            FROM (SELECT user_id, workout_id, kind, json_extract(body, '$.start') AS start_date, json_extract(body, '$.end') AS end_date,
                body, version FROM (
                SELECT d.user_id, d.id AS workout_id, 'activity' AS kind, p.value AS body, d.version
                FROM (\(documents(1))) d JOIN json_each(d.body, '$.activities') p WHERE p.type = 'object'
                UNION ALL
                SELECT d.user_id, d.id, lower(replace(json_extract(p.value, '$.type'), 'HKWorkoutEventType', '')), p.value, d.version
                FROM (\(documents(1))) d JOIN json_each(d.body, '$.events') p WHERE p.type = 'object'))
            """
        case .bloodPressures: "FROM (\(HealthViews.pressures(from: samples)))"
        case .hours:
            // The list of the hours' start times shows how many hours there are and when each begins, with the local
            // clock's offset.
            """
            FROM (SELECT d.user_id, d.date, d.body, h.key AS "index", CAST(substr(h.value, 12, 2) AS INTEGER) AS hour,
                strftime('%Y-%m-%dT%H:%M:%SZ', h.value) AS start_date
                FROM (\(documents(0))) d JOIN json_each(d.body, '$.hours.start') h)
            """
        case .sources:
            """
            FROM (SELECT user_id, s.source AS source, t.type AS type, count(*) AS samples, \(moment("min(start_us)")) AS first_date,
                \(moment("max(start_us)")) AS last_date FROM (\(times)) r \(names) GROUP BY r.user, k.source, k.type)
            """
        }
    }

    static func expression(of column: ViewColumn) -> String {
        switch column.content {
        case .own: ColumnName.quoted(column.name)
        case .member(let path):
            member(ColumnName.literal("$" + path.map { ".\"\($0)\"" }.joined()), column.kind, column.absent)
        case .hour(let name):
            member(ColumnName.literal("$.\"hours\".\"\(name)\"[") + " || \"index\" || ']'", column.kind)
        }
    }

    /// The value; NULL, or whatever stands in for it, if the value isn't of the type that the column promises.
    private static func member(_ path: String, _ kind: ViewColumn.Kind, _ absent: Value? = nil) -> String {
        let types =
            switch kind {
            case .integer: "'integer'"
            case .real: "'integer', 'real'"
            case .boolean: "'true', 'false'"
            case .json: "'object', 'array'"
            case .text, .date, .moment, .uuid: "'text'"
            }
        let otherwise = absent.map { " ELSE \(ColumnName.literal($0.json()))" } ?? ""
        return "CASE WHEN json_type(body, \(path)) IN (\(types)) THEN json_extract(body, \(path))\(otherwise) END"
    }

    /// Formats microseconds since 1970 as ISO 8601.
    static func moment(_ time: String) -> String {
        let rest = "((\(time)) % 1000000 + 1000000) % 1000000"
        return "strftime('%Y-%m-%dT%H:%M:%S', ((\(time)) - \(rest)) / 1000000, 'unixepoch')"
            + " || CASE \(rest) WHEN 0 THEN '' ELSE rtrim(printf('.%06d', \(rest)), '0') END || 'Z'"
    }

    /// The text of a UUID for a 16-byte id; any other id is already text.
    private static func uuid(_ id: String) -> String {
        let parts = ["1, 8", "9, 4", "13, 4", "17, 4", "21"].map { "substr(hex(\(id)), \($0))" }
        return "CASE typeof(\(id)) WHEN 'blob' THEN lower(\(parts.joined(separator: " || '-' || "))) ELSE \(id) END"
    }

    /// The milliseconds in an id's first 48 bits. A byte's value is its position in a list of the bytes 1 to 255; a
    /// byte that isn't in the list is 0.
    private static let idMilliseconds: String = {
        let hex = Array("0123456789ABCDEF")
        let bytes = (1...255).map { "\(hex[$0 / 16])\(hex[$0 % 16])" }.joined()
        return (0..<6).map { "(instr(x'\(bytes)', substr(id, \($0 + 1), 1)) << \(40 - 8 * $0))" }.joined(
            separator: " + ")
    }()

    /// Samples that aren't deleted, with their times in microseconds, as packed by `StoredTimes`. The LIMIT clauses
    /// exclude nothing, but keep SQLite from repeating the long expressions wherever the time is used.
    private static let times = """
        SELECT *, start_us + CASE WHEN duration < 0 THEN -duration ELSE duration * 1000000 END AS end_us
            FROM (SELECT user, id, kind, version, duration, value, uuid, metadata, payload,
                shift + CASE typeof(id) WHEN 'blob' THEN 1000 * (\(idMilliseconds)) ELSE 0 END AS start_us
                FROM sample_rows WHERE deleted = 0 LIMIT -1) LIMIT -1
        """

    /// Looks up the names for the numbers in a row `r` of `times`. With this order of joins, SQLite walks the rows once
    /// and needs no temporary storage.
    private static let names = """
        CROSS JOIN kinds k ON k.id = r.kind CROSS JOIN (SELECT id, text AS type FROM texts) t ON t.id = k.type
            CROSS JOIN (SELECT id, text AS user_id FROM texts) u ON u.id = r.user
            LEFT JOIN (SELECT id, text AS unit FROM texts) n ON n.id = k.unit
            LEFT JOIN (SELECT id, text AS source FROM texts) s ON s.id = k.source
        """

    private static let samples = """
        SELECT \(uuid("r.id")) AS id, user_id, t.type AS type, \(moment("start_us")) AS start_date, \(moment("end_us")) AS end_date,
            value, n.unit AS unit, s.source AS source, CASE k.manual WHEN 0 THEN 'healthkit' ELSE 'manual' END AS source_type,
            \(uuid("uuid")) AS healthkit_uuid,
            CASE typeof(metadata) WHEN 'integer' THEN (SELECT text FROM texts WHERE texts.id = metadata)
                ELSE metadata END AS metadata, payload, version
            FROM (\(times)) r \(names)
        """

    private static func documents(_ kind: Int) -> String {
        """
        SELECT u.text AS user_id, d.id AS id, \(kind == 0 ? "d.id" : "d.date") AS date, d.version AS version,
            \(moment("d.start")) AS start_date, \(moment("d.\"end\"")) AS end_date, d.body AS body
            FROM documents d JOIN texts u ON u.id = d.user WHERE d.kind = \(kind) AND d.deleted = 0
        """
    }
}
