import HTTP
import HealthModel

/// The parameters of a reading request.
struct Question {
    var user: String
    var type: String?
    /// Both inclusive dates or instants; a date counts in UTC for samples.
    private var from: String?
    private var to: String?
    private var fromInstant: Int64 = .min
    private var toInstant: Int64 = .max
    var limit: Int
    var rawCursor: String?
    var cursor: ElementID?

    /// - Throws: `SyncRefusal` that names the parameter it can't read.
    init(_ query: [String: String], limits: ClosedRange<Int>) throws {
        user = query["user"] ?? "default"
        type = query["type"]
        from = query["from"]
        to = query["to"]
        rawCursor = query["cursor"]
        if let rawCursor {
            guard let id = ElementID(rawCursor) else {
                throw SyncRefusal.malformed("cursor isn't one of this backend's")
            }
            cursor = id
        }
        limit = limits.upperBound
        if let text = query["limit"] {
            guard let number = Int(text), limits.contains(number) else {
                throw SyncRefusal.malformed("limit isn't a number from \(limits.lowerBound) to \(limits.upperBound)")
            }
            limit = number
        }
        if let from { fromInstant = try Self.instant(from, "from", addingDays: 0) }
        if let to {
            // Exclusive: the end of the day, or the microsecond after the time.
            toInstant = try Self.instant(to, "to", addingDays: 1)
            if LocalDay(to) == nil { toInstant += 1 }
        }
    }

    /// Whether [start, end] touches the asked range.
    func holds(start: Int64, end: Int64) -> Bool { end >= fromInstant && start < toInstant }

    /// Whether the date lies in the asked range; instants count by their date.
    func holds(day: String) -> Bool {
        if let from, day < String(from.prefix(10)) { return false }
        if let to, day > String(to.prefix(10)) { return false }
        return true
    }

    private static func instant(_ text: String, _ name: String, addingDays: Int) throws -> Int64 {
        if let day = LocalDay(text) { return Int64(day.number + addingDays) * 86_400 * Instant.second }
        guard let instant = InstantText.parse(text) else {
            throw SyncRefusal.malformed("\(name) is neither a date (2025-03-30) nor an ISO 8601 time")
        }
        return instant
    }
}
