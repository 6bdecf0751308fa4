import HealthModel
import PostgreSQL
import PostgresStore
import TestSupport
import Testing

extension PostgresTests {
    /// Whatever part of a schema is dropped comes back, and what was lost with it is delivered again.
    @Suite struct PartTests {
        private let server: PostgresServer
        private let mine: PostgresConnection
        private let schema: PostgresSchema

        init() throws {
            server = try PostgresServer()
            mine = try PostgresConnection(url: server.url(), timeout: 30, program: "test")
            schema = try #require(
                PostgresSchema(
                    "healthbus",
                    views: ["documents", "samples"].map {
                        PostgresView(name: $0, query: "SELECT id AS a FROM healthbus.\($0)", columns: ["a"])
                    },
                    adding: [
                        .table("own", columns: ["id text", "number bigint NOT NULL DEFAULT 0"]),
                        .primaryKey("id", of: "own"), .check("number > 0", of: "own"),
                        .index("samples_own", on: "samples", "(user_id, value)"),
                    ]))
        }

        private func open() throws -> PostgresStore {
            try PostgresStore(url: server.url(), schema: schema, timeout: 30, program: "test")
        }

        private func rows(_ query: String) throws -> [String] {
            let found = try mine.execute(query, [])
            return (0..<found.count).map { found.text($0, 0) ?? "NULL" }
        }

        /// Every relation, column, constraint and index of the two schemas.
        private func catalog() throws -> [String] {
            try rows(
                """
                WITH relations AS (SELECT oid, relkind FROM pg_class WHERE relkind <> 't'
                    AND relnamespace IN (to_regnamespace('healthbus'), to_regnamespace('healthbus_views')))
                SELECT text FROM (
                    SELECT relkind::text || ' ' || oid::regclass AS text FROM relations
                    UNION ALL SELECT attrelid::regclass || '.' || attname || ' ' || format_type(atttypid, atttypmod)
                        || ' ' || attnotnull FROM pg_attribute JOIN relations ON oid = attrelid WHERE attnum > 0
                    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(c.oid)
                        FROM pg_constraint c JOIN relations r ON r.oid = conrelid
                    UNION ALL SELECT pg_get_indexdef(indexrelid) || ' ' || indisvalid
                        FROM pg_index JOIN relations ON oid = indrelid) all_of_them
                ORDER BY text COLLATE "C"
                """)
        }

        /// Five samples, a manual one, and a day.
        private func fill(_ store: PostgresStore) throws -> Int64 {
            let day = PostgresDocument(kind: .day, id: "2025-03-30", version: 3, body: "{}")
            return try [
                PostgresBatch(user: "me", samples: madePage(0..<5)),
                PostgresBatch(user: "me", samples: madePage(7..<8, flags: .manual)),
                PostgresBatch(user: "me", documents: [day]),
            ].reduce(0) { try $0 + store.put($1, seen: nil).created }
        }

        private static let drops: [(statement: String, lost: Int64)] = [
            ("DROP TABLE healthbus.samples CASCADE", 6), ("DROP TABLE healthbus.samples_2017", 6),
            ("DROP TABLE healthbus.documents CASCADE", 1), ("TRUNCATE healthbus.samples", 6),
            ("DROP TABLE healthbus.samples_other", 0),
            ("ALTER TABLE healthbus.samples DETACH PARTITION healthbus.samples_other", 0),
            ("DROP TABLE healthbus.meta", 0), ("DELETE FROM healthbus.meta", 0), ("DROP SCHEMA healthbus CASCADE", 7),
            ("DROP TABLE healthbus.samples, healthbus.documents, healthbus.meta, healthbus.view_texts CASCADE", 7),
        ]
        /// Nothing is lost with these.
        private static let others = [
            "DROP TABLE healthbus.view_texts", "DROP TABLE healthbus.own", "DROP INDEX healthbus.samples_time",
            "DROP INDEX healthbus.samples_own", "DROP INDEX healthbus.documents_date",
            "DROP INDEX healthbus.samples_2017_moment", "DROP INDEX healthbus.samples_other_moment",
            "ALTER TABLE healthbus.samples DROP CONSTRAINT samples_pkey",
            "ALTER TABLE healthbus.documents DROP CONSTRAINT documents_pkey",
            "ALTER TABLE healthbus.view_texts DROP CONSTRAINT view_texts_pkey",
            "ALTER TABLE healthbus.meta DROP CONSTRAINT meta_pkey",
            "ALTER TABLE healthbus.meta DROP CONSTRAINT meta_only_row_check",
            "ALTER TABLE healthbus.own DROP CONSTRAINT own_pkey",
            "ALTER TABLE healthbus.own DROP CONSTRAINT own_number_check",
            "DROP VIEW healthbus_views.documents", "DROP SCHEMA healthbus_views CASCADE",
        ]

