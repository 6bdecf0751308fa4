import HTTP
import HealthModel
import JSON
import SQLite

/// Answers read requests.
final class BackendQueries {
    let database: Database
    let texts: InternedTexts
    let kinds: SampleKinds
    let unnamed: String
    private let users: Statement
    private let samples: SampleScan
    private let documents: DocumentScan

    /// The number of rows that one question about samples or versions may examine in SQLite; this limits its time,
    /// whatever its filter.
    static let scanLimit = 100_000
    static let pageLimit = 2000
    /// A page ends with the element that brings it to this size.
    static let pageBytes = 2 << 20

    /// - Parameter unnamed: the user for elements that name no user.
    init(_ database: Database, texts: InternedTexts, kinds: SampleKinds, unnamed: String) throws {
        (self.database, self.texts, self.kinds, self.unnamed) = (database, texts, kinds, unnamed)
        // Each of the four subqueries is a single index step.
        users = try database.prepare(
            """
            SELECT min(user), max(user) FROM (SELECT min(user) AS user FROM sample_rows UNION ALL
                SELECT max(user) FROM sample_rows UNION ALL SELECT min(user) FROM documents UNION ALL
                SELECT max(user) FROM documents)
            """)
        samples = try SampleScan(database, columns: Self.sampleColumns)
        documents = try DocumentScan(database)
    }

    static let sampleColumns = """
        id, version, kind, shift, duration, value, uuid, metadata, payload, deleted, typeof(id) = 'blob',
        typeof(uuid) = 'blob', typeof(metadata) = 'integer'
        """

    /// The user that a question concerns; nil when nothing is held for them. A request that names no user concerns the
    /// only user, or, if there are several, the user for elements that name none.
    /// - Parameter name: nil if it names none.
    func user(named name: String?) throws -> Int64? {
        if let name { return try texts.existing(name) }
        var only: Int64?
        try users.forEachRow { row in
            if !row.isNull(0), row.int64(0) == row.int64(1) { only = row.int64(0) }
        }
        return try only ?? texts.existing(unnamed)
    }

    /// `GET /api/v1/samples`: the samples that aren't deleted, ordered by id.
    func samples(_ question: Question) throws -> HTTPResponse {
        guard let user = try user(named: question.user) else { return .page("samples", [], next: nil) }
        let type = try question.type.map { try texts.existing($0) ?? -1 }
        var out: [UInt8] = []
        var found = 0
        var scanned = 0
        var last: [UInt8] = []
        var more = false
        try samples.rows(of: user, from: question.begin, to: question.end, after: question.cursor) { row in
            if found == question.limit || scanned == Self.scanLimit || out.count > Self.pageBytes {
                more = true
                return false
            }
            scanned += 1
            last.removeAll(keepingCapacity: true)
            let id = row.elementID(0, isUUID: 10)
            id.append(to: &last)
            guard row.int(9) == 0 else { return true }
            let kind = try kinds.kind(row.int64(2))
            guard type == nil || kind.type == type else { return true }
            let times = StoredTimes(shift: row.int64(3), duration: row.int64(4)).times(id: id)
            guard question.holds(start: times.start, end: times.end) else { return true }
            out.append(json: found > 0 ? ",{" : "{")
            try append(row, id: last, kind, times, to: &out)
            found += 1
            return true
        }
        return .page("samples", out, next: more ? last : nil)
    }

