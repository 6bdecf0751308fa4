import HealthModel
import PostgreSQL

/// What a store keeps of a user, id by id and including tombstones. Changes nothing.
package struct PostgresVersions {
    package struct Row: Sendable, Equatable {
        package var id: String
        package var version: Int64
        package var isDeleted: Bool
        /// The `ContentNumber`; 0 if it is deleted, if it can no longer be read, or if none was requested.
        package var content: Int64
        /// Documents only.
        package var start: Instant?
        package var end: Instant?
        package var date: String?
    }

    private let schema: PostgresSchema
    private let user: String
    private let withContents: Bool
    private let connection: PostgresConnection

    package init(of user: String, in schema: PostgresSchema, withContents: Bool, _ connection: PostgresConnection) {
        (self.schema, self.user, self.withContents, self.connection) = (schema, user, withContents, connection)
    }

    /// Samples, by id.
    /// - Parameters:
    ///   - id: only samples after this one; nil for all.
    ///   - times: only samples that touch this range: its begin and its end, in a form that PostgreSQL reads.
    package func samples(after id: SampleID?, times: [String?] = [], limit: Int) throws -> [Row] {
        // A tombstone that came before its sample has no times, so it belongs to every range.
        let touches =
            times.isEmpty
            ? "" : "AND (start_time IS NULL OR (end_time >= $3::timestamptz AND start_time < $4::timestamptz))"
        // Only a made-up UUID could be the lowest of all.
        let found = try connection.execute(
            """
            SELECT id, version, type, (extract(epoch FROM start_time) * 1000000)::bigint,
                (extract(epoch FROM end_time) * 1000000)::bigint, value, source, deleted
            FROM \(schema.table("samples")) WHERE user_id = $1 AND id > $2::uuid \(touches)
            ORDER BY id LIMIT \(limit)
            """, [user, (id ?? SampleID(high: 0, low: 0)).description] + times)
        var texts: [String: UInt64] = [:]
        func number(_ text: String) -> UInt64 {
            if let number = texts[text] { return number }
            let number = ContentNumber.text(text)
            texts[text] = number
            return number
        }
        return (0..<found.count).map { row in
            let isDeleted = found.bool(row, 7)
            let content =
                isDeleted || !withContents
                ? 0
                : ContentNumber.sample(
                    type: number(found.text(row, 2) ?? ""), start: Instant(microseconds: found.integer(row, 3) ?? 0),
                    end: Instant(microseconds: found.integer(row, 4) ?? 0),
                    value: found.text(row, 5).flatMap { Double($0) }, source: number(found.text(row, 6) ?? ""))
            return Row(
                id: found.text(row, 0) ?? "", version: found.integer(row, 1) ?? 0, isDeleted: isDeleted,
                content: content)
        }
    }

    /// Documents of a kind, by id.
    /// - Parameter id: only documents after this one; empty for all.
    package func documents(_ kind: PostgresDocument.Kind, after id: String, limit: Int) throws -> [Row] {
        let found = try connection.execute(
            """
            SELECT id, version, deleted, \(withContents ? "body" : "NULL"),
                (extract(epoch FROM start_time) * 1000000)::bigint, (extract(epoch FROM end_time) * 1000000)::bigint, date
            FROM \(schema.table("documents")) WHERE user_id = $1 AND kind = '\(kind.rawValue)' AND id > $2
            ORDER BY id LIMIT \(limit)
            """, [user, id])
        return (0..<found.count).map { row in
            let isDeleted = found.bool(row, 2)
            let content =
                isDeleted || !withContents ? nil : try? ContentNumber.document(json: (found.text(row, 3) ?? "").utf8)
            return Row(
                id: found.text(row, 0) ?? "", version: found.integer(row, 1) ?? 0, isDeleted: isDeleted,
                content: content ?? 0, start: found.integer(row, 4).map { Instant(microseconds: $0) },
                end: found.integer(row, 5).map { Instant(microseconds: $0) }, date: found.text(row, 6))
        }
    }
}

extension PostgresStore {
    /// Reads what is kept of a user, together with the generation that it belongs to.
    package func versions<Rows>(
        of user: String, _ read: (PostgresVersions) throws -> Rows
    ) throws -> (rows: Rows, generation: String) {
        try connection.transaction {
            try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let generation = try identity().generation
            return (
                try read(PostgresVersions(of: user, in: schema, withContents: true, connection)), generation
            )
        }
    }
}
