import PostgreSQL

extension PostgresSchema {
    /// Creates the views that are missing, and updates those whose query has changed.
    ///
    /// A view only ever gains columns. People build their own views on these, and dropping a view would drop those too;
    /// so it is replaced in place, and its columns keep their positions. A column whose figure no longer exists is
    /// NULL.
    /// - Throws: `PostgresError`, or `PostgresStoreError` if a column's type has changed and somebody's view depends on
    ///   it.
    func prepareViews(_ connection: PostgresConnection) throws {
        guard !views.isEmpty else { return }
        let schema = Self.viewSchema(of: name)
        try makeSchema(schema, connection)
        let found = try connection.execute(
            "SELECT name, text FROM \(table("view_texts")) WHERE to_regclass($1 || quote_ident(name)) IS NOT NULL",
            ["\"\(schema)\"."])
        let there = Dictionary(
            (0..<found.count).map { (found.text($0, 0) ?? "", found.text($0, 1) ?? "") }, uniquingKeysWith: { $1 })
        for view in views where there[view.name] != view.query {
            let place = "\"\(schema)\".\"\(view.name)\""
            try replace(view, at: place, connection)
            for comment in view.comments { try connection.execute(comment) }
            _ = try connection.execute(
                """
                INSERT INTO \(table("view_texts")) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET text = excluded.text
                """, [view.name, view.query])
        }
    }

    private func replace(_ view: PostgresView, at place: String, _ connection: PostgresConnection) throws {
        let found = try connection.execute(
            """
            SELECT quote_ident(attname), attname, format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """, [place])
        let there = (0..<found.count).map {
            (found.text($0, 0) ?? "", found.text($0, 1) ?? "", found.text($0, 2) ?? "")
        }
        let kept = there.map { quoted, name, type in
            view.columns.contains(name) ? "v.\(quoted)" : "NULL::\(type) AS \(quoted)"
        }
        let names = Set(there.map(\.1))
        let new = view.columns.filter { !names.contains($0) }.map { "v.\"\($0)\"" }
        try connection.execute("SAVEPOINT view")
        do { try connection.execute(statement(place, kept + new, view)) } catch {
            guard Self.anotherShape.contains(error.state ?? "") else { throw error }
            try connection.execute("ROLLBACK TO SAVEPOINT view")
            try drop(place, connection)
            try connection.execute(statement(place, view.columns.map { "v.\"\($0)\"" }, view))
        }
        try connection.execute("RELEASE SAVEPOINT view")
    }

    private func statement(_ place: String, _ columns: [String], _ view: PostgresView) -> String {
        "CREATE OR REPLACE VIEW \(place) AS SELECT \(columns.joined(separator: ", ")) FROM (\(view.query)) AS v"
    }

    private func drop(_ place: String, _ connection: PostgresConnection) throws {
        do { try connection.execute("DROP VIEW \(place)") } catch {
            if error.state == Self.isNeeded { throw PostgresStoreError.viewInUse(place) }
            throw error
        }
    }

    /// The errors that the server reports when a view can't be replaced because the type of one of its columns has
    /// changed.
    private static let anotherShape = ["42P16", "42809"]
    /// The error for dropping a view that something else is built on.
    private static let isNeeded = "2BP01"
}
