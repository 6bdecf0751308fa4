import BackendStage
import HTTP
import HealthModel
import SQLite
import TestSupport
import Testing

/// The views in the backend's own file over the data that it has accepted, as any SQLite tool reads them.
@Suite struct BackendViewsTests {
    typealias F = BackendFixture

    private func rows(_ sql: String, _ path: String) throws -> [String] {
        var rows: [String] = []
        let query = try GuestQuery(sql, path: path)
        try query.forEachRow { cells in
            rows.append(
                cells.map { cell in
                    switch cell {
                    case .null: ""
                    case .integer(let number): String(number)
                    case .real(let number): String(number)
                    case .text(let text), .blob(let text): String(decoding: text, as: UTF8.self)
                    }
                }.joined(separator: "|"))
        }
        return rows
    }

    @Test func whatWasTakenIsSeen() throws {
        let fixture = try BackendFixture()
        let path = fixture.databasePath
        _ = try fixture.accepted(
            "steps",
            F.body(
                samples: [
                    F.sample(F.id(1), value: 7.5), F.sample(F.id(2)), F.sample("their-own", sourceType: "manual"),
                ],
                deleted: [(F.id(2), 5), (F.id(9), 1)]))
        // The file is read while the backend has it open.
        #expect(
            try rows(
                """
                SELECT id, user_id, type, start_date, end_date, value, unit, source, source_type, metadata, version FROM samples
                    ORDER BY id
                """, path) == [
                    F.id(1)
                        + "|anna|HKQuantityTypeIdentifierStepCount|2025-03-30T08:15:00Z|2025-03-30T09:00:00.5Z|7.5|count|"
                        + "Anna’s \"Watch\"|healthkit|{\"a\":[1,null]}|1",
                    "their-own|anna|HKQuantityTypeIdentifierStepCount|2025-03-30T08:15:00Z|2025-03-30T09:00:00.5Z|5.0|count|"
                        + "Anna’s \"Watch\"|manual|{\"a\":[1,null]}|1",
                ])
        _ = try fixture.accepted(
            "daily", #"{"userId":"anna","days":[{"date":"2025-03-30","version":3,"final":true,"revision":1}]}"#)
        #expect(try rows("SELECT user_id, date, final, revision, version FROM days", path) == ["anna|2025-03-30|1|1|3"])
        #expect(try rows("SELECT source, samples FROM sources", path) == ["Anna’s \"Watch\"|2"])
    }

    /// The views are written only when they change, not at each start.
    @Test func theyStayAsTheyAre() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        func version() throws -> Int64? {
            try Database(path: path, mode: .readOnly).prepare("PRAGMA schema_version").firstRow { $0.int64(0) }
        }
        _ = try F.open(path)
        let first = try version()
        _ = try F.open(path)
        #expect(try version() == first)
        try Database(path: path).execute("DROP VIEW days; CREATE VIEW days AS SELECT 1 AS date")
        _ = try F.open(path)
        #expect(try rows("SELECT date FROM days", path) == [])
    }

    /// Up to schema 3, the table of sample rows had the name that now belongs to the view.
    @Test func aFileOfTheReleaseBeforeIsTakenOver() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/backend.sqlite"
        let taken = F.body(samples: [F.sample(F.id(1), value: 7.5)])
        let backend = try F.open(path)
        #expect(backend.handle(F.request("POST", "/api/v1/sync/steps", body: taken)).status == 200)
        backend.close()
        let views = ["samples", "days", "hours", "nights", "workouts", "sources"].map { "DROP VIEW \($0);" }.joined()
        try Database(path: path).execute(
            views + "DROP INDEX samples_start; DROP INDEX samples_long; ALTER TABLE sample_rows DROP COLUMN start;"
                + "ALTER TABLE sample_rows RENAME TO samples; UPDATE meta SET value = '3' WHERE key = 'schema'")
        let again = try F.open(path)
        #expect(try rows("SELECT id, value FROM samples", path) == [F.id(1) + "|7.5"])
        let answer = try Value(json: again.handle(F.request("POST", "/api/v1/sync/steps", body: taken)).body)
        #expect(answer["counts"]["known"] == 1)
    }

    @Test(arguments: [
        "DELETE FROM sample_rows", "ATTACH 'x.sqlite' AS x", "PRAGMA journal_mode = DELETE", "BEGIN", "VACUUM",
        "CREATE TABLE mine(a)", "CREATE TEMP VIEW mine AS SELECT 1", "INSERT INTO meta VALUES ('a', 'b')",
        "PRAGMA query_only = OFF",
        "WITH a AS (SELECT 1) DELETE FROM meta", "SELECT load_extension('x')", "EXPLAIN DELETE FROM meta",
    ])
    func aQueryOnlyReads(_ sql: String) throws {
        let fixture = try BackendFixture()
        #expect(throws: GuestQuery.Refusal.self) { try rows(sql, fixture.databasePath) }
    }

    @Test func aQueryIsOneStatement() throws {
        let fixture = try BackendFixture()
        #expect(throws: GuestQuery.Refusal.several) { try rows("SELECT 1; SELECT 2", fixture.databasePath) }
        #expect(throws: GuestQuery.Refusal.empty) { try rows(" -- nothing", fixture.databasePath) }
        #expect(try rows("SELECT 1, 'a', 2.5, NULL;  -- one", fixture.databasePath) == ["1|a|2.5|"])
        #expect(throws: GuestQuery.Refusal.wrong("no such table: nights2")) {
            try rows("SELECT * FROM nights2", fixture.databasePath)
        }
        #expect(throws: SQLiteError.self) { try rows("SELECT 1", fixture.databasePath + "/nowhere") }
    }
}
