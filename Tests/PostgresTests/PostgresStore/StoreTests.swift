import HealthModel
import PostgreSQL
import PostgresStore
import TestSupport
import Testing

extension PostgresTests {
    /// The rules for versions, tombstones and manual samples, on a real server.
    @Suite struct StoreTests {
        private let server: PostgresServer
        private let store: PostgresStore

        init() throws {
            server = try PostgresServer()
            store = try Self.store(server)
        }

        private static func store(_ server: PostgresServer, schema: String = "healthbus") throws -> PostgresStore {
            try PostgresStore(
                url: server.url(), schema: try #require(PostgresSchema(schema)), timeout: 30, program: "test")
        }

        private func put(_ page: SamplePage) throws -> [Int64] {
            let outcome = try store.put(PostgresBatch(user: "me", samples: page), seen: nil)
            return [outcome.created, outcome.updated, outcome.known]
        }

        /// Rows as text, in the requested order.
        private func rows(_ query: String) throws -> [String] {
            let found = try PostgresConnection(url: server.url(), timeout: 30, program: "test").execute(query, [])
            return (0..<found.count).map { found.text($0, 0) ?? "NULL" }
        }

        @Test func versions() throws {
            #expect(try put(madePage(0..<10, version: 5)) == [10, 0, 0])
            #expect(try put(madePage(0..<10, version: 5, value: 1)) == [0, 0, 10])
            #expect(try put(madePage(0..<10, version: 4, value: 1)) == [0, 0, 10])
            #expect(try put(madePage(8..<12, version: 6, value: 70)) == [2, 2, 0])
            #expect(
                try rows("SELECT value FROM healthbus.samples ORDER BY id") == Array(repeating: "60", count: 8)
                    + Array(repeating: "70", count: 4))
            #expect(try store.identity().sequence == 2, "a repeat changes nothing")
        }

        @Test func conflicts() throws {
            func conflicts(_ page: SamplePage) throws -> [String] {
                try store.put(PostgresBatch(user: "me", samples: page), seen: nil).conflicts.sorted()
            }
            let page = madePage(0..<10, version: 5, metadata: "{\"a\":1,\"b\":2}")
            #expect(try conflicts(page).isEmpty)
            #expect(
                try conflicts(madePage(0..<10, version: 5, metadata: "{\"b\": 2.0, \"a\": 1, \"c\": null}")).isEmpty)
            #expect(try conflicts(madePage(0..<10, version: 4, value: 1)).isEmpty)
            var other = madePage(8..<12, version: 5, value: 70, metadata: "{\"a\":1,\"b\":2}")
            #expect(try conflicts(other) == page.ids[8...].map(\.description))
            other.sequence = other.sequence.map { _ in 6 }
            #expect(try conflicts(other).isEmpty)
        }

