import HealthModel

extension HealthViews {
    /// The views on PostgreSQL's tables `samples` and `documents`. They have a schema of their own, since a view can't
    /// have the same name as a table in its schema.
    ///
    /// `samples` has the columns `user_id`, `id`, `version`, `deleted`, `type`, `start_time`, `end_time`, `value`,
    /// `unit`, `source`, `manual`, `healthkit_uuid`, `metadata`, `payload`; `documents` has `user_id`, `kind` (day,
    /// workout, night), `id`, `version`, `deleted`, `start_time`, `end_time`, `date` (of days and nights), `body`. A
    /// view whose query is unchanged needn't be created again.
    /// - Parameters:
    ///   - tables: the schema of the tables.
    ///   - schema: the schema of the views.
    package func postgres(over tables: String, in schema: String) -> [ViewStatement] {
        let text = PostgresText(tables: ColumnName.quoted(tables))
        return all.map { view in
            let name = "\(ColumnName.quoted(schema)).\(view.name)"
            let columns = view.columns.map { "\(text.expression(of: $0)) AS \(ColumnName.quoted($0.name))" }
            return ViewStatement(
                name: view.name, place: name,
                query: """
                    SELECT \(columns.joined(separator: ",\n    "))
                    \(text.rows(of: view.name))
                    """,
                columns: view.columns.map(\.name),
                comments: ["COMMENT ON VIEW \(name) IS \(ColumnName.literal(view.summary))"]
                    + view.columns.map {
                        "COMMENT ON COLUMN \(name).\(ColumnName.quoted($0.name)) IS \(ColumnName.literal($0.meaning))"
                    })
        }
    }
}

/// The parts from which PostgreSQL's statements are made.
private struct PostgresText {
    /// The tables' schema, quoted.
    let tables: String

    func rows(of view: HealthView.Name) -> String {
        switch view {
        case .samples: "FROM (\(samples)) r"
        case .days: "FROM (\(documents("day"))) r"
        case .workouts: "FROM (\(documents("workout"))) r"
        case .nights: "FROM (\(documents("night"))) r"
        case .workoutParts:
            """
            FROM (SELECT d.user_id, d.id AS workout_id, CASE l.name WHEN 'activities' THEN 'activity'
                    ELSE lower(replace(p.part ->> 'type', 'HKWorkoutEventType', '')) END AS kind,
                (p.part ->> 'start')::timestamptz AS start_date, (p.part ->> 'end')::timestamptz AS end_date, p.part AS body, d.version
                FROM (\(documents("workout"))) d CROSS JOIN (VALUES ('activities'), ('events')) AS l(name)
                CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(d.body -> l.name)
                    WHEN 'array' THEN d.body -> l.name ELSE '[]' END) AS p(part) WHERE jsonb_typeof(p.part) = 'object') r
            """
        case .bloodPressures: "FROM (\(HealthViews.pressures(from: samples))) r"
        case .hours:
            """
            FROM (SELECT d.user_id, d.date, d.body, (h.place - 1)::integer AS index, substr(h.start, 12, 2)::integer AS hour,
                h.start::timestamptz AS start_date
                FROM (\(documents("day"))) d
                CROSS JOIN LATERAL jsonb_array_elements_text(CASE jsonb_typeof(d.body #> '{hours,start}')
                    WHEN 'array' THEN d.body #> '{hours,start}' ELSE '[]' END) WITH ORDINALITY AS h(start, place)) r
            """
        case .sources:
            """
            FROM (SELECT user_id, source, type, count(*) AS samples, min(start_date) AS first_date, max(start_date) AS last_date
                FROM (\(samples)) s GROUP BY user_id, source, type) r
            """
        }
    }

    func expression(of column: ViewColumn) -> String {
        switch column.content {
        case .own: ColumnName.quoted(column.name)
        case .member(let path):
            member("body" + path.map { " -> \(ColumnName.literal($0))" }.joined(), column.kind, column.absent)
        case .hour(let name): member("body -> 'hours' -> \(ColumnName.literal(name)) -> index", column.kind)
        }
    }

    /// The value; NULL, or whatever stands in for it, if the value isn't of the type that the column promises.
    private func member(_ json: String, _ kind: ViewColumn.Kind, _ absent: Value? = nil) -> String {
        func when(_ types: String, _ then: String) -> String {
            "CASE WHEN jsonb_typeof(\(json)) IN (\(types)) THEN \(then) END"
        }
        let text = "((\(json)) #>> '{}')"
        switch kind {
        case .real: return when("'number'", "\(text)::double precision")
        // A number with a fraction can't be cast to an integer, and would make the whole query fail.
        case .integer:
            return "CASE WHEN jsonb_typeof(\(json)) = 'number' AND \(text) ~ '^-?[0-9]{1,18}$' THEN \(text)::bigint END"
        case .boolean: return when("'boolean'", "\(text)::boolean")
        case .json:
            let otherwise = absent.map { " ELSE \(ColumnName.literal($0.json()))::jsonb" } ?? ""
            return "CASE WHEN jsonb_typeof(\(json)) IN ('object', 'array') THEN \(json)\(otherwise) END"
        case .text, .date, .moment, .uuid: return when("'string'", text)
        }
    }

    private var samples: String {
        """
        SELECT id, user_id, type, start_time AS start_date, end_time AS end_date, value, nullif(unit, '') AS unit,
            nullif(source, '') AS source, CASE WHEN manual THEN 'manual' ELSE 'healthkit' END AS source_type, healthkit_uuid,
            metadata, payload, version
            FROM \(tables).samples WHERE NOT deleted
        """
    }

    private func documents(_ kind: String) -> String {
        """
        SELECT user_id, id, date, version, start_time AS start_date, end_time AS end_date, body
            FROM \(tables).documents WHERE kind = '\(kind)' AND NOT deleted
        """
    }
}
