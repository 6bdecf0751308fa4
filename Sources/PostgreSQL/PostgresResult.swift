import CPostgreSQL

/// The result of a statement: rows of strings, or how many rows it affected.
package final class PostgresResult {
    let handle: OpaquePointer

    init(_ handle: OpaquePointer) { self.handle = handle }
    deinit { PQclear(handle) }

    var status: ExecStatusType { PQresultStatus(handle) }

    var isError: Bool {
        switch status {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR: true
        default: false
        }
    }

    var state: String? { field("C") }
    var message: String { field("M") ?? String(cString: PQresultErrorMessage(handle)) }

    private func field(_ name: Character) -> String? {
        guard let code = name.asciiValue, let text = PQresultErrorField(handle, Int32(code)) else { return nil }
        return String(cString: text)
    }

    /// How many rows the statement returned.
    package var count: Int { Int(PQntuples(handle)) }
    /// How many rows the statement wrote.
    package var affected: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The string in a row's column, both counted from 0; nil for NULL, or if there is no such row.
    package func text(_ row: Int, _ column: Int) -> String? {
        guard row < count, PQgetisnull(handle, Int32(row), Int32(column)) == 0,
            let text = PQgetvalue(handle, Int32(row), Int32(column))
        else { return nil }
        return String(cString: text)
    }

    /// The integer in a row's column; nil for anything else.
    package func integer(_ row: Int, _ column: Int) -> Int64? { text(row, column).flatMap { Int64($0) } }
    package func bool(_ row: Int, _ column: Int) -> Bool { text(row, column) == "t" }
}
