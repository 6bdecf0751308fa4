/// A table, constraint or index of a schema. Each is looked for, and made, on its own, so that a part that somebody
/// dropped comes back.
package enum PostgresPart: Sendable, Equatable {
    /// - columns: their definitions, each beginning with the name.
    /// - more: what follows them.
    /// - holdsElements: whether elements are lost with it.
    case table(String, columns: [String], more: String = "", holdsElements: Bool = false)
    /// The partition for everything that no other takes. One that was detached is attached again: without it, elements
    /// have no place.
    case defaultPartition(String, of: String)
    case attachedPartition(String, to: String)
    case primaryKey(String, of: String)
    /// A table has one at most.
    case check(String, of: String)
    case index(String, on: String, String)
}

extension PostgresPart {
    /// The table that it is or belongs to.
    var table: String {
        switch self {
        case .table(let name, _, _, _), .defaultPartition(let name, _), .attachedPartition(let name, _): name
        case .primaryKey(_, let table), .check(_, let table), .index(_, let table, _): table
        }
    }

    var holdsElements: Bool {
        switch self {
        case .table(_, _, _, let holdsElements): holdsElements
        case .defaultPartition, .attachedPartition: true
        case .primaryKey, .check, .index: false
        }
    }

    /// An expression for whether it is missing; valid whatever else is missing.
    func isMissing(in schema: PostgresSchema) -> String {
        func place(_ name: String) -> String { "to_regclass('\(schema.table(name))')" }
        func lacks(_ type: String) -> String {
            """
            NOT EXISTS (SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = \(place(table)) AND contype = '\(type)')
            """
        }
        return switch self {
        case .table(let name, _, _, _), .defaultPartition(let name, _), .index(let name, _, _):
            "\(place(name)) IS NULL"
        case .attachedPartition(let name, let whole):
            """
            \(place(name)) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits
                WHERE inhrelid = \(place(name)) AND inhparent = \(place(whole)))
            """
        case .primaryKey: lacks("p")
        case .check: lacks("c")
        }
    }

    /// An expression for whether it is there but can't be used, since it lacks columns.
    func isDamaged(in schema: PostgresSchema) -> String {
        guard case .table(let name, let columns, _, _) = self else { return "false" }
        let names = columns.map { "'\($0.prefix { $0 != " " })'" }.joined(separator: ", ")
        let place = "to_regclass('\(schema.table(name))')"
        return """
            \(place) IS NOT NULL AND (SELECT count(*) FROM pg_catalog.pg_attribute
                WHERE attrelid = \(place) AND attname IN (\(names)) AND NOT attisdropped) < \(columns.count)
            """
    }

    /// The statement that makes it.
    func making(in schema: PostgresSchema) -> String {
        switch self {
        case .table(let name, let columns, let more, _):
            "CREATE TABLE \(schema.table(name)) (\(columns.joined(separator: ", "))) \(more)"
        case .defaultPartition(let name, let whole):
            "CREATE TABLE \(schema.table(name)) PARTITION OF \(schema.table(whole)) DEFAULT"
        case .attachedPartition(let name, let whole):
            "ALTER TABLE \(schema.table(whole)) ATTACH PARTITION \(schema.table(name)) DEFAULT"
        case .primaryKey(let columns, let table): "ALTER TABLE \(schema.table(table)) ADD PRIMARY KEY (\(columns))"
        case .check(let condition, let table): "ALTER TABLE \(schema.table(table)) ADD CHECK (\(condition))"
        case .index(let name, let table, let definition):
            "CREATE INDEX \(name) ON \(schema.table(table)) \(definition)"
        }
    }
}
