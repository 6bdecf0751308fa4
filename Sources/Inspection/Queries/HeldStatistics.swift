import Client
import Configuration
import HealthModel
import Logging
import Protocol
import Terminal

/// The sums and means that the store has under types of their own, and which a view of the plain type therefore lacks.
package struct HeldStatistics: Sendable {
    /// A user's statistics of one type.
    package struct Row: Codable, Sendable, Equatable {
        package var user: String
        /// The identifier of the plain type.
        package var type: String
        package var count: Int
    }

    /// By user and type.
    package let rows: [Row]

    package init(_ held: [TypeRow]) {
        rows = held.compactMap { row in
            guard row.alive > 0, let type = HealthType.base(ofStatistics: row.type) else { return nil }
            return Row(user: row.user, type: type, count: row.alive)
        }.sorted { ($0.user, $0.type) < ($1.user, $1.type) }
    }

    package init(_ stack: Stack) throws {
        self.init(try stack.reader().pages(try stack.instance(.observer), .types).flatMap(\.types))
    }

    private init(rows: [Row]) { self.rows = rows }

    /// One person's, of these types; nil for all types.
    package func of(_ user: String, types: [String]? = nil) -> HeldStatistics {
        HeldStatistics(rows: rows.filter { $0.user == user && types?.contains($0.type) ?? true })
    }

    /// How many there are of each user and type, and the command that lists them; a line each, without an end.
    package var lines: [String] {
        rows.map { row in
            let type = Advice.quoted(TypeName.short(HealthType.statistics(of: row.type)))
            let whose = row.user == "me" ? "" : " --user \(Advice.quoted(row.user))"
            let isOne = row.count == 1
            return HumanFormat.count(row.count, HealthType.wordForStatistic(of: row.type))
                + " of \(TypeName.short(row.type)) \(isOne ? "isn't a sample" : "aren't samples"): "
                + "'healthbus samples --type \(type)\(whose)' lists \(isOne ? "it" : "them")"
        }
    }

    /// How many there are of each type (that of the statistics), over all users.
    package var counts: [String: Int] {
        Dictionary(rows.map { (HealthType.statistics(of: $0.type), $0.count) }, uniquingKeysWith: +)
    }

    package var text: String { lines.map { $0 + "\n" }.joined() }
}

extension TakenStatistics {
    /// How many entries were taken as what, and why.
    package var text: String {
        HumanFormat.count(Int(count), "entry", "entries")
            + " of \(TypeName.short(type)) taken as \(HealthType.wordForStatistic(of: type))s, not samples: \(reason)"
    }
}

extension HealthType {
    fileprivate static func wordForStatistic(of identifier: String) -> String {
        let type = named(identifier)
        return type.kind == .quantity && type.style != .cumulative ? "mean" : "sum"
    }
}
