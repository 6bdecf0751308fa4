import Changelog
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// Events that a person enters: ordinary samples of the source type manual. A change that keeps the time makes a new
/// version of the sample; one that changes the time makes another sample, as in HealthKit.
extension ObserverStage {
    /// The path by which they come in, as imports and undos name it.
    private static let way = "/v1/events"

    /// Carries out a request; repeating it changes nothing.
    /// - Parameter device: the device that sent it; nil for a command.
    func answer(_ request: OwnRequest, of user: String, from device: String?, _ turn: Turn) throws -> OwnAnswer {
        do {
            switch request.action {
            case .listTypes, .addType, .changeType, .removeType:
                return try answer(types: request, of: user, turn)
            case .showEvent:
                let (place, found) = try event(request, of: user, turn)
                guard let found else { throw try missing(place, of: user, turn) }
                return OwnAnswer(200, found.row.json)
            case .addEvent: return try add(request, of: user, from: device, turn)
            case .changeEvent: return try change(request, of: user, from: device, turn)
            case .removeEvent: return try remove(request, of: user, turn)
            }
        } catch let refusal as OwnRefusal {
            // A command adds the person to its own advice.
            return device == nil ? refusal.plainAnswer : refusal.answer(to: user)
        }
    }

    /// Whether a path can end with this id. HTTP clients take `.` and `..` for folders.
    static func isEventID(_ id: String) -> Bool {
        id.utf8.count <= 64 && id.utf8.contains { $0 != 0x2E }
            && id.utf8.allSatisfy { OwnTypeNames.bytes.contains($0) || $0 == 0x2E }
    }

    private func event(
        _ request: OwnRequest, of user: String, _ turn: Turn
    ) throws -> (place: OwnTables.Place, found: (row: OwnEventRow, content: SampleContent)?) {
        guard let id = request.id, let place = try OwnTables.event(id, of: user, in: turn.database) else {
            throw Self.unknown
        }
        return (place, try OwnTables.read(place, of: user, in: entries(turn)))
    }

    private static let unknown = OwnRefusal.missing("event", hint: "'healthbus events list' shows them")

    /// Why an event has no content: it was deleted, or taken back with everything that its origin had brought.
    private func missing(_ place: OwnTables.Place, of user: String, _ turn: Turn) throws -> OwnRefusal {
        try isTakenBack(place, of: user, turn) ? Self.unknown : .gone
    }

    private func isTakenBack(_ place: OwnTables.Place, of user: String, _ turn: Turn) throws -> Bool {
        guard let uuid = place.uuid else { return false }
        return try entries(turn).standing(of: uuid, user: user) == .absent
    }

    private func entries(_ turn: Turn) throws -> HealthStoreReader {
        try reader ?? HealthStoreReader(database: turn.database)
    }

    private func add(_ request: OwnRequest, of user: String, from device: String?, _ turn: Turn) throws -> OwnAnswer {
        guard let id = request.id, Self.isEventID(id) else {
            throw OwnRefusal.malformed(
                "the id isn't 1 to 64 letters, digits, '-', '_' and '.', or only dots",
                hint: "leave it out, or use a UUID")
        }
        let known = try OwnTables.event(id, of: user, in: turn.database)
        let found = try known.flatMap { try OwnTables.read($0, of: user, in: entries(turn)) }
        if let known, found == nil, try !isTakenBack(known, of: user, turn) { throw OwnRefusal.gone }
        var body = request.body?.object ?? [:]
        // Set here rather than by the sender: a repeat, which has a different "now", is about the event already stored.
        if body["start"]?.isNull != false {
            body["start"] = .string(InstantText.iso8601(found?.content.start ?? turn.now))
        }
        let version = try freeVersion(after: known?.version ?? 0, id: id, of: user, turn)
        let draft = try draft(body, id: id, version: version, of: user, turn)
        if let known, let found {
            guard draft.isSame(found.row, found.content) else {
                throw OwnRefusal.taken(
                    "version", "there is an event with this id and other content, in version \(known.version)",
                    hint: "change that one, or use another id", version: known.version)
            }
            return OwnAnswer(200, found.row.json)
        }
        try requirePlace(for: draft, besides: id, of: user, turn)
        try store(draft, insteadOf: nil, of: user, from: device, turn)
        let place = OwnTables.Place(id: id, version: version, uuid: draft.records.healthKitUUID[0])
        return try save(place, status: 201, of: user, turn)
    }