    /// Appends a sample's members, and the closing brace.
    /// - Parameter row: has `sampleColumns`.
    func append(
        _ row: Statement, id: [UInt8], _ kind: SampleKind, _ times: (start: Int64, end: Int64), to out: inout [UInt8]
    ) throws {
        out.append(
            sampleWithID: id, uuid: row.isNull(6) ? nil : row.elementID(6, isUUID: 11), version: row.int64(1),
            type: try texts.text(of: kind.type), times, value: row.isNull(5) ? nil : row.double(5),
            unit: try text(kind.unit), source: try text(kind.source), isManual: kind.isManual)
        if row.isNull(7) {
            out.append(json: "null")
        } else if row.int(12) == 1 {
            out.append(contentsOf: try texts.text(of: row.int64(7)).utf8)
        } else {
            row.withBytes(7) { out.append(contentsOf: $0) }
        }
        if !row.isNull(8) {
            out.append(json: ",\"payload\":")
            row.withBytes(8) { out.append(contentsOf: $0) }
        }
        out.append(json: "}")
    }

    func text(_ id: Int64) throws -> String? { id == 0 ? nil : try texts.text(of: id) }

    /// `GET /api/v1/days`, `/workouts`, `/nights`: the documents as received, ordered by date or id.
    func documents(_ kind: DocumentKind, _ question: Question) throws -> HTTPResponse {
        guard let user = try user(named: question.user) else { return .page(kind.plural, [], next: nil) }
        var out: [UInt8] = []
        var found = 0
        var last: [UInt8] = []
        var more = false
        try documents.rows(of: user, kind, question) { row in
            if found == question.limit || out.count > Self.pageBytes {
                more = true
                return false
            }
            let id = row.string(0)
            let times = DocumentTimes(
                start: row.isNull(2) ? nil : Instant(microseconds: row.int64(2)),
                end: row.isNull(3) ? nil : Instant(microseconds: row.int64(3)),
                date: kind == .day ? id : row.isNull(4) ? nil : row.string(4))
            guard question.holds(times) else { return true }
            if found > 0 { out.append(UInt8(ascii: ",")) }
            row.withBytes(1) { out.append(contentsOf: $0) }
            last.removeAll()
            last.append(jsonString: id)
            found += 1
            return true
        }
        return .page(kind.plural, out, next: more ? last : nil)
    }
}

extension [UInt8] {
    /// Appends text or null.
    mutating func append(jsonText text: String?) {
        if let text { append(jsonString: text) } else { append(json: "null") }
    }

    /// Appends a sample's members up to the name of its metadata, without a brace.
    /// - Parameters:
    ///   - id: as JSON.
    ///   - times: microseconds since 1970.
    mutating func append(
        sampleWithID id: [UInt8], uuid: ElementID?, version: Int64, type: String?, _ times: (start: Int64, end: Int64),
        value: Double?, unit: String?, source: String?, isManual: Bool
    ) {
        append(json: "\"id\":")
        append(contentsOf: id)
        append(json: ",\"healthkitUUID\":")
        if let uuid { uuid.append(to: &self) } else { append(json: "null") }
        append(json: ",\"version\":")
        append(json: version)
        append(json: ",\"type\":")
        append(jsonText: type)
        append(json: ",\"startDate\":")
        append(jsonDate: Instant(microseconds: times.start))
        append(json: ",\"endDate\":")
        append(jsonDate: Instant(microseconds: times.end))
        append(json: ",\"value\":")
        append(json: value ?? .nan)
        append(json: ",\"unit\":")
        append(jsonText: unit)
        append(json: ",\"source\":")
        append(jsonText: source)
        append(json: isManual ? ",\"sourceType\":\"manual\"" : ",\"sourceType\":\"healthkit\"")
        append(json: ",\"metadata\":")
    }
}

extension HTTPResponse {
    /// A page of a list; `next` is JSON.
    static func page(_ name: StaticString, _ elements: [UInt8], next: [UInt8]?) -> HTTPResponse {
        var out: [UInt8] = []
        out.reserveCapacity(elements.count + 100)
        out.append(json: "{\"")
        out.append(json: name)
        out.append(json: "\":[")
        out.append(contentsOf: elements)
        out.append(json: "],\"nextCursor\":")
        if let next { out.append(contentsOf: next) } else { out.append(json: "null") }
        out.append(json: "}")
        return HTTPResponse(status: 200, json: out)
    }
}
