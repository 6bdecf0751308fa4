import HTTP
import HealthModel

/// The parameters of a read request.
struct Question {
    /// nil if the request names no user.
    var user: String?
    var type: String?
    var limit: Int
    var rawCursor: String?
    var cursor: ElementID?
    private var from: Bound?
    private var to: Bound?

    /// The parameters of lists of documents.
    static let names = ["user", "from", "to", "zone", "limit", "cursor"]

    /// One end of a range, inclusive: a date or a time.
    private struct Bound {
        /// The date itself, or the date of the time.
        var day: String
        var isDate: Bool
        /// `from`: the first instant in the range; `to`: the first instant after the range.
        var edge: Instant
    }

    /// - Parameter names: the allowed parameters, since a misspelt `from` would request everything; nil ignores unknown
    ///   ones.
    /// - Throws: `SyncRefusal`, naming the parameter that can't be read.
    init(_ query: [String: String], limits: ClosedRange<Int>, names: [String]?) throws {
        if let names { try Self.refuseStrangers(in: query, names: names) }
        user = query["user"]
        type = query["type"]
        rawCursor = query["cursor"]
        if let rawCursor {
            guard let id = ElementID(rawCursor) else {
                throw SyncRefusal.malformed("cursor isn't from this backend")
            }
            cursor = id
        }
        limit = try Self.limit(query, limits, usual: limits.upperBound)
        let zone = try query["zone"].map { name in
            guard let zone = try? ZoneTimeline(zone: name) else {
                throw SyncRefusal.malformed("zone isn't a name such as Europe/Berlin")
            }
            return zone
        }
        from = try query["from"].map { try Self.bound($0, "from", isEnd: false, zone) }
        to = try query["to"].map { try Self.bound($0, "to", isEnd: true, zone) }
    }

    static func refuseStrangers(in query: [String: String], names: [String]) throws {
        if let stranger = query.keys.sorted().first(where: { !names.contains($0) }) {
            throw SyncRefusal.unknownParameter(stranger, known: names)
        }
    }

    static func limit(_ query: [String: String], _ limits: ClosedRange<Int>, usual: Int) throws -> Int {
        guard let text = query["limit"] else { return usual }
        guard let number = Int(text), limits.contains(number) else {
            throw SyncRefusal.malformed("limit isn't a number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return number
    }

    private static func bound(_ text: String, _ name: String, isEnd: Bool, _ zone: ZoneTimeline?) throws -> Bound {
        if let day = LocalDay(text) {
            let ranges = zone?.ranges(of: day) ?? []
            let start = Instant(seconds: Int64(day.number) * 86_400)
            let edge =
                isEnd
                ? ranges.last?.upperBound ?? start + .seconds(86_400) : ranges.first?.lowerBound ?? start
            return Bound(day: text, isDate: true, edge: edge)
        }
        guard let instant = InstantText.parse(text) else {
            throw SyncRefusal.malformed("\(name) is neither a date (2025-03-30) nor an ISO 8601 time")
        }
        // Without the parameter `zone`, a time belongs to the date written in it.
        return Bound(
            day: zone?.day(of: instant).description ?? String(text.prefix(10)), isDate: false,
            edge: isEnd ? instant + .microseconds(1) : instant)
    }

    /// Where the range begins, and the first moment after it, in microseconds since 1970; nil for no bound.
    var begin: Int64? { from?.edge.microseconds }
    var end: Int64? { to?.edge.microseconds }

    /// The dates that bound it, for documents with a date.
    var days: (first: String?, last: String?) { (from?.day, to?.day) }

    /// Every parameter that an answer depends on, as one string.
    var text: String {
        func part(_ bound: Bound?) -> String {
            bound.map { "\($0.edge.microseconds) \($0.day) \($0.isDate)" } ?? ""
        }
        return [user ?? "", type ?? "", String(limit), rawCursor ?? "", part(from), part(to)].joined(separator: "\n")
    }

    /// Whether [start, end] touches the requested range; microseconds since 1970, as in rows.
    func holds(start: Int64, end: Int64) -> Bool {
        end >= from?.edge.microseconds ?? .min && start < to?.edge.microseconds ?? .max
    }

    /// Whether a document is in the requested range: by its local day where the bound is a date or the document has no
    /// times, otherwise by its times. A document with neither is in no range.
    func holds(_ times: DocumentTimes) -> Bool {
        if let from {
            if let date = times.date, from.isDate || times.start == nil {
                if date < from.day { return false }
            } else if (times.end ?? times.start ?? .distantPast) < from.edge {
                return false
            }
        }
        if let to {
            if let date = times.date, to.isDate || times.start == nil {
                if date > to.day { return false }
            } else if (times.start ?? .distantFuture) >= to.edge {
                return false
            }
        }
        return true
    }
}