    private func change(
        _ request: OwnRequest, of user: String, from device: String?, _ turn: Turn
    ) throws -> OwnAnswer {
        let (place, read) = try event(request, of: user, turn)
        guard let uuid = place.uuid, let found = read else { throw try missing(place, of: user, turn) }
        let patch = request.body?.object ?? [:]
        let version = try freeVersion(after: place.version, id: place.id, of: user, turn)
        let draft = try draft(Self.members(of: found.row, with: patch), id: place.id, version: version, of: user, turn)
        // If nothing changes there is no new version: a change that is sent twice is carried out once.
        if draft.isSame(found.row, found.content) { return OwnAnswer(200, found.row.json) }
        try require(request, version: place.version)
        if draft.isInPlace(found.content) {
            _ = try turn.write()
            let isThere = try writer(for: user, turn).revise(
                uuid: uuid, value: draft.value, unit: draft.unit, metadata: draft.metadata)
            guard isThere else { throw OwnRefusal.gone }
            try refreshHeads()
            return try save(.init(id: place.id, version: version, uuid: uuid), status: 200, of: user, turn)
        }
        try requirePlace(for: draft, besides: place.id, of: user, turn)
        try store(draft, insteadOf: uuid, of: user, from: device, turn)
        let moved = OwnTables.Place(id: place.id, version: version, uuid: draft.records.healthKitUUID[0])
        return try save(moved, status: 200, of: user, turn)
    }

    private func remove(_ request: OwnRequest, of user: String, _ turn: Turn) throws -> OwnAnswer {
        let (place, found) = try event(request, of: user, turn)
        guard let uuid = place.uuid, found != nil else {
            if try isTakenBack(place, of: user, turn) { throw Self.unknown }
            return Self.removed(place)
        }
        try require(request, version: place.version)
        let session = ImportSession(source: Self.way, pushed: turn.now)
        try take(pushed: RecordBatch(), deleted: [uuid], of: user, session, turn)
        let last = OwnTables.Place(id: place.id, version: place.version + 1, uuid: nil)
        try OwnTables.save(last, of: user, in: try turn.write().database)
        return Self.removed(last)
    }

    private static func removed(_ place: OwnTables.Place) -> OwnAnswer {
        OwnAnswer(200, ["id": .string(place.id), "version": .integer(place.version), "deleted": true])
    }

    func require(_ request: OwnRequest, version: Int64) throws {
        guard let wanted = request.version, wanted != version else { return }
        throw OwnRefusal.version(version, isPrecondition: request.isPrecondition == true)
    }

    /// The UUID of a version. Each version has its own UUID, so that one with a different time is a different sample.
    private static func uuid(of id: String, version: Int64, user: String) -> SampleID {
        let prefix = SampleKeyPrefix(user: user, type: "event", sourceName: id)
        return SampleID(prefix, startSecond: 0, endSecond: 0, ordinal: Int(version))
    }

    /// The next version whose sample could be stored: a sample that was taken back keeps its UUID and its time. If the
    /// first version's sample was deleted permanently, so was the event.
    private func freeVersion(after version: Int64, id: String, of user: String, _ turn: Turn) throws -> Int64 {
        var next = version + 1
        while true {
            switch try entries(turn).standing(of: Self.uuid(of: id, version: next, user: user), user: user) {
            case .absent: break
            case .deleted where next > 1: break
            case .deleted, .free, .taken: return next
            }
            next += 1
        }
    }

