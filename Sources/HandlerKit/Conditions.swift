import Changelog
import Configuration
import HealthModel
import Protocol
import SQLite
import StageKit

/// The conditions that a handler watches for people, by user and by the name that the user gave.
///
/// They are rows of the stage's own changelog, and are kept, copied and read like its other rows. A table records the
/// conditions with which the handler's days were computed; at each start, the rows are compared with this table.
struct Conditions {
    private var byUser: [String: [String: Value]] = [:]

    private static let registered = ValueTable("registered_conditions", key: "user", value: "conditions")

    static func createTables(in database: Database) throws { try registered.create(in: database) }

    init() {}

    init(_ database: Database) throws {
        // The rows are found by the key's prefix, so that the index on keys is used.
        let list = try database.prepare(
            "SELECT user, body FROM changes WHERE key >= 'condition/' AND key < 'condition0' AND body IS NOT NULL")
        try list.forEachRow { row in
            guard let kept = try CBORDecoder.decode(row.bytes(1)).read(ConditionBody.self) else {
                throw StageError.unreadableCursor("condition")
            }
            byUser[row.string(0), default: [:]][kept.name] = try Self.registrable(kept.condition)
        }
    }

    /// By name.
    subscript(user: String) -> [String: Value] { byUser[user] ?? [:] }

    var count: Int { byUser.values.map(\.count).reduce(0, +) }

    /// A condition in the form in which the table returns it: JSON writes `100.0` as `100`, which would be a different
    /// condition.
    private static func registrable(_ condition: Value) throws -> Value { try Value(json: condition.json().utf8) }

    /// Keys are visible where contents aren't (`healthbus tap`), and a name is private, so the key contains only its
    /// digest.
    private static func key(_ name: String, of user: String) -> String {
        "condition/\(user)/\(ContentDigest(Array(name.utf8)[...]))"
    }

    /// Keeps a condition, or forgets it.
    /// - Parameter topic: the handler's topic for conditions.
    mutating func set(_ name: String, to condition: Value?, of user: String, topic: String, _ turn: Turn) throws {
        _ = try turn.write()
        let key = Self.key(name, of: user)
        let condition = try condition.map(Self.registrable)
        byUser[user, default: [:]][name] = condition
        if let condition {
            try turn.changelog.put(
                key: key, topic: topic, user: user, day: nil,
                body: Value(ConditionBody(name: name, condition: condition)))
        } else {
            try turn.changelog.remove(key: key)
        }
    }

    /// Registers the conditions that are kept, and no others.
    /// - Returns: how many kept conditions weren't registered or were registered differently, and how many were
    ///   registered but are no longer kept.
    func register(_ turn: Turn) throws -> (again: Int, gone: Int) {
        var before: [String: [String: Value]] = [:]
        try Self.registered.forEach(in: turn.database) { before[$0] = $1.object ?? [:] }
        var (again, gone) = (0, 0)
        for user in Set(before.keys).union(byUser.keys).sorted() {
            let (old, new) = (before[user] ?? [:], self[user])
            guard old != new else { continue }
            again += new.count { old[$0.key] != $0.value }
            gone += old.count { new[$0.key] == nil }
            try Self.registered.set(user, to: .object(new), turn)
        }
        return (again, gone)
    }
}

extension HandlerStage {
    /// Called at each start. Conditions that are kept but not registered have vanished behind the handler's back, as
    /// Core Location's regions do.
    func reconcileConditions(_ turn: Turn) throws {
        guard characteristics.watches else { return }
        try Conditions.createTables(in: turn.write().database)
        characteristics.conditions = try Conditions(turn.database)
        let count = characteristics.conditions.count
        turn.log(.conditionsWatched, ["count": count])
        let (again, gone) = try register(turn)
        guard again + gone > 0 else { return }
        turn.log(.conditionsReconciled, ["count": count, "again": again, "gone": gone])
    }

    /// Keeps or forgets conditions for a person; each is checked before any is accepted.
    func watch(_ request: RepairRequest, _ turn: Turn) throws -> RepairOutcome {
        guard characteristics.watches, let user = request.user, let wanted = request.conditions else {
            return .refused("this instance watches nothing, or the request names no conditions")
        }
        guard timelines[user] != nil || user == "me" else { return .refused("there is no such user") }
        var new = characteristics.conditions[user]
        for (name, condition) in wanted.sorted(by: { $0.key < $1.key }) {
            if condition.isNull {
                new[name] = nil
                continue
            }
            do { new[name] = try computer.traits.condition(name, condition) } catch { return .refused("\(error)") }
        }
        let limit = computer.traits.conditionLimit(configuration)
        guard new.count <= max(limit, characteristics.conditions[user].count) else {
            return .refused("at most \(limit) are watched for a person; remove another one first")
        }
        for name in wanted.keys.sorted() {
            try characteristics.conditions.set(
                name, to: new[name], of: user, topic: ConditionBody.topicPrefix + instance, turn)
        }
        _ = try register(turn)
        return watched(request, turn)
    }

    /// Days are computed again at once where that is possible; otherwise they wait, without holding up anything.
    func watched(_ request: RepairRequest, _ turn: Turn) -> RepairOutcome {
        let left = upstream.isLevel ? dirty.count : max(1, dirty.count)
        guard left == 0 || upstream.limit == nil || upstream.isHeldUp(turn) else { return .underWay(left: Int64(left)) }
        return .done(["count": Value(characteristics.conditions[request.user ?? ""].count)])
    }

    /// Every day is computed with the conditions watched now, even days without figures: they may now have some.
    private func register(_ turn: Turn) throws -> (again: Int, gone: Int) {
        let changed = try characteristics.conditions.register(turn)
        guard changed.again + changed.gone > 0 else { return changed }
        forgetSlices()
        try markEverything(turn)
        try freshness.rereads(through: upstream.frontier, turn)
        try upstream.rewind(turn)
        return changed
    }
}
