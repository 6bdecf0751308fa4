import HealthModel

/// How far a client has read the changes of a user's list. Clients send it back unchanged.
///
/// A client first reads all rows, ordered by id, and from then on the changes logged since it began that. Rows that
/// change meanwhile may be read twice, but none is missed.
struct BackendCursor: Equatable {
    private let generation: String
    /// Identifies the user, the list and the place.
    private let mark: String
    /// The place in the log up to which the client has everything or, while it still reads rows, will have.
    let place: Int64
    /// The row that it has reached; nil when it has read all.
    private(set) var id: ElementID?

    /// - Parameter mark: the place's.
    init(
        _ state: BackendState, _ question: ChangesQuestion, user: String, at place: Int64, mark: Int64,
        id: ElementID? = nil
    ) {
        (generation, self.place, self.id) = (state.generation, place, id)
        // Not the name itself: a cursor may end up in a log.
        self.mark = String(ContentNumber.text("\(question.list) \(mark) \(user)"), radix: 36)
    }

    /// nil for any string that `text` can't have produced.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), !parts[0].isEmpty, let place = Int64(parts[1]), place >= 0 else {
            return nil
        }
        (generation, self.place, mark) = (String(parts[0]), place, String(parts[2]))
        guard parts.count == 4 else { return }
        guard let id = Self.id(hex: parts[3]) else { return nil }
        self.id = id
    }

    /// An id may be any text, so it is written in hexadecimal digits: a client may forget to escape it.
    var text: String {
        let digits = id?.description.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        return "\(generation).\(place).\(mark)" + (digits.map { "." + $0.joined() } ?? "")
    }

    private static func id(hex: Substring) -> ElementID? {
        let digits = hex.compactMap(\.hexDigitValue)
        guard digits.count == hex.count, digits.count % 2 == 0 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        return String(validating: bytes, as: UTF8.self).flatMap { ElementID($0) }
    }
}

/// The parameters of `GET /api/v1/changes`.
struct ChangesQuestion {
    var user: String?
    var list = VersionList.samples
    var limit: Int
    var cursor: BackendCursor?

    private static let usualLimit = 2000
    private static let names = ["user", "list", "limit", "cursor", "since"]

    /// - Throws: `SyncRefusal`, naming the parameter that can't be read.
    init(_ query: [String: String]) throws {
        // A misspelt `cursor` would ask for everything.
        try Question.refuseStrangers(in: query, names: Self.names)
        user = query["user"]
        if query["list"] != nil { list = try VersionList(query) }
        limit = try Question.limit(query, 1...BackendQueries.versionsLimit, usual: Self.usualLimit)
        cursor = try (query["cursor"] ?? query["since"]).map {
            guard let cursor = BackendCursor($0) else {
                throw SyncRefusal.malformed("cursor isn't from an earlier answer's next")
            }
            return cursor
        }
    }

    /// Everything that the answer depends on.
    var text: String { "\(user ?? "")\n\(list)\n\(limit)\n\(cursor?.text ?? "")" }
}
