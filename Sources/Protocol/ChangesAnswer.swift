import HealthModel

/// The answer to `GET /api/v1/changes` in columns: a page of one person's changes, for a stack that follows this one
/// (docs/sync.md). The samples come in the same pages as on the bus, so nothing is rounded or left out.
package struct ChangesAnswer: Sendable {
    package static let contentType = "application/vnd.healthbus.changes+cbor"
    /// The maximum number of samples in one answer.
    package static let limit = 20_000

    package var user: String
    /// The `since` of the next request. Only the server that made it can read it.
    package var next = ""
    /// Whether more is available now.
    package var hasMore = false
    /// Each sample once, as its latest change left it, oldest change first. Deleted samples have `SampleFlags.deleted`;
    /// every column is filled.
    package var pages: [SamplePage] = []
    /// `ZoneTimeline.wireValue` if the timeline has changed, else null.
    package var zones = Value.null
    /// What is known about the person (`dateOfBirth`, `ownTypes`) if it has changed, else null.
    package var characteristics = Value.null

    package init(user: String) { self.user = user }

    /// Adds these rows of a page that also contains other people's; nothing about those people is included, not even a
    /// name. Deleted rows keep what identifies them (id, type, times, source, HealthKit UUID) and lose their content.
    package mutating func add(_ rows: [Int], of page: SamplePage) {
        guard !rows.isEmpty else { return }
        var chosen = (rows.count == page.count ? page : page.select(rows)).withoutUnusedNames()
        chosen.forgetDeletedContent()
        pages.append(chosen)
    }

    /// How many samples it carries, deleted ones included.
    package var count: Int { pages.reduce(0) { $0 + $1.count } }

    package func encoded() -> [UInt8] {
        CBOREncoder.encode(
            .object([
                "user": .string(user), "next": .string(next), "hasMore": .bool(hasMore),
                "pages": .array(pages.map(\.wireValue)), "zones": zones, "characteristics": characteristics,
            ]))
    }

    /// Reads an answer's body.
    /// - Throws: `CBORError`, `PageError` or `ColumnsError`, including when a page lacks what a follower needs, since a
    ///   body may come from anybody.
    package init(body: [UInt8]) throws {
        let value = try CBORDecoder.decode(body, items: Self.itemLimit)
        guard let user = value["user"].string else { throw ColumnsError.member("user") }
        guard let next = value["next"].string, !next.isEmpty else { throw ColumnsError.member("next") }
        guard let pages = value["pages"].array else { throw ColumnsError.member("pages") }
        self.init(user: user)
        self.next = next
        hasMore = value["hasMore"].bool ?? false
        self.pages = try pages.map {
            let page = try SamplePage(wireValue: $0)
            try page.checkFollowed()
            try page.checkTexts()
            return page
        }
        zones = value["zones"]
        characteristics = value["characteristics"]
    }

    /// The limit keeps a small body from becoming a large value. Each sample may have a type, a unit and an origin of
    /// its own; a timeline has a few thousand entries at most.
    private static let itemLimit = 8 * limit + 20_000
}

extension SamplePage {
    /// Checks that a page has the columns that a store needs to take it in.
    package func checkFollowed() throws(PageError) {
        if !isEmpty, unit.isEmpty { throw PageError(column: "unit") }
    }

    /// Checks that texts have the form that others expect: JSON objects.
    fileprivate func checkTexts() throws(PageError) {
        for (name, column) in [("metadata", metadata), ("payload", payload)] where column.count > 0 {
            for row in 0..<count where !column.isEmpty(row) {
                guard let text = try? Value(json: Array(column.bytes[column.range(row)])), text.object != nil else {
                    throw PageError(column: name)
                }
            }
        }
    }

    fileprivate mutating func forgetDeletedContent() {
        let deleted = flags.indices.filter { flags[$0].contains(.deleted) }
        guard !deleted.isEmpty else { return }
        for row in deleted {
            value[row] = .nan
            flags[row] = .deleted
            if !created.isEmpty { created[row] = 0 }
        }
        metadata = metadata.emptied(deleted)
        payload = payload.emptied(deleted)
    }
}

extension TextColumn {
    /// The same column, with the texts of these rows emptied.
    fileprivate func emptied(_ rows: [Int]) -> TextColumn {
        guard count > 0, rows.contains(where: { !isEmpty($0) }) else { return self }
        let rows = Set(rows)
        var column = TextColumn()
        for row in 0..<count {
            if rows.contains(row) { column.appendEmpty() } else { column.append(bytes: Array(bytes[range(row)])) }
        }
        return column
    }
}
