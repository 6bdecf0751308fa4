import Changelog
import HealthModel
import SQLite
import StageKit

/// What the observer's changelog last reported about the users themselves, limited to what a handler requests, and what
/// this handler watches for them.
struct Characteristics {
    private let asked: Set<String>
    private var byUser: [String: Value] = [:]
    /// Empty unless the handler requests them.
    var conditions = Conditions()

    static let conditionsMember = "conditions"

    /// - Parameter asked: the members that the handler reads.
    init(_ asked: Set<String>) { self.asked = asked }

    var watches: Bool { asked.contains(Self.conditionsMember) }

    private static let table = ValueTable("characteristics", key: "user", value: "members")

    static func createTables(in database: Database) throws { try table.create(in: database) }

    mutating func open(_ turn: Turn) throws { try load(turn.database) }

    mutating func load(_ database: Database) throws {
        try Self.table.forEach(in: database) { byUser[$0] = $1 }
        if watches { conditions = try Conditions(database) }
    }

    /// An object; empty when nothing is known.
    subscript(user: String) -> Value {
        let known = byUser[user] ?? [:]
        guard watches else { return known }
        var members = known.object ?? [:]
        members[Self.conditionsMember] = .object(conditions[user])
        return .object(members)
    }

    /// Adopts a user's characteristics; returns true if that changes anything that the handler reads.
    mutating func learn(_ members: Value, user: String, _ turn: Turn) throws -> Bool {
        let new = Value.object(
            (members.object ?? [:]).filter { asked.contains($0.key) && $0.key != Self.conditionsMember })
        guard new != byUser[user] ?? [:] else { return false }
        byUser[user] = new
        try Self.table.set(user, to: new, turn)
        return true
    }

    /// Called when the store has been replaced by a different one, which may contain less.
    mutating func forget(_ turn: Turn) throws {
        guard !byUser.isEmpty else { return }
        byUser = [:]
        try turn.write().database.execute("DELETE FROM characteristics")
    }
}

extension HandlerStage {
    /// Adopts changed characteristics and marks every day that this handler has figures or events for, because those
    /// may change.
    func learnCharacteristics(_ characteristics: [String: Value], since: SequenceNumber, _ turn: Turn) throws {
        for (user, members) in characteristics {
            guard try self.characteristics.learn(members, user: user, turn) else { continue }
            let days = try turn.database.prepare(
                "SELECT DISTINCT day FROM changes WHERE user = ? AND day IS NOT NULL AND body IS NOT NULL"
            ).with(user).rows { $0.int(0) }
            for day in days { try dirty.mark(.init(user: user, day: day), since: since, turn) }
        }
    }
}
