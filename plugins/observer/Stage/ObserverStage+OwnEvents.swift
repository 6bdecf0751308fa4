import Changelog
import HealthModel
import HealthStore
import ObserverReading
import Protocol
import SQLite
import StageKit

/// Events that a person enters: ordinary samples of the source type manual. A change of the content at the same time is
/// a new version of the sample; at another time it is another sample, as in HealthKit.
extension ObserverStage {
    /// The path that they come in by, as imports and undos name it.
    private static let way = "/v1/events"

    /// Carries out a request; repeating it changes nothing.
    /// - Parameter device: which one sent it; nil for a command.
    func answer(_ request: OwnRequest, of user: String, from device: String?, _ turn: Turn) throws -> OwnAnswer {
        do {
            switch request.action {
            case .listTypes, .addType, .changeType, .removeType:
                return try answer(types: request, of: user, turn)
            case .showEvent:
                guard let found = try event(request, of: user, turn).found else { throw OwnRefusal.gone }
                return OwnAnswer(200, found.row.json)
            case .addEvent: return try add(request, of: user, from: device, turn)
            case .changeEvent: return try change(request, of: user, from: device, turn)
            case .removeEvent: return try remove(request, of: user, turn)
            }
        } catch let refusal as OwnRefusal { return refusal.answer }
    }

    /// Whether an id is one that a path can end with.
    static func isEventID(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count) && id.utf8.allSatisfy { OwnKind.nameBytes.contains($0) || $0 == 0x2E }
    }

    private func event(
        _ request: OwnRequest, of user: String, _ turn: Turn
    ) throws -> (place: OwnTables.Place, found: (row: OwnEventRow, content: SampleContent)?) {
        guard let id = request.id, let place = try OwnTables.event(id, of: user, in: turn.database) else {
            throw OwnRefusal.missing("event", hint: "'healthbus events list' shows them")
        }
        return (place, try OwnTables.read(place, of: user, in: entries(turn)))
    }

    private func entries(_ turn: Turn) throws -> HealthStoreReader {
        try reader ?? HealthStoreReader(database: turn.database)
    }

    private func add(_ request: OwnRequest, of user: String, from device: String?, _ turn: Turn) throws -> OwnAnswer {
        guard let id = request.id, Self.isEventID(id) else {
            throw OwnRefusal.malformed(
                "the id isn't 1 to 64 letters, digits, '-', '_' and '.'", hint: "leave it out, or use a UUID")
        }
        let known = try OwnTables.event(id, of: user, in: turn.database)
        let draft = try draft(request.body?.object ?? [:], id: id, version: 1, of: user, turn)
        if let known {
            guard let found = try OwnTables.read(known, of: user, in: entries(turn)) else { throw OwnRefusal.gone }
            guard draft.isSame(found.row, found.content) else {
                throw OwnRefusal.taken(
                    "version", "there is an event with this id and other content, in version \(known.version)",
                    hint: "change it with PATCH, or use another id", version: known.version)
            }
            return OwnAnswer(200, found.row.json)
        }
        try requirePlace(for: draft, besides: id, of: user, turn)
        try store(draft, insteadOf: nil, of: user, from: device, turn)
        let place = OwnTables.Place(id: id, version: 1, uuid: draft.records.healthKitUUID[0])
        return try save(place, status: 201, of: user, turn)
    }

    private func change(
        _ request: OwnRequest, of user: String, from device: String?, _ turn: Turn
    ) throws -> OwnAnswer {
        let (place, read) = try event(request, of: user, turn)
        guard let uuid = place.uuid, let found = read else { throw OwnRefusal.gone }
        let patch = request.body?.object ?? [:]
        let version = place.version + 1
        let draft = try draft(Self.members(of: found.row, with: patch), id: place.id, version: version, of: user, turn)
        // What is so already needs no version: a change that is sent twice is carried out once.
        if draft.isSame(found.row, found.content) { return OwnAnswer(200, found.row.json) }
        try require(request, version: place.version)
        if draft.isInPlace(found.content) {
            _ = try turn.write()
            _ = try writer(for: user, turn).revise(
                uuid: uuid, value: draft.value, unit: draft.unit, metadata: draft.metadata)
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
        guard let uuid = place.uuid, found != nil else { return Self.removed(place) }
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

    private func draft(
        _ body: [String: Value], id: String, version: Int64, of user: String, _ turn: Turn
    ) throws -> OwnDraft {
        let prefix = SampleKeyPrefix(user: user, type: "event", sourceName: id)
        // Each version has its own UUID, so that one at another time is another sample.
        let uuid = SampleID(prefix, startSecond: 0, endSecond: 0, ordinal: Int(version))
        let own = try body["type"]?.string.flatMap { try OwnTables.type($0, of: user, in: turn.database)?.row }
        let draft = try OwnDraft(body, id: id, version: version, uuid: uuid, own: own)
        let rule = Self.plausibility(at: turn.now)(draft.type)
        let why = HealthStoreWriter.refusal(start: draft.start, end: draft.end, value: draft.value, rule: rule)
        if let why { throw OwnRefusal.malformed(why, hint: "look at the value and the times") }
        return draft
    }

    /// The members of an event, with a change. If only its start changes, it stays as long as it was.
    private static func members(of row: OwnEventRow, with patch: [String: Value]) -> [String: Value] {
        var body: [String: Value] = [
            "type": .string(row.type), "start": .string(InstantText.iso8601(row.start)),
            "end": .string(InstantText.iso8601(row.end)), "value": Value(row.value), "note": Value(row.note),
        ]
        // A type of its own brings its unit; a number is in the unit that it is stored in unless another is named.
        if patch["type"] == nil { body["unit"] = .string(row.unit) }
        if let start = patch["start"].flatMap(instant), patch["end"] == nil {
            body["end"] = .string(InstantText.iso8601(start + (row.end - row.start)))
        }
        for (name, value) in patch { body[name] = value }
        if body["unit"] == .string("") { body["unit"] = nil }
        return body
    }

    /// Text, or seconds since 1970.
    private static func instant(_ value: Value) -> Instant? {
        if let text = value.string { return InstantText.parse(text) }
        guard let seconds = value.double, abs(seconds) < 1e11 else { return nil }
        return Instant(microseconds: Int64((seconds * 1e6).rounded()))
    }

    /// Backends take two entries of a type for one instant as one, so there can't be two.
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

    private func store(
        _ draft: OwnDraft, insteadOf old: SampleID?, of user: String, from device: String?, _ turn: Turn
    ) throws {
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
