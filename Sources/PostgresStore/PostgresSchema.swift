import HealthViews
import PostgreSQL

/// The tables of a store in PostgreSQL, and the views on them. `docs/postgres.md` explains their design.
package struct PostgresSchema: Sendable, Equatable {
    /// The tables' schema.
    package let name: String
    /// The views for queries, in a schema of their own: a view can't share a table's name in the same schema.
    package let views: [PostgresView]
    /// What a program needs besides the store's own parts.
    private let added: [PostgresPart]

    /// The version that this release writes.
    static let version: Int64 = 1

    /// - Returns: nil for a name that can't be used: it must begin with a lower-case letter but not with `pg_`, contain
    ///   only lower-case letters, digits and `_`, and have at most 50 of them.
    package init?(_ name: String, views: [PostgresView] = [], adding added: [PostgresPart] = []) {
        guard let first = name.utf8.first, (0x61...0x7A).contains(first), name.utf8.count <= 50,
            name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }),
            !name.hasPrefix("pg_")
        else { return nil }
        (self.name, self.views, self.added) = (name, views, added)
    }

    /// Includes the views for queries; nil for a name that can't be used.
    package init?(_ name: String, views: HealthViews, adding added: [PostgresPart] = []) {
        self.init(
            name,
            views: views.postgres(over: name, in: Self.viewSchema(of: name)).map {
                PostgresView(name: $0.name.rawValue, query: $0.query, columns: $0.columns, comments: $0.comments)
            }, adding: added)
    }

    /// Where the views are.
    package static func viewSchema(of name: String) -> String { name + "_views" }

    /// The name of one of its tables, as written in statements.
    func table(_ table: String) -> String { "\"\(name)\".\(table)" }

    /// Its tables, constraints and indexes, each after those that it needs.
    ///
    /// Strings are compared by bytes: keys need nothing else, and it is several times as fast as sorting by a language's
    /// rules.
    var parts: [PostgresPart] {
        [
            .table(
                "samples",
                columns: [
                    "user_id text COLLATE \"C\" NOT NULL", "id uuid NOT NULL", "version bigint NOT NULL",
                    "deleted boolean NOT NULL", "type text COLLATE \"C\"", "start_time timestamptz",
                    "end_time timestamptz", "value double precision", "unit text", "source text",
                    "manual boolean NOT NULL", "healthkit_uuid uuid", "metadata jsonb", "payload jsonb",
                ], more: "PARTITION BY RANGE (id)", holdsElements: true),
            .primaryKey("user_id, id", of: "samples"),
            .index("samples_time", on: "samples", "(user_id, type, start_time) WHERE NOT deleted"),
            .defaultPartition("samples_other", of: "samples"), .attachedPartition("samples_other", to: "samples"),
            .table(
                "documents",
                columns: [
                    "user_id text COLLATE \"C\" NOT NULL", "kind text COLLATE \"C\" NOT NULL",
                    "id text COLLATE \"C\" NOT NULL", "version bigint NOT NULL", "deleted boolean NOT NULL",
                    "start_time timestamptz", "end_time timestamptz", "date date", "body jsonb",
                ], holdsElements: true),
            .primaryKey("user_id, kind, id", of: "documents"),
            .index("documents_date", on: "documents", "(user_id, kind, date) WHERE NOT deleted"),
            .table("view_texts", columns: ["name text", "text text NOT NULL"]),
            .primaryKey("name", of: "view_texts"),
            .table(
                "meta",
                columns: [
                    "only_row boolean DEFAULT true", "schema_version bigint NOT NULL", "generation text NOT NULL",
                    "sequence bigint NOT NULL", "created bigint NOT NULL DEFAULT 0",
                    "updated bigint NOT NULL DEFAULT 0", "lost bigint NOT NULL DEFAULT 0",
                ]),
            .primaryKey("only_row", of: "meta"), .check("only_row", of: "meta"),
        ] + added
    }

    /// How many elements it has, as an expression.
    var rows: String {
        "((SELECT count(*) FROM \(table("samples"))) + (SELECT count(*) FROM \(table("documents"))))"
    }

    /// Manual samples that aren't deleted are unique by user, type and start. The index belongs to the partition, since
    /// an index on the whole table would have to contain `id`; an id begins with its sample's start, so samples of the
    /// same moment are in one partition.
    func momentIndex(on partition: String) -> String {
        """
        CREATE UNIQUE INDEX \(partition)_moment ON \(table(partition)) (user_id, type, start_time)
            WHERE manual AND NOT deleted
        """
    }
}

/// The desired form of a view.
package struct PostgresView: Sendable, Equatable {
    package var name: String
    /// `SELECT …`
    package var query: String
    /// Names of the query's columns.
    package var columns: [String]
    /// Statements that describe it and its columns.
    package var comments: [String]

    package init(name: String, query: String, columns: [String], comments: [String] = []) {
        (self.name, self.query, self.columns, self.comments) = (name, query, columns, comments)
    }
}
