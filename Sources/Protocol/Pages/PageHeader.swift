import HealthModel

/// The envelope of a part of an answer, on `page.<consumer>`: which request it answers, who sent it, and the state of
/// the store; or why there is no answer.
package struct PageHeader: Codable, Sendable, Equatable {
    package var id: Int64
    /// The same as in the request.
    @OrNull package var attempt: Int64?
    @IfReadable package var producer: String? = nil
    /// The state of the store that all parts of an answer reflect; a tool has no store.
    @IfReadable package var head: StoreHead? = nil
    /// The part's number within this answer: 0, 1, …
    @IfReadable package var part: Int64? = nil
    @IfReadable package var last: Bool? = nil
    /// "reset", "refused" or "databaseInaccessible" in place of content.
    @IfReadable package var error: String? = nil
    /// The reason, for any error other than "reset".
    @IfReadable package var reason: String? = nil

    /// - Parameter request: the request to answer.
    package init(_ request: PullHeader, producer: String, head: StoreHead? = nil) {
        id = request.id
        attempt = request.attempt
        (self.producer, self.head) = (producer, head)
    }

    package static let reset = "reset"
    package static let refused = "refused"
    package static func topic(_ consumer: String) -> String { "page.\(consumer)" }

    /// One part of an answer.
    package func body(_ content: some PageContent, part: Int64, isLast: Bool) -> Value {
        var header = self
        header.part = part
        header.last = isLast
        return .object((Value(content).object ?? [:]).merging(Value(header).object ?? [:]) { $1 })
    }

    /// The answer when there is no content to give.
    package func body(error: String, reason: String? = nil) -> Value {
        var header = self
        header.error = error
        header.reason = reason
        return Value(header)
    }
}

/// The content of a part of an answer, without its envelope; one type for each kind of query.
package protocol PageContent: Codable, Sendable {}

/// A part of an answer, as its reader sees it.
@dynamicMemberLookup
package struct Page<Content: PageContent>: Sendable {
    /// nil for a file that is read directly.
    package var head: StoreHead?
    package var content: Content

    /// - Throws: an error for whatever doesn't fit (`DecodingError`, `PageError`).
    package init(_ body: Value) throws {
        head = body.read(PageHead.self)?.head
        content = try body.decode(Content.self)
    }

    package subscript<Member>(dynamicMember member: KeyPath<Content, Member>) -> Member { content[keyPath: member] }
}

/// The state of the store that a part reflects.
private struct PageHead: Codable {
    @IfReadable var head: StoreHead?
}

extension Value {
    /// The page, read as the requested content.
    /// - Throws: `StageError`, and `PageError` for columns that don't fit together.
    package func page<Content: PageContent>(
        _ type: Content.Type = Content.self, from producer: String
    ) throws -> Content {
        do { return try decode(type) } catch is DecodingError { throw StageError.unreadablePage(producer: producer) }
    }
}

extension Page {
    /// - Throws: as `Value.page`.
    package static func all(_ bodies: [Value], from producer: String) throws -> [Page] {
        do { return try bodies.map { try Page($0) } } catch is DecodingError {
            throw StageError.unreadablePage(producer: producer)
        }
    }
}