        @Test func whatIsKeptOfASample() throws {
            _ = try put(
                madePage(0..<1, version: 5, metadata: "{\"HKWasUserEntered\":\"0\"}", payload: "{\"status\":\"Taken\"}")
            )
            let row = try rows(
                """
                SELECT concat_ws(' ', user_id, version, deleted, type, start_time AT TIME ZONE 'UTC',
                    end_time AT TIME ZONE 'UTC', value, unit, source, manual,
                    metadata->>'HKWasUserEntered', payload->>'status',
                    (SELECT relname FROM pg_class WHERE oid = samples.tableoid)) FROM healthbus.samples
                """)
            #expect(
                row == [
                    "me 5 f HKQuantityTypeIdentifierHeartRate 2017-07-14 02:40:00 2017-07-14 02:40:05 60 count/min "
                        + "Anna’s Watch f 0 Taken samples_2017"
                ])
        }

        @Test func deletions() throws {
            _ = try put(madePage(0..<4, version: 5))
            #expect(
                try put(madePage(0..<1, version: 5, flags: .deleted)) == [0, 1, 0], "at one version the deletion wins")
            #expect(try put(madePage(0..<1, version: 5)) == [0, 0, 1])
            #expect(try put(madePage(1..<2, version: 4, flags: .deleted)) == [0, 0, 1])
            #expect(try put(madePage(7..<8, version: 5, flags: .deleted)) == [1, 0, 0], "before its sample")
            #expect(try put(madePage(7..<8, version: 4)) == [0, 0, 1])
            let page = madePage(2..<3)
            let bare = PostgresBatch(user: "me", deletions: [.init(id: page.ids[0], version: 9)])
            #expect(try store.put(bare, seen: nil).updated == 1)
            #expect(try rows("SELECT count(*) FROM healthbus.samples WHERE deleted") == ["3"])
            #expect(
                try rows(
                    "SELECT count(*) FROM healthbus.samples WHERE deleted AND (value IS NOT NULL OR source IS NOT NULL)"
                )
                    == ["0"])
            #expect(
                try rows("SELECT count(*) FROM healthbus.samples WHERE type IS NULL OR start_time IS NULL") == ["0"],
                "type and times are kept")
            #expect(try put(madePage(0..<1, version: 6)) == [0, 1, 0], "only a higher version brings it back")
        }

        @Test func oneBatchWithTwoVersionsOfOneSample() throws {
            var page = madePage(0..<1, version: 5)
            page.append(madePage(0..<1, version: 7, value: 70))
            page.append(madePage(0..<1, version: 6, value: 65))
            #expect(try put(page) == [1, 0, 2])
            #expect(try rows("SELECT value FROM healthbus.samples") == ["70"])
        }

        @Test func manualSamplesOfOneMomentAreOne() throws {
            #expect(try put(madePage(0..<1, version: 5, flags: .manual, source: "A")) == [1, 0, 0])
            #expect(try put(madePage(0..<1, version: 6, flags: .manual, value: 70, source: "B")) == [1, 0, 0])
            #expect(try put(madePage(0..<1, version: 6, flags: .manual, value: 80, source: "C")) == [0, 0, 1])
            let (first, second) = (madePage(0..<1, source: "A").ids[0], madePage(0..<1, source: "B").ids[0])
            let text = "concat_ws(' ', id, version, deleted, value, source)"
            #expect(
                try rows("SELECT \(text) FROM healthbus.samples ORDER BY version") == [
                    "\(first) 5 t", "\(second) 6 f 70 B",
                ])
            // HealthKit's own samples aren't merged: each id stays a sample.
            #expect(try put(madePage(0..<1, version: 1, source: "D")) == [1, 0, 0])
            #expect(try put(madePage(0..<1, version: 1, source: "E")) == [1, 0, 0])
            // Deleting a sample makes room for another.
            #expect(try put(madePage(0..<1, version: 9, flags: .deleted, source: "B")) == [0, 1, 0])
            #expect(try put(madePage(0..<1, version: 3, flags: .manual, source: "F")) == [1, 0, 0])
            // This sample moves back to the time of an older one, which gives way.
            #expect(try put(madePage(0..<1, version: 10, flags: .manual, source: "A")) == [0, 1, 0])
            #expect(
                try rows("SELECT \(text) FROM healthbus.samples WHERE manual AND NOT deleted") == [
                    "\(first) 10 f 60 A"
                ])
        }

        @Test(arguments: [
            ("{\"a\":\"x\\u0000\"}", true), ("{\"a\":\"\\\\u0000\"}", false), ("{\"a\":\"\\ud83d\"}", true),
            ("{\"a\":\"\\ud83d\\ude00\"}", false), ("{\"a\":\"\\ude00\"}", true), ("{\"a\":\"\\ud83dx\"}", true),
            ("{\"a\":\"\\u00e9\"}", false),
        ])
        func whatTheDatabaseCannotHoldIsRefusedAlone(_ metadata: String, _ isRefused: Bool) throws {
            var page = madePage(0..<3, version: 5)
            page.append(madePage(3..<4, version: 5, metadata: metadata))
            page.append(madePage(4..<6, version: 5))
            let outcome = try store.put(PostgresBatch(user: "me", samples: page), seen: nil)
            #expect(outcome.created == (isRefused ? 5 : 6) && Array(outcome.refused.keys) == (isRefused ? [3] : []))
        }

        @Test func aSourceWithNULIsRefused() throws {
            var page = madePage(0..<3, version: 5)
            page.append(madePage(3..<4, version: 5, source: "a\0b"))
            let outcome = try store.put(PostgresBatch(user: "me", samples: page), seen: nil)
            #expect(outcome.created == 3 && Array(outcome.refused.keys) == [3])
        }

        /// Of a deletion, only what can be stored is, so that the version before doesn't stay alive.
        @Test func aDeletionIsNeverRefused() throws {
            #expect(try put(madePage(0..<4, version: 5)) == [4, 0, 0])
            var page = madePage(0..<1, version: 6, flags: .deleted, metadata: "{\"a\":\"x\\u0000\"}")
            page.append(madePage(1..<4, version: 6, flags: .deleted))
            page.types.append("a\0b")
            page.type[1] = 1
            page.end[2] = page.start[2] - 1_000_000
            page.start[3] = .min
            let other = madePage(0..<1, version: 6, flags: .deleted, source: "a\0b")
            let outcome = try store.put(PostgresBatch(user: "me", samples: page), seen: nil)
            #expect(outcome.updated == 4 && outcome.refused.isEmpty)
            #expect(try store.put(PostgresBatch(user: "me", samples: other), seen: nil).refused.isEmpty)
            #expect(try rows("SELECT count(*) FROM healthbus.samples WHERE NOT deleted") == ["0"])
        }

        @Test func documents() throws {
            func put(_ version: Int64, _ body: String?) throws -> [Int64] {
                let night = PostgresDocument(
                    kind: .night, id: "n1", version: version, body: body, start: body.map { _ in 0 },
                    end: body.map { _ in 1_000_000 }, date: body.flatMap { _ in LocalDay("2025-03-30") })
                let day = PostgresDocument(kind: .day, id: "2025-03-30", version: version, body: body)
                let outcome = try store.put(PostgresBatch(user: "me", documents: [night, day]), seen: nil)
                return [outcome.created, outcome.updated, outcome.known]
            }
            #expect(try put(3, "{\"a\":1}") == [2, 0, 0])
            #expect(try put(3, "{\"a\":2}") == [0, 0, 2])
            #expect(try put(4, "{\"a\":3}") == [0, 2, 0])
            #expect(try rows("SELECT body->>'a' FROM healthbus.documents") == ["3", "3"])
            #expect(try put(5, nil) == [0, 2, 0])
            #expect(
                try rows("SELECT date FROM healthbus.documents WHERE kind = 'night' AND body IS NULL") == ["2025-03-30"]
            )
        }

        @Test func partitionsAreYears() throws {
            let year: Int64 = 365 * 86_400
            for back in 0..<3 { _ = try put(madePage(0..<2, from: 1_500_000_000 - Int64(back) * year)) }
            _ = try put(madePage(0..<1, from: -5_000_000_000))
            #expect(
                try rows(
                    "SELECT DISTINCT relname FROM healthbus.samples s JOIN pg_class ON pg_class.oid = s.tableoid ORDER BY 1"
                ) == [
                    "samples_2015", "samples_2016", "samples_2017", "samples_other",
                ])
            // A different connection, which knows none of them.
            let other = try Self.store(server)
            let outcome = try other.put(
                PostgresBatch(user: "me", samples: madePage(0..<2, from: 1_600_000_000)), seen: nil)
            #expect(outcome.created == 2)
            #expect(try put(madePage(0..<2, from: 1_600_000_000)) == [0, 0, 2], "made by the other meanwhile")
        }

        @Test func manyWritersAtOnce() async throws {
            let pages = (0..<4).map { madePage($0 * 500..<($0 + 2) * 500, version: 1) }
            let server = server
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for page in pages {
                    group.addTask {
                        let store = try Self.store(server)
                        var created: Int64 = 0
                        for part in stride(from: 0, to: 1000, by: 100) {
                            let batch = PostgresBatch(user: "me", samples: page, rows: part..<part + 100)
                            created += try store.put(batch, seen: nil).created
                        }
                        return created
                    }
                }
                let created = try await group.reduce(0) { $0 + $1 }
                #expect(created == 2500, "each is created by one of them")
            }
            let held = try store.holdings(countsRows: true)
            #expect(held.created == 2500 && held.rows == 2500)
        }

        // MARK: Which store it is

        @Test func anOlderCopyBeginsAgain() throws {
            _ = try put(madePage(0..<1))
            let before = try store.identity()
            let ahead = PostgresIdentity(generation: before.generation, sequence: before.sequence + 10)
            let outcome = try store.put(PostgresBatch(user: "me", samples: madePage(1..<2)), seen: ahead)
            #expect(outcome.identity.generation != before.generation && outcome.identity.sequence > ahead.sequence)
            let other = PostgresIdentity(generation: "another", sequence: 1 << 40)
            let next = try store.put(PostgresBatch(user: "me", samples: madePage(2..<3)), seen: other)
            #expect(next.identity.generation == outcome.identity.generation, "of another generation it says nothing")
        }

        @Test func removedRowsAreNoticed() throws {
            _ = try put(madePage(0..<10))
            let before = try store.identity()
            _ = try rows("DELETE FROM healthbus.samples WHERE id IN (SELECT id FROM healthbus.samples LIMIT 3)")
            #expect(try store.holdings(countsRows: false).identity == before, "that costs nothing, and reveals nothing")
            let counted = try store.holdings(countsRows: true)
            #expect(counted.rows == 7 && counted.created == 7 && counted.identity.generation != before.generation)
            #expect(try store.holdings(countsRows: true).identity == counted.identity)
        }

        // MARK: The schema

        @Test func whatIsThereIsTakenOver() throws {
            _ = try put(madePage(0..<5))
            let again = try Self.store(server)
            #expect(try again.identity() == store.identity())
            #expect(try again.holdings(countsRows: true).rows == 5)
            let other = try Self.store(server, schema: "second")
            #expect(try other.holdings(countsRows: true).rows == 0)
            #expect(try other.identity().generation != store.identity().generation)
        }

        @Test func aNewerSchemaIsLeftAsItIs() throws {
            _ = try rows("UPDATE healthbus.meta SET schema_version = 99 RETURNING schema_version")
            #expect(throws: PostgresStoreError.schema(name: "healthbus", version: 99, known: 1)) {
                try Self.store(server)
            }
        }

        @Test func anEmptiedMetaIsSaidAndFilled() throws {
            _ = try put(madePage(0..<5))
            let before = try store.identity()
            _ = try rows("DELETE FROM healthbus.meta RETURNING generation")
            #expect(throws: PostgresStoreError.noIdentity(name: "healthbus")) { try store.identity() }
            let again = try Self.store(server).holdings(countsRows: true)
            #expect(again.identity.generation != before.generation && again.created == 5 && again.rows == 5)
        }

        private func open(_ query: String, _ columns: [String]) throws {
            let view = PostgresView(
                name: "days", query: query, columns: columns,
                comments: ["COMMENT ON VIEW \"w_views\".days IS 'one row a day'"])
            _ = try PostgresStore(
                url: server.url(), schema: try #require(PostgresSchema("w", views: [view])), timeout: 30,
                program: "test")
        }

        private func columns() throws -> [String] {
            try rows(
                """
                SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
                WHERE attrelid = 'w_views.days'::regclass AND attnum > 0 ORDER BY attnum
                """)
        }

        /// Views that people have built on a view are kept, along with their grants.
        @Test func viewsAreMadeAndFollow() throws {
            try open("SELECT id AS a, version AS c FROM w.documents", ["a", "c"])
            #expect(try columns() == ["a text", "c bigint"])
            #expect(try rows("SELECT obj_description('w_views.days'::regclass)") == ["one row a day"])
            try PostgresConnection(url: server.url(), timeout: 60, program: "test").execute(
                "CREATE VIEW mine AS SELECT a, c FROM w_views.days; GRANT SELECT ON w_views.days TO PUBLIC")
            let before = try rows("SELECT 'w_views.days'::regclass::oid")
            try open("SELECT id AS a, version AS c FROM w.documents", ["a", "c"])
            // One column added, one moved, and one removed.
            try open("SELECT id AS a, 'x' || id AS \"B\", version AS c FROM w.documents", ["a", "B", "c"])
            #expect(try columns() == ["a text", "c bigint", "B text"])
            try open("SELECT 'x' || id AS \"B\", id AS a FROM w.documents", ["B", "a"])
            #expect(try columns() == ["a text", "c bigint", "B text"])
            #expect(try rows("SELECT count(*) FROM mine") == ["0"])
            #expect(try rows("SELECT 'w_views.days'::regclass::oid") == before)
            #expect(
                try rows("SELECT relacl::text LIKE '%=r/%' FROM pg_class WHERE oid = 'w_views.days'::regclass") == ["t"]
            )
        }

        @Test func aColumnOfAnotherTypeWaitsForWhatIsBuiltOnIt() throws {
            try open("SELECT id AS a FROM w.documents", ["a"])
            let mine = try PostgresConnection(url: server.url(), timeout: 60, program: "test")
            try mine.execute("CREATE VIEW mine AS SELECT a FROM w_views.days")
            let other = "SELECT version AS a FROM w.documents"
            #expect(throws: PostgresStoreError.viewInUse(#""w_views"."days""#)) { try open(other, ["a"]) }
            #expect(try columns() == ["a text"])
            try mine.execute("DROP VIEW mine")
            try open(other, ["a"])
            #expect(try columns() == ["a bigint"])
        }

        /// If a year's partition has been detached, its samples go to the default partition, where each is stored only
        /// once.
        @Test func aDetachedYearIsLeftAlone() throws {
            _ = try put(madePage(0..<3, version: 5))
            let mine = try PostgresConnection(url: server.url(), timeout: 30, program: "test")
            try mine.execute("ALTER TABLE healthbus.samples DETACH PARTITION healthbus.samples_2017")
            let again = try Self.store(server)
            let page = PostgresBatch(user: "me", samples: madePage(0..<5, version: 6))
            #expect(try again.put(page, seen: nil).created == 5)
            #expect(try again.put(page, seen: nil).known == 5)
            let places = try rows(
                "SELECT DISTINCT relname FROM healthbus.samples s JOIN pg_class c ON c.oid = s.tableoid")
            #expect(places == ["samples_other"])
            #expect(try rows("SELECT count(*) FROM healthbus.samples_2017") == ["3"])
        }

        @Test(arguments: ["Health", "1a", "a-b", "a\"b", "", "pg_x", "a b"])
        func namesThatWouldHaveToBeQuoted(_ name: String) { #expect(PostgresSchema(name) == nil) }
    }
}
