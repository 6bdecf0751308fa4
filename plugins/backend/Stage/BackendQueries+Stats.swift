import HTTP
import HealthModel
import JSON
import Protocol
import SQLite

extension BackendQueries {
    /// `GET /api/v1/stats`: what is held, of all users or of one, and what requests brought since the database was made.
    static func stats(
        _ database: Database, texts: InternedTexts, user: String?, identity: BackendIdentity, serverTime: Instant,
        audit: Bool
    ) throws -> HTTPResponse {
        // -1 is no user's id: an unknown user holds nothing.
        let userID = try user.map { try texts.existing($0) ?? -1 }
        let filter = userID.map { " WHERE user = \($0)" } ?? ""
        var out: [UInt8] = []
        out.append(json: "{")
        identity.append(to: &out)
        out.append(json: ",\"serverTime\":")
        out.append(jsonDate: serverTime)
        out.append(json: ",\"types\":{")
        var alive: Int64 = 0
        var deleted: Int64 = 0
        var first = true
        try database.prepare(
            "SELECT coalesce(text, ''), sum(alive), sum(deleted) FROM tallies LEFT JOIN texts ON texts.id = type\(filter) GROUP BY 1 ORDER BY 1"
        ).forEachRow { row in
            guard row.int64(1) != 0 || row.int64(2) != 0 else { return }
            if !first { out.append(UInt8(ascii: ",")) }
            first = false
            out.append(jsonString: row.string(0))
            out.append(counts: row.int64(1), row.int64(2))
            alive += row.int64(1)
            deleted += row.int64(2)
        }
        out.append(json: "},\"samples\"")
        out.append(counts: alive, deleted)
        for kind in DocumentKind.allCases {
            out.append(json: ",\"")
            out.append(json: kind.plural)
            out.append(json: "\"")
            let sql = "SELECT count(*) FILTER (WHERE deleted = 0), count(*) FILTER (WHERE deleted = 1) FROM documents"
            let condition = filter + (filter.isEmpty ? " WHERE" : " AND") + " kind = \(kind.rawValue)"
            _ = try database.prepare(sql + condition).firstRow { out.append(counts: $0.int64(0), $0.int64(1)) }
        }
        out.append(json: ",\"counters\":{")
        let counter = try database.prepare("SELECT count FROM counters WHERE name = ?1")
        for (index, name) in ["created", "updated", "known", "refused", "lost"].enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            counter.bind(1, name)
            out.append(jsonString: name)
            out.append(UInt8(ascii: ":"))
            out.append(json: try counter.firstRow { $0.int64(0) } ?? 0)
        }
        out.append(json: "},\"acceptedTwice\":")
        if audit {
            let twice = try database.prepare("SELECT count(*) FROM accepted WHERE count > 1").firstRow { $0.int64(0) }
            out.append(json: twice ?? 0)
        } else {
            out.append(json: "null")
        }
        // Forms of a sync request's body.
        out.append(json: ",\"accepts\":[\"application/json\",")
        out.append(jsonString: SampleDelivery.contentType)
        out.append(json: "]}")
        return HTTPResponse(status: 200, json: out)
    }
}

extension [UInt8] {
    fileprivate mutating func append(counts alive: Int64, _ deleted: Int64) {
        append(json: ":{\"alive\":")
        append(json: alive)
        append(json: ",\"deleted\":")
        append(json: deleted)
        append(json: "}")
    }
}
