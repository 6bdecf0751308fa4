import HealthModel

/// A query, and the position from which it is asked.
package struct Question: Sendable {
    package var query: any Query
    package var place: PullPlace

    package init(_ query: any Query, _ place: PullPlace = PullPlace()) { (self.query, self.place) = (query, place) }

    /// The members of a request that express this question.
    package var members: [String: Value] {
        var members = Value(query).object ?? [:]
        members["query"] = .string(query.name)
        return members.merging(Value(place).object ?? [:]) { first, _ in first }
    }

    /// - Parameter queries: those that are answered here.
    /// - Throws: `PullRefusal` for a request that makes no sense.
    package init(members: Value, among queries: [any Query.Type]) throws {
        guard let place = members.read(PullPlace.self) else { throw PullRefusal("a request is a map") }
        let name = members["query"].string ?? ""
        guard let asked = queries.first(where: { $0.name == name }) else {
            throw PullRefusal.unknown(name, among: queries)
        }
        do { self.init(try members.decode(asked), place) } catch let error as DecodingError {
            throw PullRefusal("a '\(name)' request needs '\(error.member)'")
        }
    }
}

extension DecodingError {
    /// The member that is missing, or that isn't what it should be.
    fileprivate var member: String {
        switch self {
        case .keyNotFound(let key, let context): (context.codingPath + [key])[0].stringValue
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            context.codingPath.first?.stringValue ?? ""
        @unknown default: ""
        }
    }
}

extension Question: Equatable {
    package static func == (one: Self, other: Self) -> Bool { one.members == other.members }
}

/// A request to a producer. Idempotent: it is sent again until it is answered.
package struct Pull: Sendable, Equatable {
    package var id: Int64
    package var producer: String
    package var question: Question

    package init(id: Int64, producer: String, question: Question) {
        (self.id, self.producer, self.question) = (id, producer, question)
    }
}

/// The anchor that comes with a request, and the window that it asks for. Missing parts are unknown; a consumer without
/// an anchor begins at 0.
package struct PullPlace: Codable, Sendable, Equatable {
    @IfReadable package var store: String?
    @IfReadable package var generation: String?
    /// The newest one that the anchor has been valid in; see `StoreHead.incarnation`.
    @IfReadable package var incarnation: String?
    /// (after, until], for queries with a window.
    @IfReadable package var after: AnchorVector?
    @IfReadable package var until: AnchorVector?
    /// Whether the data isn't news to the consumer: its first read, or a backfill.
    @IfReadable package var bulk: Bool?

    package init(
        store: String? = nil, generation: String? = nil, incarnation: String? = nil, after: AnchorVector? = nil,
        until: AnchorVector? = nil, bulk: Bool? = nil
    ) {
        (self.store, self.generation, self.incarnation) = (store, generation, incarnation)
        (self.after, self.until, self.bulk) = (after, until, bulk)
    }

    /// A window of a store's changelog; if there is no head, it concerns whatever store the producer has.
    package init(of head: StoreHead? = nil, after: SequenceNumber, until: SequenceNumber = .end) {
        self.init(
            store: head?.store, generation: head?.generation, after: AnchorVector(base: after),
            until: AnchorVector(base: until))
    }
}

/// Who is asking; sent along with the question, on `pull.<producer>`.
package struct PullHeader: Codable, Sendable, Equatable {
    /// The consumer's own number for the request; the answer repeats it.
    package var id: Int64
    /// 0, then one more for each repeat; the answer repeats it.
    @IfReadable package var attempt: Int64?
    package var consumer: String

    package init(id: Int64, attempt: Int64, consumer: String) {
        (self.id, self.attempt, self.consumer) = (id, attempt, consumer)
    }

    package static func topic(_ producer: String) -> String { "pull.\(producer)" }
}
