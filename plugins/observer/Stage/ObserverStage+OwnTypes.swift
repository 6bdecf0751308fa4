import Changelog
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// Types that a person makes: a name, a unit, and how a day is summed up.
extension ObserverStage {
    private static let typeMembers: Set = ["name", "kind", "unit", "aggregation"]
    private static let unitLimit = 40
    private static let typeLimit = 500

    func answer(types request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnAnswer {
        switch request.action {
        case .addType: return try addType(request, of: user, turn)
        case .changeType: return try changeType(request, of: user, turn)
        case .removeType: return try removeType(request, of: user, turn)
        default:
            let types = try OwnTables.types(of: user, in: turn.database)
            return OwnAnswer(200, ["types": .array(types.map(\.value))])
        }
    }

    private func addType(_ request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnAnswer {
        let body = request.body?.object ?? [:]
        try OwnRefusal.check(body, allowed: Self.typeMembers, what: "a type")
        let name = try Self.name(body["name"]?.string)
        let known = try OwnTables.type(name, of: user, in: turn.database)
        let type = try Self.type(name, body, version: (known?.version ?? 0) + 1)
        if let row = known?.row {
            var same = type
            same.version = row.version
            guard same == row else {
                throw OwnRefusal.taken(
                    "version", "there is a type with this name already, in version \(row.version)",
                    hint: "change that one, or use another name", version: row.version)
            }
            return OwnAnswer(200, row.value)
        }
        try checkFollowed(type, of: user, turn)
        let types = try OwnTables.types(of: user, in: turn.database)
        // Commands ignore letter case.
        if let other = types.first(where: { $0.name.lowercased() == name.lowercased() }) {
            throw OwnRefusal.malformed(
                "there is a type of that name already, written with other capitals",
                hint: "use \(other.name), or choose another name",
                plainHint: "use that one ('healthbus types own' shows it), or choose another name")
        }
        guard types.count < Self.typeLimit else {
            throw OwnRefusal.taken(
                "too-many", "there are \(Self.typeLimit) types already", hint: "remove one that you don't use")
        }
        return try save(type, status: 201, of: user, turn)
    }

    /// What the stack that this one follows says about its type of that name; nil if it has none.
    private func followed(_ name: String, of user: String, _ turn: Turn) throws -> Value? {
        guard !follows.isEmpty else { return nil }
        return try CharacteristicsTable.followedTypes(of: user, in: turn.database)[name]
    }

    /// Whether a type was made on the stack that this one follows, where it is changed and entered.
    func isFollowed(_ name: String, of user: String, _ turn: Turn) throws -> Bool {
        try followed(name, of: user, turn) != nil
    }

    /// The events of a followed stack keep the type's unit, and a type that has events can't be removed.
    private func checkFollowed(_ type: OwnTypeRow, of user: String, _ turn: Turn) throws {
        guard let unit = try followed(type.name, of: user, turn)?["unit"].string, unit != type.unit else { return }
        throw OwnRefusal.taken(
            "in-use", "the stack that this one follows has a type with this name in another unit",
            hint: "use its unit, or another name")
    }

    private func changeType(_ request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnAnswer {
        let row = try ownType(request, of: user, turn)
        let patch = request.body?.object ?? [:]
        try OwnRefusal.check(patch, allowed: ["unit", "aggregation"], what: "a change to a type")
        var type = row
        type.unit = try Self.unit(patch["unit"] ?? .string(row.unit), kind: row.kind)
        type.aggregation = try Self.aggregation(patch["aggregation"] ?? .string(row.aggregation), kind: row.kind)
        if type == row { return OwnAnswer(200, row.value) }
        try require(request, version: row.version)
        if type.unit != row.unit, try isUsed(row.name, of: user, turn) {
            throw OwnRefusal.taken(
                "in-use", "there are events in the old unit", hint: "remove them first, or make another type",
                version: row.version)
        }
        type.version += 1
        let answer = try save(type, status: 200, of: user, turn)
        try writer(for: user, turn).touchNewest(of: row.name)
        try refreshHeads()
        return answer
    }

    private func removeType(_ request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnAnswer {
        if let name = request.id, let known = try OwnTables.type(name, of: user, in: turn.database), known.row == nil {
            return Self.removed(name, known.version)
        }
        var row = try ownType(request, of: user, turn)
        try require(request, version: row.version)
        guard try !isUsed(row.name, of: user, turn) else {
            throw OwnRefusal.taken(
                "in-use", "there are events of this type", hint: "remove them first", version: row.version)
        }
        row.version += 1
        let stage = try turn.write()
        try OwnTables.save(row, isRemoved: true, of: user, at: stage.nextSequence(), in: stage.database)
        return Self.removed(row.name, row.version)
    }

    private static func removed(_ name: String, _ version: Int64) -> OwnAnswer {
        OwnAnswer(200, ["name": .string(name), "version": .integer(version), "deleted": true])
    }

    private func ownType(_ request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnTypeRow {
        guard let name = request.id, let row = try OwnTables.type(name, of: user, in: turn.database)?.row else {
            if let name = request.id, try isFollowed(name, of: user, turn) {
                throw OwnRefusal.elsewhere("change or remove it")
            }
            throw OwnRefusal.missing("type of your own", hint: "'healthbus types own' shows them")
        }
        return row
    }

    private func isUsed(_ type: String, of user: String, _ turn: Turn) throws -> Bool {
        let reader = try self.reader ?? HealthStoreReader(database: turn.database)
        return try reader.heads(user: user).contains { $0.type == type && $0.alive > 0 }
    }

    private func save(_ type: OwnTypeRow, status: Int, of user: String, _ turn: Turn) throws -> OwnAnswer {
        try zones.ensure(user: user, zone: zone, turn)
        let stage = try turn.write()
        try OwnTables.save(type, of: user, at: stage.nextSequence(), in: stage.database)
        return OwnAnswer(status, type.value)
    }

    // MARK: What a type may be

    private static func type(
        _ name: String, _ body: [String: Value], version: Int64
    ) throws(OwnRefusal) -> OwnTypeRow {
        let given = body["kind"] ?? .string(OwnKind.quantity.rawValue)
        guard let kind = given.string.flatMap(OwnKind.init(rawValue:)) else {
            throw .malformed("kind is neither quantity nor category", hint: "a category has no value: it is counted")
        }
        let usual = kind == .category ? OwnAggregation.count : .sum
        return OwnTypeRow(
            name: name, kind: kind.rawValue, unit: try unit(body["unit"] ?? .null, kind: kind.rawValue),
            aggregation: try aggregation(body["aggregation"] ?? .string(usual.rawValue), kind: kind.rawValue),
            version: version)
    }

    private static func name(_ name: String?) throws(OwnRefusal) -> String {
        guard let name, OwnTypeNames.isWellFormed(name) else {
            throw .malformed(
                "a type's name has 1 to 64 letters, digits, '-' and '_', and begins with a letter or '_'",
                hint: "as in coffee or blood-test")
        }
        let choose = "choose another name"
        let proposal = "\(choose), such as \(OwnTypeNames.proposal(for: name))"
        switch OwnTypeNames.meaning(of: name) {
        case .healthKit(let type, true):
            throw .malformed(
                "HealthKit has that type already",
                hint: "'healthbus events add \(type) VALUE' enters an event of it; or \(proposal)",
                plainHint: "'healthbus events add \(type) VALUE' enters an event of it; or \(choose)")
        case .healthKit:
            throw .malformed("HealthKit has a type of that name", hint: proposal, plainHint: choose)
        case .figure: throw .malformed("a day has a figure of that name", hint: proposal, plainHint: choose)
        case nil: break
        }
        guard !OwnTypeNames.isReserved(name) else {
            throw .malformed(
                "names that begin like this one are reserved for Apple's types", hint: proposal, plainHint: choose)
        }
        return name
    }

    private static func unit(_ unit: Value, kind: String) throws(OwnRefusal) -> String {
        if unit.isNull { return "" }
        guard let text = unit.string, text.utf8.count <= unitLimit else {
            throw .malformed("unit isn't text of at most \(unitLimit) bytes", hint: "as in cups")
        }
        guard text.isEmpty || kind == OwnKind.quantity.rawValue else {
            throw .malformed("a category has no unit", hint: "leave it out, or make it a quantity")
        }
        return text
    }

    private static func aggregation(_ value: Value, kind: String) throws(OwnRefusal) -> String {
        guard let found = value.string.flatMap(OwnAggregation.init(rawValue:)) else {
            throw .malformed(
                "aggregation is none of \(OwnAggregation.allCases.map(\.rawValue).joined(separator: ", "))",
                hint: "it says how a day is summed up")
        }
        guard kind == OwnKind.quantity.rawValue || found == .count else {
            throw .malformed("a category can only be counted", hint: "leave the aggregation out")
        }
        return found.rawValue
    }
}
