import HealthModel
import SQLite

/// The living samples that one source has of a type, in a part of the store.
package struct SourceCount: Sendable, Equatable {
    package var user: String
    package var type: String
    package var source: String
    package var product: String
    package var samples: Int64
    package var firstStart: Instant
    package var lastStart: Instant
}

extension HealthStoreReader {
    /// Counts living samples by user, type and source, in sequence order.
    /// - Parameters:
    ///   - wanted: only this user's; nil for everybody's.
    ///   - limit: how many rows to examine.
    /// - Returns: the counts, and how far they reach; nil at the store's end.
    package func sources(
        user wanted: String?, after: SequenceNumber, limit: Int
    ) throws -> (counts: [SourceCount], through: SequenceNumber?) {
        struct Key: Hashable {
            var user: Int
            var type: Int
            var origin: Int
        }
        try refresh()
        let head = try head()
        guard after < head else { return ([], nil) }
        let user = wanted.map { users.ids[$0] ?? -1 }
        var found: [Key: (count: Int64, first: Int64, last: Int64)] = [:]
        var scanned = 0
        var reached = after
        let isComplete = try RowWalk(.all, in: database, blocks).run(
            SequenceWindow(after: after, through: head), wants: { owner, _ in user == nil || owner == user }
        ) { walked, _ in
            let row = walked.row
            reached = row.sequence
            scanned += 1
            if row.state == .alive, user == nil || walked.user == user {
                let key = Key(user: walked.user, type: row.type, origin: row.origin)
                let held = found[key] ?? (0, .max, .min)
                found[key] = (held.count + 1, min(held.first, row.start), max(held.last, row.start))
            }
            return scanned < limit
        }
        let counts = try found.map { key, part in
            let origin = try origin(key.origin)
            return SourceCount(
                user: try users.name(key.user), type: try types.name(key.type), source: origin.sourceName,
                product: origin.productType, samples: part.count, firstStart: Instant(microseconds: part.first),
                lastStart: Instant(microseconds: part.last))
        }
        return (counts, isComplete ? nil : reached)
    }

    /// The names of each of a user's sources that has had several.
    package func sourceNames(of user: String) throws -> [[String]] {
        try refresh()
        guard let id = users.ids[user] else { return [] }
        return Set(try otherNames(user: id).map { ([$0] + $1).sorted() }).sorted { $0.lexicographicallyPrecedes($1) }
    }
}