        private func begin() throws -> PostgresStore {
            try mine.execute(
                "DROP SCHEMA IF EXISTS healthbus CASCADE; DROP SCHEMA IF EXISTS healthbus_views CASCADE")
            let store = try open()
            #expect(try fill(store) == 7)
            return store
        }

        @Test func aComparisonMakesWhatIsMissing() throws {
            for (drop, lost) in Self.drops + Self.others.map({ ($0, -1) }) {
                let store = try begin()
                let (before, whole) = (try store.identity(), try catalog())
                try mine.execute(drop)
                let found = try store.holdings(countsRows: true)
                #expect((found.identity.generation != before.generation) == (lost >= 0), "\(drop)")
                #expect(try fill(store) == max(lost, 0), "\(drop)")
                #expect(try catalog() == whole, "\(drop)")
                let last = try store.holdings(countsRows: true)
                #expect(last.created == 7 && last.rows == 7 && last.missing == nil, "\(drop)")
                #expect(last.identity.generation == found.identity.generation, "\(drop): once is enough")
            }
        }

        /// A connection that meets an error is replaced, which makes what is missing.
        @Test func anErrorDoesToo() throws {
            for drop in Self.drops.map(\.statement) + Self.others {
                var store = try begin()
                let whole = try catalog()
                try mine.execute(drop)
                var failures = 0
                while failures < 3 {
                    do {
                        _ = try fill(store)
                        break
                    } catch let error as PostgresError where !error.meansOtherTables {
                        Issue.record("\(drop): \(error) replaces no connection")
                        break
                    } catch {
                        failures += 1
                        store = try open()
                    }
                }
                #expect(failures <= 1, "\(drop)")
                #expect(try store.holdings(countsRows: true).rows == 7, "\(drop)")
                #expect(try catalog() == whole, "\(drop)")
            }
        }

        /// What healthbus can't make again without dropping what is there is left to a person, and then made.
        @Test(arguments: [
            ("ALTER TABLE healthbus.documents DROP COLUMN body CASCADE", #""healthbus".documents"#),
            ("ALTER TABLE healthbus.meta DROP COLUMN schema_version", #""healthbus".meta"#),
            (
                """
                DROP INDEX healthbus.samples_2017_moment;
                INSERT INTO healthbus.samples SELECT user_id, overlay(id::text placing 'ffff' from 33)::uuid, version,
                    deleted, type, start_time, end_time, value, unit, source, manual FROM healthbus.samples WHERE manual
                """, #""healthbus".samples_2017"#
            ),
        ])
        func damageIsSaid(_ damage: String, _ table: String) throws {
            let store = try begin()
            try mine.execute(damage)
            #expect(throws: PostgresStoreError.damaged(table: table)) { try store.holdings(countsRows: true) }
            try mine.execute("DROP TABLE \(table) CASCADE")
            let found = try store.holdings(countsRows: true)
            #expect(found.created == found.rows)
            _ = try fill(store)
            #expect(try store.holdings(countsRows: true).rows == 7)
        }
    }
}
