import HealthModel
import Protocol

/// The data that a stage lets others read, over a connection separate from the writer's.
package protocol PullSource: AnyObject {
    /// The queries that it answers, and how.
    static var answers: [QueryAnswer<Self>] { get }
}

/// A request whose anchor has been checked, besides its query.
package struct Asking {
    package let place: PullPlace
    /// nil for a reader that opens the file directly.
    package let consumer: String?
    package let head: StoreHead
}

/// How a source answers one kind of query.
package struct QueryAnswer<Source>: Sendable {
    package let query: any Query.Type
    fileprivate let give: @Sendable (Source, any Query, Asking, (any PageContent, Bool) -> Void) throws -> Void

    /// - Parameter method: answers page by page, below 64 KiB each, with `from` and `through` set if the query has a
    ///   window; the flag says which page is the last.
    package static func by<Asked: Query>(
        _ method: @escaping @Sendable (Source) -> (Asked, Asking, (Asked.Answer, Bool) -> Void) throws -> Void
    ) -> Self {
        Self(query: Asked.self) { source, query, asking, page in
            guard let query = query as? Asked else { return }
            try method(source)(query, asking) { page($0, $1) }
        }
    }

    /// The same answer, from a part of another source.
    package func through<Whole>(_ part: @escaping @Sendable (Whole) -> Source) -> QueryAnswer<Whole> {
        .init(query: query) { try give(part($0), $1, $2, $3) }
    }
}

extension PullSource {
    package var queries: [any Query.Type] { Self.answers.map(\.query) }

    /// Answers one request page by page, all from one read transaction.
    /// - Parameters:
    ///   - question: one of `queries`; its anchor has already been checked.
    ///   - consumer: who is asking; nil for a reader that opens the file directly.
    /// - Throws: `PullRefusal` for a request that makes no sense; `DeliveryError` when the data can't be read now.
    package func answer(
        _ question: Question, for consumer: String?, head: StoreHead,
        page: (_ content: any PageContent, _ isLast: Bool) -> Void
    ) throws {
        guard let answer = Self.answers.first(where: { $0.query.name == question.query.name }) else {
            throw PullRefusal.unknown(question.query.name, among: queries)
        }
        try answer.give(self, question.query, Asking(place: question.place, consumer: consumer, head: head), page)
    }
}
