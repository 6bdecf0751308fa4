import HTTP
import HealthModel
import JSON
import PostgreSQL
import PostgresStore

extension PostgresStorage {
    /// The user that a question concerns, as in `BackendQueries.user`.
    private func user(of question: Question, _ questions: PostgresConnection) throws -> String {
        if let user = question.user { return user }
        let found = try questions.execute(
            """
            SELECT min(first), max(last) FROM (SELECT min(user_id), max(user_id) FROM \(table("samples"))
                UNION ALL SELECT min(user_id), max(user_id) FROM \(table("documents"))) users(first, last)
            """, [])
        guard let first = found.text(0, 0), first == found.text(0, 1) else { return Self.unnamed }
        return first
    }

    // MARK: Samples

    func samples(_ question: Question) throws -> HTTPResponse {
        try connected { _, questions in
            let user = try user(of: question, questions)
            let rows = try questions.execute(
                sampleStatement(question),
                [user, Self.after(question.cursor)] + Self.range(question) + (question.type.map { [$0] } ?? []))
            var out: [UInt8] = []
            var last: [UInt8] = []
            for row in 0..<min(rows.count, question.limit) {
                if out.count > BackendQueries.pageBytes { return .page("samples", out, next: last) }
                if row > 0 { out.append(UInt8(ascii: ",")) }
                last.removeAll()
                last.append(jsonString: rows.text(row, 0) ?? "")
                Self.append(rows, row, id: last, to: &out)
            }
            return .page("samples", out, next: rows.count > question.limit ? last : nil)
        }
    }

    /// $1 is the user, $2 the id to start after, $3 and $4 the time range, $5 and $6 the id range, $7 the type.
    private func sampleStatement(_ question: Question) -> String {
        let columns = """
            id, version, type, (extract(epoch FROM start_time) * 1000000)::bigint,
            (extract(epoch FROM end_time) * 1000000)::bigint, value, unit, source, manual, healthkit_uuid, metadata, payload
            """
        let rows = """
            SELECT \(columns) FROM \(table("samples")) WHERE user_id = $1 AND id > $2::uuid
            """
        let page = "ORDER BY id LIMIT \(question.limit + 1)"
        guard question.isBound else {
            return "\(rows) AND NOT deleted AND \(question.type == nil ? "TRUE" : "type = $3") \(page)"
        }
        let touches =
            "end_time >= $3::timestamptz AND start_time < $4::timestamptz"
            + (question.type == nil ? "" : " AND type = $7")
        // As in `SampleScan`. The rows whose ids don't contain their time are found first: given an order and a limit,
        // the planner would otherwise walk through the ids.
        return """
            WITH apart AS MATERIALIZED (
                \(rows) AND \(Self.isApart) AND NOT id BETWEEN $5::uuid AND $6::uuid AND \(touches))
            SELECT * FROM (
                (\(rows) AND NOT deleted AND id BETWEEN $5::uuid AND $6::uuid AND \(touches) \(page)) UNION ALL TABLE apart) found
            \(page)
            """
    }

    /// Ids that aren't UUIDs sort before all UUIDs.
    private static func after(_ cursor: ElementID?) -> String {
        // Only a made-up UUID could be the lowest of all.
        guard case .uuid(let id) = cursor else { return SampleID(high: 0, low: 0).description }
        return id.description
    }

    private static func range(_ question: Question) -> [String?] {
        guard let ids = SampleIDRange(from: question.begin, to: question.end) else { return [] }
        let last = ids.end.map { $0.previous ?? ids.first } ?? SampleID(high: .max, low: .max)
        return times(question) + [ids.first.description, last.description]
    }

    /// `from` and `to`, in a form that PostgreSQL reads.
    private static func times(_ question: Question) -> [String?] {
        // PostgreSQL has no year 0.
        let first = Instant(seconds: -62_135_596_800)
        func text(_ time: Int64?, without: String) -> String {
            guard let time else { return without }
            let instant = Instant(microseconds: time)
            return instant < first ? "-infinity" : InstantText.iso8601(instant)
        }
        return [text(question.begin, without: "-infinity"), text(question.end, without: "infinity")]
    }

    private static func append(_ rows: PostgresResult, _ row: Int, id: [UInt8], to out: inout [UInt8]) {
        out.append(UInt8(ascii: "{"))
        out.append(
            sampleWithID: id, uuid: rows.text(row, 9).map { .text($0) }, version: rows.integer(row, 1) ?? 0,
            type: rows.text(row, 2), (rows.integer(row, 3) ?? 0, rows.integer(row, 4) ?? 0),
            value: rows.double(row, 5), unit: rows.text(row, 6), source: rows.text(row, 7),
            isManual: rows.bool(row, 8))
        let metadata = rows.text(row, 10)
        out.append(contentsOf: (metadata == "{}" ? "null" : metadata ?? "null").utf8)
        if let payload = rows.text(row, 11), payload != "null" {
            out.append(json: ",\"payload\":")
            out.append(contentsOf: payload.utf8)
        }
        out.append(json: "}")
    }

    // MARK: Documents

    /// How many rows are requested at once; the limit exists because bodies may be long.
    private static let documentRows = 100