    private func draft(
        _ body: [String: Value], id: String, version: Int64, of user: String, _ turn: Turn
    ) throws -> OwnDraft {
        let uuid = Self.uuid(of: id, version: version, user: user)
        let own = try body["type"]?.string.flatMap { try OwnTables.type($0, of: user, in: turn.database)?.row }
        if own == nil, let name = body["type"]?.string, try isFollowed(name, of: user, turn) {
            throw OwnRefusal.elsewhere("enter it")
        }
        let draft = try OwnDraft(body, id: id, version: version, uuid: uuid, own: own)
        let rule = Self.plausibility(at: turn.now)(draft.type)
        let why = HealthStoreWriter.refusal(start: draft.start, end: draft.end, value: draft.value, rule: rule)
        if let why {
            let hint =
                draft.unit == "%" && own == nil
                ? "HealthKit's percentages are fractions: 21 % is 0.21" : "check the value and the times"
            throw OwnRefusal.malformed(why, hint: hint)
        }
        return draft
    }

    /// The members of an event with a change applied. If only its start changes, its duration stays the same.
    private static func members(of row: OwnEventRow, with patch: [String: Value]) -> [String: Value] {
        var body: [String: Value] = [
            "type": .string(row.type), "start": .string(InstantText.iso8601(row.start)),
            "end": .string(InstantText.iso8601(row.end)), "value": Value(row.value), "note": Value(row.note),
        ]
        // A new type brings its own unit; otherwise a number is in the stored unit unless another is named.
        if patch["type"] == nil { body["unit"] = .string(row.unit) }
        if let start = patch["start"].flatMap({ try? OwnDraft.instant("start", $0) }), patch["end"] == nil {
            body["end"] = .string(InstantText.iso8601(start + (row.end - row.start)))
        }
        for (name, value) in patch { body[name] = value }
        if body["unit"] == .string("") { body["unit"] = nil }
        return body
    }

    /// Backends treat two entries of one type for the same instant as one, so there can't be two.
    private func requirePlace(for draft: OwnDraft, besides id: String, of user: String, _ turn: Turn) throws {
        for uuid in try entries(turn).entered(user: user, type: draft.type, start: draft.start) {
            guard let other = try OwnTables.event(with: uuid, of: user, in: turn.database), other.id != id else {
                continue
            }
            throw OwnRefusal.taken(
                "exists", "there is another event of this type for the same instant",
                hint: "change that one, or enter this one for another second", version: other.version, id: other.id)
        }
    }

    /// - Throws: `OwnRefusal` if the store wouldn't take it; nothing has changed then.
    private func store(
        _ draft: OwnDraft, insteadOf old: SampleID?, of user: String, from device: String?, _ turn: Turn
    ) throws {
        let uuid = draft.records.healthKitUUID[0]
        switch try uuid.map({ try entries(turn).standing(of: $0, user: user) }) {
        case .free, .absent, nil: break
        case .deleted: throw OwnRefusal.gone
        case .taken:
            throw OwnRefusal.taken(
                "exists", "a sample that came another way, such as from another stack, has this id",
                hint: "change it where it was entered, or use another id")
        }
        // Tried before anything is deleted, because a deletion is final.
        let trial = ImportSession(source: Self.way, pushed: turn.now, reportsOutcomes: true)
        let rule = Self.plausibility(at: turn.now)
        _ = try writer(for: user, turn).tryOut(draft.records, session: trial, plausibility: rule)
        switch trial.outcomes.first {
        case .added, .changed, .known: break
        case .deleted:
            throw OwnRefusal.taken(
                "exists", "a sample just like this one was deleted, for good", hint: "enter it for another second")
        case .quarantined, nil:
            throw OwnRefusal.taken(
                "too-many", trial.reasons[0] ?? "the store doesn't accept it",
                hint: "use a type and unit that the store has already, or HealthKit's")
        }
        let session = ImportSession(
            source: Self.way, bringer: device.map { Bringer.device($0, way: Self.way) }, pushed: turn.now)
        try take(pushed: draft.records, deleted: old.map { [$0] } ?? [], of: user, session, turn)
    }

    private func save(_ place: OwnTables.Place, status: Int, of user: String, _ turn: Turn) throws -> OwnAnswer {
        try OwnTables.save(place, of: user, in: try turn.write().database)
        guard let found = try OwnTables.read(place, of: user, in: entries(turn)) else { throw OwnRefusal.gone }
        return OwnAnswer(status, found.row.json)
    }
}
