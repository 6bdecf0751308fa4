import HealthModel
import SQLite

/// Where samples of one type and source cover the same time, no import contains them together, and neither form has
/// replaced the other.
package struct TypeOverlaps: Sendable, Equatable {
    /// The number of such stretches.
    package var stretches: Int
    /// The beginning of the first and the end of the last.
    package var first: Instant
    package var last: Instant

    package init(stretches: Int, first: Instant, last: Instant) {
        (self.stretches, self.first, self.last) = (stretches, first, last)
    }
}

extension HealthStoreReader {
    /// A user's overlaps by type; none in a store that an earlier release has written.
    package func overlaps(user: String) throws -> [String: TypeOverlaps] {
        guard try database.hasTable("overlaps") else { return [:] }
        try refresh()
        guard let id = users.ids[user] else { return [:] }
        let query = try database.prepare(
            "SELECT type, count(*), min(first), max(last) FROM overlaps WHERE user = ? AND together = 0 GROUP BY type")
        var found: [String: TypeOverlaps] = [:]
        try query.with(id).forEachRow { row in
            found[try types.name(row.int(0))] = TypeOverlaps(
                stretches: row.int(1), first: Instant(seconds: row.int64(2)), last: Instant(seconds: row.int64(3)))
        }
        return found
    }
}
