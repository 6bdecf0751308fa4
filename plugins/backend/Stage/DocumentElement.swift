import HTTP
import HealthModel
import JSON
import SQLite

/// A document's times, used for queries with `from` and `to`.
struct DocumentTimes {
    var start: Instant?
    var end: Instant?
    /// The local day that the document belongs to.
    var date: String?
}

/// The members of a document that the backend needs; the rest is stored as received.
struct DocumentElement {
    var key: JSONSpan?
    var version: JSONSpan?
    var type: JSONSpan?
    private var start: JSONSpan?
    private var end: JSONSpan?
    private var date: JSONSpan?

    init(_ body: JSONSpan, kind: DocumentKind) throws(JSONScanError) {
        guard body.kind == .object else { return }
        var scanner = JSONScanner(body.bytes)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let span = try scanner.value()
            if span.isNull { continue }
            if name == "date" { date = span }
            if name == kind.keyName {
                key = span
            } else if name == "id", key == nil {
                // A deletion may also name a day by `id`.
                key = span
            } else if name == "version" {
                version = span
            } else if name == "type" {
                type = span
            } else if name == kind.startName {
                start = span
            } else if name == kind.endName {
                end = span
            }
        }
    }

    /// Whether the element has an id or a date under which it can be stored.
    var isNamed: Bool {
        guard let key, let id = key.text else { return false }
        return !id.isEmpty && key.bytes.count <= ElementID.limit
    }

    /// Why it can't be stored; nil when it can.
    func problem(as kind: DocumentKind, deletes: Bool) -> String? {
        guard isNamed, let id = key?.text else { return kind == .day ? "date is missing" : "id is missing" }
        if kind == .day, LocalDay(id) == nil { return "date isn't a date such as 2025-03-30" }
        if SampleElement.version(version) == nil { return "version isn't an integer" }
        guard kind == .workout, !deletes else { return nil }
        if times(of: kind).start == nil { return "startDate isn't an ISO 8601 date" }
        return type?.isString ?? false ? nil : "type is missing"
    }

    /// The times that the document states; unreadable ones are left out.
    func times(of kind: DocumentKind) -> DocumentTimes {
        guard kind != .day else { return DocumentTimes() }
        let start = SampleElement.date(start)
        let end = SampleElement.date(end)
        return DocumentTimes(
            start: start, end: end ?? start,
            date: kind == .night ? date?.text.flatMap { LocalDay($0) }?.description : nil)
    }
}

extension DocumentTimes {
    /// Adds times to workouts and nights stored without them, because the first releases didn't store when a night
    /// began.
    static func fill(in database: Database) throws {
        try database.execute(
            "ALTER TABLE documents ADD COLUMN \"end\" INTEGER; ALTER TABLE documents ADD COLUMN date TEXT")
        let next = try database.prepare(
            """
            SELECT user, kind, id, body FROM documents WHERE (user, kind, id) > (?1, ?2, ?3) AND kind <> 0
                AND body IS NOT NULL ORDER BY user, kind, id LIMIT 1
            """)
        let write = try database.prepare(
            """
            UPDATE documents SET start = coalesce(?4, start), "end" = coalesce(?5, start), date = ?6
                WHERE user = ?1 AND kind = ?2 AND id = ?3
            """)
        var (user, kind, id) = (Int64.min, Int64.min, "")
        while true {
            let found = try next.with(user, kind, id).firstRow { row -> (Int64, Int64, String, DocumentTimes) in
                let times = try row.withBytes(3) { bytes in
                    guard let kind = DocumentKind(rawValue: row.int64(1)) else { return DocumentTimes() }
                    var scanner = JSONScanner(bytes)
                    return try DocumentElement(scanner.value(), kind: kind).times(of: kind)
                }
                return (row.int64(0), row.int64(1), row.string(2), times)
            }
            guard let found else { break }
            (user, kind, id) = (found.0, found.1, found.2)
            try write.with(user, kind, id, found.3.start?.microseconds, found.3.end?.microseconds, found.3.date).run()
        }
    }
}

extension DocumentKind {
    fileprivate var startName: StaticString { self == .night ? "start" : "startDate" }
    fileprivate var endName: StaticString { self == .night ? "end" : "endDate" }
}