    func documents(_ kind: DocumentKind, _ question: Question) throws -> HTTPResponse {
        try connected { _, questions in
            let user = try user(of: question, questions)
            var out: [UInt8] = []
            var found = 0
            var cursor = question.rawCursor ?? ""
            while true {
                let rows = try questions.execute(
                    """
                    SELECT id, body, \(Self.documentTimes) FROM \(table("documents"))
                    WHERE user_id = $1 AND kind = '\(kind.stored.rawValue)' AND id > $2 AND NOT deleted
                        AND \(Self.documentRange(kind)) ORDER BY id LIMIT \(Self.documentRows)
                    """, [user, cursor] + Self.days(question) + (kind == .day ? [] : Self.times(question)))
                for row in 0..<rows.count {
                    if found == question.limit || out.count > BackendQueries.pageBytes {
                        return .page(kind.plural, out, next: Array(JSONString.quoted(cursor).utf8))
                    }
                    let id = rows.text(row, 0) ?? ""
                    if question.holds(Self.times(rows, row, kind, id: id)) {
                        if found > 0 { out.append(UInt8(ascii: ",")) }
                        out.append(contentsOf: (rows.text(row, 1) ?? "null").utf8)
                        found += 1
                    }
                    cursor = id
                }
                if rows.count < Self.documentRows { return .page(kind.plural, out, next: nil) }
            }
        }
    }

    /// Skips rows that can't be in the range: $3 and $4 are its dates, $5 and $6 its times. As in `DocumentScan`.
    private static func documentRange(_ kind: DocumentKind) -> String {
        guard kind != .day else { return "date BETWEEN $3::date AND $4::date" }
        return """
            (date >= $3::date OR end_time IS NULL OR end_time >= $5::timestamptz)
            AND (date <= $4::date OR start_time IS NULL OR start_time < $6::timestamptz)
            """
    }

    private static func days(_ question: Question) -> [String?] {
        func text(_ day: String?, without: String) -> String {
            guard let day else { return without }
            return day < "0001" ? "-infinity" : day
        }
        return [text(question.days.first, without: "-infinity"), text(question.days.last, without: "infinity")]
    }

    private static let documentTimes = """
        (extract(epoch FROM start_time) * 1000000)::bigint, (extract(epoch FROM end_time) * 1000000)::bigint, date
        """

    private static func times(_ rows: PostgresResult, _ row: Int, _ kind: DocumentKind, id: String) -> DocumentTimes {
        DocumentTimes(
            start: rows.integer(row, 2).map { Instant(microseconds: $0) },
            end: rows.integer(row, 3).map { Instant(microseconds: $0) },
            date: kind == .day ? id : rows.text(row, 4))
    }

    func changes(_ question: ChangesQuestion, state: BackendState, now: Instant) throws -> HTTPResponse {
        throw SyncRefusal.noChanges
    }

    // MARK: Versions

    func versions(
        _ question: Question, list: VersionList, withContents: Bool, state: BackendState
    ) throws -> HTTPResponse {
        var page = VersionsPage(withContents: withContents)
        try connected { _, questions in
            let kept = PostgresVersions(
                of: try user(of: question, questions), in: schema, withContents: page.withContents, questions)
            if let kind = list.kind {
                try documentVersions(question, kind, kept, &page)
            } else {
                try sampleVersions(question, kept, &page)
            }
        }
        return page.answer(state)
    }

    private func sampleVersions(_ question: Question, _ kept: PostgresVersions, _ page: inout VersionsPage) throws {
        let cursor: SampleID? = if case .uuid(let id) = question.cursor { id } else { nil }
        let rows = try kept.samples(
            after: cursor, times: question.isBound ? Self.times(question) : [], limit: question.limit + 1)
        for row in rows.prefix(question.limit) { page.append(row) }
        page.hasMore = rows.count > question.limit
    }

    private func documentVersions(
        _ question: Question, _ kind: DocumentKind, _ kept: PostgresVersions, _ page: inout VersionsPage
    ) throws {
        var cursor = question.rawCursor ?? ""
        while true {
            let rows = try kept.documents(kind.stored, after: cursor, limit: Self.documentRows)
            for row in rows {
                if page.count == question.limit { return page.hasMore = true }
                cursor = row.id
                let times = DocumentTimes(
                    start: row.start, end: row.end, date: kind == .day ? row.id : row.date)
                let isBare = times.start == nil && times.date == nil
                if isBare || question.holds(times) { page.append(row) } else { page.pass(row.id) }
            }
            if rows.count < Self.documentRows { return }
        }
    }
}

extension VersionsPage {
    fileprivate mutating func append(_ row: PostgresVersions.Row) {
        pass(row.id)
        append(version: row.version, isDeleted: row.isDeleted, content: row.content)
    }

    /// Continues after this id.
    fileprivate mutating func pass(_ id: String) {
        last.removeAll(keepingCapacity: true)
        last.append(jsonString: id)
    }
}

extension Question {
    fileprivate var isBound: Bool { begin != nil || end != nil }
}

extension PostgresResult {
    /// The value of a row's column; nil for NULL.
    fileprivate func double(_ row: Int, _ column: Int) -> Double? { text(row, column).flatMap { Double($0) } }
}
