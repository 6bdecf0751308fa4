import HealthModel
import PostgreSQL

/// A batch's days, workouts and nights as rows of their staging table.
package struct DocumentRows {
    /// Why documents are refused, by index in the batch.
    package private(set) var refused: [Int: String] = [:]
    private(set) var count = 0
    /// The input for `COPY`.
    package private(set) var bytes: [UInt8] = []

    /// The columns of a row, in order.
    package static let columns = "kind, id, version, deleted, start_time, end_time, date, body"

    package init(_ batch: PostgresBatch) {
        var out = CopyRows(fields: 8, reserving: batch.documents.reduce(0) { $0 + 150 + ($1.body?.utf8.count ?? 0) })
        for (index, document) in batch.documents.enumerated() {
            let body = document.body.map { Array($0.utf8) }
            if let problem = Self.problem(document, body) {
                refused[batch.rows.count + batch.deletions.count + index] = problem
                continue
            }
            out.beginRow()
            out.text(document.kind.rawValue.utf8)
            out.text(document.id.utf8)
            out.integer(document.version)
            out.bool(body == nil)
            if let start = document.start { out.time(start.microseconds) } else { out.null() }
            if let end = document.end { out.time(end.microseconds) } else { out.null() }
            if let date = document.date { out.date(date.number) } else { out.null() }
            if let body { out.json(body) } else { out.null() }
            count += 1
        }
        bytes = out.finished()
    }

    private static func problem(_ document: PostgresDocument, _ body: [UInt8]?) -> String? {
        if document.id.isEmpty { return "id is missing" }
        if document.id.utf8.contains(0) { return JSONForm.nul }
        guard let body, JSONForm.needsCheck(body) else { return nil }
        return JSONForm.problem(body[...])
    }
}
