import HTTP
import HealthModel
import JSON
import SQLite

extension BackendQueries {
    /// How many log entries one request may examine.
    private static let logLimit = 20_000

    /// `GET /api/v1/changes`: first all rows by id, tombstones included, then what the log names, as it is now.
    func changes(
        _ question: ChangesQuestion, _ log: ChangesLog, state: BackendState, now: Instant
    ) throws -> HTTPResponse {
        // Nobody has the number -1: nothing is held for them.
        let user = try user(named: question.user) ?? -1
        let name = try question.user ?? (user < 0 ? unnamed : texts.text(of: user))
        let kind = question.list.kind
        func cursor(at place: Int64, id: ElementID?) throws -> BackendCursor {
            guard let mark = try log.mark(user: user, kind, at: place) else { throw SyncRefusal.gone }
            return BackendCursor(state, question, user: name, at: place, mark: mark, id: id)
        }
        if let asked = question.cursor, try cursor(at: asked.place, id: asked.id) != asked { throw SyncRefusal.gone }
        let head = try log.head(user: user, kind)
        var (place, id) = (question.cursor?.place ?? head, question.cursor?.id)
        var page = ChangesPage(limit: question.limit)
        var hasMore = false
        if question.cursor == nil || id != nil {
            try scan(kind, user, after: id) { next, row in
                hasMore = page.isFull
                if hasMore { return false }
                id = next
                try append(row, kind, to: &page)
                return true
            }
            if !hasMore { id = nil }
        } else {
            var (listed, left): (Set<ElementID>, Int) = ([], Self.logLimit)
            let one = try statement(kind, "= ?2")
            let isKept = try log.forEach(user: user, kind, after: place) { id in
                if page.isFull || left == 0 { return false }
                left -= 1
                place += 1
                guard listed.insert(id).inserted else { return true }
                one.bind(1, user)
                id.bind(to: one, 2)
                _ = try one.firstRow { try append($0, kind, to: &page) }
                return true
            }
            guard isKept else { throw SyncRefusal.gone }
        }
        return page.answer(
            user: name, next: try cursor(at: place, id: id), hasMore: hasMore || place < head, at: now)
    }

    private func scan(
        _ kind: DocumentKind?, _ user: Int64, after id: ElementID?, _ body: (ElementID, Statement) throws -> Bool
    ) throws {
        let rows = try statement(kind, "> ?2 ORDER BY id").with(user, id ?? .text(""))
        defer { rows.reset() }
        while try rows.step() {
            let isUUID = kind == nil && rows.int(10) == 1
            guard try body(rows.withBytes(0) { ElementID(column: $0, isUUID: isUUID) }, rows) else { return }
        }
    }

    /// - Parameter place: the condition on the id.
    private func statement(_ kind: DocumentKind?, _ place: String) throws -> Statement {
        guard let kind else {
            return try database.prepare(
                "SELECT \(Self.sampleColumns) FROM sample_rows WHERE user = ?1 AND id \(place)")
        }
        return try database.prepare(
            "SELECT id, version, deleted, body FROM documents WHERE user = ?1 AND kind = \(kind.rawValue) AND id \(place)"
        )
    }

    private func append(_ row: Statement, _ kind: DocumentKind?, to page: inout ChangesPage) throws {
        guard let kind else { return try append(sample: row, to: &page) }
        var id: [UInt8] = []
        row.withBytes(0) { id.append(jsonString: $0) }
        row.withBytes(3) { page.append(kind, id: id, version: row.int64(1), body: row.int(2) == 0 ? $0 : nil) }
    }

    private func append(sample row: Statement, to page: inout ChangesPage) throws {
        var text: [UInt8] = []
        let id = row.elementID(0, isUUID: 10)
        id.append(to: &text)
        let kind = try kinds.kind(row.int64(2))
        let times = StoredTimes(shift: row.int64(3), duration: row.int64(4)).times(id: id)
        let isDeleted = row.int(9) == 1
        try page.append(isDeleted: isDeleted) { out in
            guard isDeleted else { return try append(row, id: text, kind, times, to: &out) }
            out.append(json: "\"id\":")
            out.append(contentsOf: text)
            out.append(json: ",\"version\":")
            out.append(json: row.int64(1))
            // A deletion that came before its sample has neither type nor times.
            let isBare = row.isNull(3)
            out.append(json: ",\"type\":")
            out.append(jsonText: try self.text(kind.type))
            for (name, time) in [(",\"startDate\":" as StaticString, times.start), (",\"endDate\":", times.end)] {
                out.append(json: name)
                if isBare { out.append(json: "null") } else { out.append(jsonDate: Instant(microseconds: time)) }
            }
            out.append(json: "}")
        }
    }
}
