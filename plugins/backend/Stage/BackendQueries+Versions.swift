import HTTP
import HealthModel
import JSON
import SQLite

extension BackendQueries {
    /// Rows per page: about 1.5 MB with contents.
    static let versionsLimit = 20_000

    /// `GET /api/v1/versions`: the id and version of every stored element, including tombstones, in columns and ordered
    /// by id.
    /// - Parameter withContents: include the `ContentNumber` of each element; 0 for deleted ones, and for any that can
    ///   no longer be read.
    func versions(
        _ question: Question, list: VersionList, withContents: Bool, state: BackendState
    ) throws -> HTTPResponse {
        var page = VersionsPage(withContents: withContents)
        if let user = try user(named: question.user) {
            if let kind = list.kind {
                try documents(question, kind, user, &page)
            } else {
                try samples(question, user, &page)
            }
        }
        return page.answer(state)
    }

    private func samples(_ question: Question, _ user: Int64, _ page: inout VersionsPage) throws {
        let rows = try statement(.samples).with(user, question.cursor ?? .text(""))
        defer { rows.reset() }
        var texts = ContentTexts(texts)
        var scanned = 0
        while try rows.step() {
            if page.count == question.limit || scanned == Self.scanLimit { return page.hasMore = true }
            scanned += 1
            let id = rows.elementID(0, isUUID: 7)
            page.last.removeAll(keepingCapacity: true)
            id.append(to: &page.last)
            let times = StoredTimes(shift: rows.int64(4), duration: rows.int64(5)).times(id: id)
            // A tombstone that arrived before its sample has no times, so it belongs to every range.
            guard rows.isNull(4) || question.holds(start: times.start, end: times.end) else { continue }
            let isDeleted = rows.int(2) == 1
            let content = isDeleted || !page.withContents ? 0 : try content(of: rows, times, &texts)
            page.append(version: rows.int64(1), isDeleted: isDeleted, content: content)
        }
    }

    private func documents(
        _ question: Question, _ kind: DocumentKind, _ user: Int64, _ page: inout VersionsPage
    ) throws {
        let rows = try statement(.documents).with(user, kind.rawValue, question.rawCursor ?? "")
        defer { rows.reset() }
        var scanned = 0
        while try rows.step() {
            if page.count == question.limit || scanned == Self.scanLimit { return page.hasMore = true }
            scanned += 1
            page.last.removeAll(keepingCapacity: true)
            rows.withBytes(0) { page.last.append(jsonString: $0) }
            let times = DocumentTimes(
                start: rows.isNull(3) ? nil : Instant(microseconds: rows.int64(3)),
                end: rows.isNull(4) ? nil : Instant(microseconds: rows.int64(4)),
                date: kind == .day ? rows.string(0) : rows.isNull(5) ? nil : rows.string(5))
            let isBare = times.start == nil && times.date == nil
            guard isBare || question.holds(times) else { continue }
            let isDeleted = rows.int(2) == 1
            // A document that was corrupted behind the backend's back has no content number.
            let number = isDeleted || !page.withContents ? nil : try? ContentNumber.document(json: rows.string(6).utf8)
            page.append(version: rows.int64(1), isDeleted: isDeleted, content: number ?? 0)
        }
    }

    private enum Rows { case samples, documents }

    /// Prepared when first needed, since few backends are ever asked for versions.
    private func statement(_ rows: Rows) throws -> Statement {
        switch rows {
        case .samples:
            try database.prepare(
                """
                SELECT id, version, deleted, kind, shift, duration, value, typeof(id) = 'blob'
                FROM sample_rows WHERE user = ?1 AND id > ?2 ORDER BY id
                """)
        case .documents:
            try database.prepare(
                """
                SELECT id, version, deleted, start, "end", date, body FROM documents
                WHERE user = ?1 AND kind = ?2 AND id > ?3 ORDER BY id
                """)
        }
    }

    private func content(
        of row: Statement, _ times: (start: Int64, end: Int64), _ texts: inout ContentTexts
    ) throws -> Int64 {
        let kind = try kinds.kind(row.int64(3))
        return ContentNumber.sample(
            type: try texts.number(of: kind.type), start: Instant(microseconds: times.start),
            end: Instant(microseconds: times.end), value: row.isNull(6) ? nil : row.double(6),
            source: try texts.number(of: kind.source))
    }
}

/// The content numbers of interned strings, each computed once per request.
private struct ContentTexts {
    let texts: InternedTexts
    private var numbers: [Int64: UInt64] = [:]

    init(_ texts: InternedTexts) { self.texts = texts }

    mutating func number(of id: Int64) throws -> UInt64 {
        if let number = numbers[id] { return number }
        let number = ContentNumber.text(id == 0 ? "" : try texts.text(of: id))
        numbers[id] = number
        return number
    }
}
