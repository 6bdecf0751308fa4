import HealthModel
import SQLite

/// Walks through a user's undeleted documents of one kind in id order, skipping those that can't be in the requested
/// range.
///
/// A body is read only if its time or date may match, because a workout's body can be tens of thousands of bytes long.
final class DocumentScan {
    private let all: Statement
    private let days: Statement
    private let timed: Statement

    init(_ database: Database) throws {
        let rows = """
            SELECT id, body, start, "end", date FROM documents
            WHERE user = ?1 AND kind = ?2 AND id > ?3 AND deleted = 0
            """
        all = try database.prepare("\(rows) ORDER BY id")
        days = try database.prepare("\(rows) AND id >= ?4 AND id <= ?5 ORDER BY id")
        // Uses the index of ids, which is already in order; sorting would hold the bodies in memory.
        timed = try database.prepare(
            """
            \(rows) AND +rowid IN (
                SELECT rowid FROM documents INDEXED BY documents_times WHERE user = ?1 AND kind = ?2
                    AND (date >= ?4 OR "end" IS NULL OR "end" >= ?6) AND (date <= ?5 OR start IS NULL OR start < ?7))
            ORDER BY id
            """)
    }

    /// Passes each row to `body` until that returns false. Some of these rows may be outside the range.
    func rows(
        of user: Int64, _ kind: DocumentKind, _ question: Question, _ body: (Statement) throws -> Bool
    ) throws {
        let isBound = question.begin != nil || question.end != nil
        let statement = !isBound ? all : kind == .day ? days : timed
        statement.bind(1, user)
        statement.bind(2, kind.rawValue)
        statement.bind(3, question.rawCursor ?? "")
        if isBound {
            statement.bind(4, question.days.first ?? "")
            // `~` sorts after all digits.
            statement.bind(5, question.days.last ?? "~")
            if kind != .day {
                statement.bind(6, question.begin ?? .min)
                statement.bind(7, question.end ?? .max)
            }
        }
        defer { statement.reset() }
        while try statement.step() {
            if try !body(statement) { return }
        }
    }
}
