import HandlerKit
import SQLite
import TestSupport
import Testing

/// Which days are computed first by a handler that is to replace another one.
@Suite struct TrialDaysTests {
    private func chosen(_ count: Int, _ rows: String) throws -> [String] {
        let folder = try TemporaryFolder()
        let database = try Database(path: folder.path + "/handler.sqlite", mode: .readWrite)
        try database.execute(
            """
            CREATE TABLE changes(user TEXT, day INTEGER, body BLOB);
            CREATE TABLE dirty(user TEXT, day INTEGER);
            CREATE TABLE failed_days(user TEXT, day INTEGER);
            \(rows)
            """)
        return try TrialDays.choose(in: database, count: count).map { "\($0.day)\($0.isSettled ? "" : "?")" }
    }

    /// Anyone replacing a failing handler wants to know whether the new one fails too.
    @Test func daysThatFailedAreAmongThem() throws {
        let rows = """
            INSERT INTO changes VALUES ('me', 1, 'x'), ('me', 2, 'x'), ('me', 3, 'x'), ('me', 4, 'x'), ('me', 5, NULL);
            INSERT INTO dirty VALUES ('me', 4);
            """
        #expect(try chosen(4, rows) == ["3", "2", "1", "4?"])
        // One day has figures from before it failed, the other has none.
        #expect(
            try chosen(4, rows + "INSERT INTO failed_days VALUES ('me', 2), ('me', 9);") == ["9?", "2?", "3", "1"])
        // Some days that didn't fail are compared too, however many have failed.
        let many = "INSERT INTO failed_days VALUES ('me', 6), ('me', 7), ('me', 8), ('me', 9);"
        #expect(try chosen(4, rows + many) == ["9?", "8?", "3", "2"])
    }
}
