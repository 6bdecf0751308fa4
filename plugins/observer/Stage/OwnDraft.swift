import HealthModel
import HealthStore
import Logging
import ObserverReading
import Protocol

/// An event as a person wants it stored, already checked: one record, and where it came from. Pure.
struct OwnDraft {
    /// The members of a request's body.
    static let members: Set = ["type", "start", "end", "value", "unit", "note"]
    /// The source of all samples made here.
    static let source = "healthbus"
    private static let noteLimit = 1000

    let type: String
    let note: String?
    /// One row.
    let records: RecordBatch
    /// The metadata as stored with the sample.
    let metadata: [UInt8]

    var start: Instant { records.startOf(0) }
    var end: Instant { records.endOf(0) }
    /// NaN for none.
    var value: Double { records.value[0] }
    var unit: String { records.units[Int(records.unit[0])] }

    /// - Parameters:
    ///   - type: one of the person's own, if that is what the body names.
    ///   - uuid: the UUID of the sample that it becomes.
    /// - Throws: the refusal, which names no value.
    init(
        _ body: [String: Value], id: String, version: Int64, uuid: SampleID, own type: OwnTypeRow?
    ) throws(OwnRefusal) {
        try OwnRefusal.check(body, allowed: Self.members, what: "an event")
        var value = body["value"] ?? .null
        if let number = value.double, !number.isFinite {
            throw .malformed("value isn't a finite number", hint: "give a number, as in 2 or 71.4")
        }
        let identifier: String
        var unit = body["unit"] ?? .null
        if let type {
            identifier = type.name
            guard unit.isNull || unit.string == type.unit else {
                throw .malformed(
                    "the unit isn't that of the type", hint: "leave it out, or send \"\(type.unit)\"",
                    plainHint: "leave it out")
            }
            let isCategory = type.kind == OwnKind.category.rawValue
            guard !isCategory || value.isNull else {
                throw .malformed("an event of a category has no value", hint: "leave the value out")
            }
            guard isCategory || value.double != nil else {
                throw .malformed(
                    value.isNull ? "the value is missing" : "the value isn't a number",
                    hint: "give a number, as in 2 or 71.4")
            }
            unit = .string(type.unit)
        } else {
            identifier = try Self.known(body["type"]?.string)
            value = try Self.value(value, of: identifier)
        }
        let note = body["note"] ?? .null
        guard note.isNull || note.string.map({ $0.utf8.count <= Self.noteLimit }) == true else {
            throw .malformed("note isn't text of at most \(Self.noteLimit) bytes", hint: "shorten it")
        }
        var metadata: [String: Value] = [
            "HKMetadataKeySyncIdentifier": .string(id), "HKMetadataKeySyncVersion": .integer(version),
        ]
        if !note.isNull { metadata[OwnTables.noteMember] = note }
        self.type = identifier
        self.note = note.string
        self.metadata = Array(Value.object(metadata).json().utf8)
        let start = try Self.instant("start", body["start"] ?? .null)
        let given = body["end"] ?? .null
        let end = given.isNull ? start : try Self.instant("end", given)
        guard end >= start else { throw Self.wrong("end is before start") }
        var records = RecordBatch()
        (records.start, records.end) = ([start.microseconds], [end.microseconds])
        let measured = try Self.measured(value, unit, HealthType.named(identifier))
        (records.types, records.units) = ([identifier], [measured.unit])
        records.origins = [Origin(sourceName: Self.source)]
        (records.type, records.unit, records.origin) = ([0], [0], [0])
        (records.value, records.created, records.flags) = ([measured.value], [0], [[.manual, .userEntered]])
        records.metadata.append(bytes: self.metadata)
        records.payload.appendEmpty()
        (records.healthKitUUID, records.line) = ([uuid], [1])
        self.records = records
    }

    private static func wrong(_ error: String) -> OwnRefusal {
        .malformed(error, hint: "check the type, the times and the value")
    }

    /// The instant given as text or as seconds since 1970, in the years 1 to 9999.
    static func instant(_ name: String, _ value: Value) throws(OwnRefusal) -> Instant {
        if let instant = value.string.flatMap({ InstantText.parse($0) }) { return instant }
        guard let seconds = value.double, (-62_135_596_800...253_402_300_799).contains(seconds) else {
            throw wrong("\(name) isn't a date: ISO 8601 with an offset, or seconds since 1970")
        }
        return Instant(microseconds: Int64((seconds * 1e6).rounded()))
    }

    /// The value in the type's canonical unit, or in the given one for a type that has none; NaN for no value.
    private static func measured(
        _ value: Value, _ unit: Value, _ type: HealthType
    ) throws(OwnRefusal) -> (value: Double, unit: String) {
        if type.kind == .category || value.isNull { return (value.int.map(Double.init) ?? .nan, "") }
        guard let number = value.double else { throw wrong("value isn't a number") }
        guard !unit.isNull else { return (number, type.unit) }
        guard let name = unit.string, name.utf8.count <= 200 else { throw wrong("unit isn't text") }
        guard !type.unit.isEmpty else { return (number, name) }
        guard let (scale, offset) = UnitConversion.toCanonical(unit: name, for: type) else {
            throw wrong("unit doesn't belong to this type, which is measured in \(type.unit)")
        }
        var digits = "\(number)"
        let converted = digits.withUTF8 { UnitFactors(scale: scale, offset: offset).convert($0) }
        guard let converted, converted.isFinite else { throw wrong("value isn't a number") }
        return (converted, type.unit)
    }

    /// One of HealthKit's quantities or categories, with or without its prefix.
    private static func known(_ name: String?) throws(OwnRefusal) -> String {
        guard let name, !name.isEmpty else {
            throw .malformed("type is missing", hint: "name one of your own types, or one of HealthKit's")
        }
        if let type = OwnKind.healthKit(name) { return type.identifier }
        let make = "'healthbus types add NAME' makes one of your own"
        if case .healthKit(_, isEntered: false)? = OwnTypeNames.meaning(of: name) {
            throw .malformed("events of this type can't be entered: it has no single value", hint: make)
        }
        throw .malformed("there is no such type", hint: make)
    }

    /// The value of one of HealthKit's types; for a category its number, also where the name is given.
    private static func value(_ value: Value, of identifier: String) throws(OwnRefusal) -> Value {
        guard HealthType.named(identifier).kind == .category else {
            guard !value.isNull else { throw .malformed("value is missing", hint: "give a number") }
            return value
        }
        if let raw = value.string.flatMap({ CategoryValue.raw(ofEntered: $0, type: identifier) }) {
            return .integer(Int64(raw))
        }
        guard value.int == nil else { return value }
        let plain = "give HealthKit's number or name"
        throw .malformed(
            value.isNull ? "value is missing" : "value isn't a category's number, nor one of HealthKit's names",
            hint: CategoryValue.choices(of: identifier).map { "give a number or a name: \($0)" } ?? plain,
            plainHint: plain)
    }

    /// Whether an event has this content already.
    func isSame(_ row: OwnEventRow, _ content: SampleContent) -> Bool {
        row.type == type && content.start == start && content.end == end && row.unit == unit && row.note == note
            && (content.value == value || content.value.isNaN && value.isNaN)
    }

    /// Whether the event has the type and times of that sample, which can then get another version.
    func isInPlace(_ content: SampleContent) -> Bool {
        content.type == type && content.start == start && content.end == end
    }
}

/// Which kinds a person's own type may have.
enum OwnKind: String, CaseIterable {
    case quantity, category

    /// HealthKit's own type of that name, if samples of it can be entered by hand.
    static func healthKit(_ name: String) -> HealthType? {
        let prefixes = ["", "HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier"]
        return prefixes.lazy.compactMap { HealthType.known($0 + name) }
            .first { $0.kind == .quantity || $0.kind == .category }
    }
}

/// How a person's own type is summed up for a day.
enum OwnAggregation: String, CaseIterable {
    case sum, average, latest, count
}

/// Why a request isn't carried out.
struct OwnRefusal: Error {
    var answer: OwnAnswer
    /// The hint without the names and units that a person chose; nil if it contains none.
    var plainHint: String?

    /// The answer for a heartbeat, which everybody on the bus can read.
    var plainAnswer: OwnAnswer {
        guard let plainHint, var members = answer.body.object else { return answer }
        members["hint"] = .string(plainHint)
        return OwnAnswer(answer.status, .object(members))
    }

    /// The same answer, with commands about this person: without `--user` they are about "me".
    func answer(to user: String) -> OwnAnswer {
        var answer = answer
        let advice = Advice(user: user == "me" ? nil : user)
        guard var members = answer.body.object, let hint = members["hint"]?.string else { return answer }
        members["hint"] = .string(advice.addressed(hint))
        answer.body = .object(members)
        return answer
    }

    static func malformed(_ error: String, hint: String, plainHint: String? = nil) -> OwnRefusal {
        OwnRefusal(answer: .refusal(422, "malformed", error, hint: hint), plainHint: plainHint)
    }

    static func missing(_ what: String, hint: String) -> OwnRefusal {
        OwnRefusal(answer: .refusal(404, "not-found", "there is no such \(what)", hint: hint))
    }

    /// - Parameter wish: what a person wanted to do with a type of the stack that this one follows: "enter it".
    static func elsewhere(_ wish: String) -> OwnRefusal {
        OwnRefusal(
            answer: .refusal(
                404, "not-found", "this type belongs to the stack that this one follows", hint: "\(wish) there"))
    }

    /// - Parameter current: the version that is stored.
    static func version(_ current: Int64, isPrecondition: Bool) -> OwnRefusal {
        OwnRefusal(
            answer: .refusal(
                isPrecondition ? 412 : 409, "version", "it has been changed since: its version is \(current)",
                hint: "look at it as it is now, and send the change again with that version", version: current))
    }

    static func taken(
        _ code: String, _ error: String, hint: String, version: Int64? = nil, id: String? = nil
    ) -> OwnRefusal {
        OwnRefusal(answer: .refusal(409, code, error, hint: hint, version: version, id: id))
    }

    static let gone = OwnRefusal(
        answer: .refusal(
            410, "deleted", "this event was deleted, for good", hint: "enter it again under another id"))

    /// A silently ignored member would be a mistake that nobody notices.
    static func check(_ body: [String: Value], allowed: Set<String>, what: String) throws(OwnRefusal) {
        guard let odd = body.keys.sorted().first(where: { !allowed.contains($0) }) else { return }
        throw .malformed(
            "\(what) has no member \"\(odd.prefix(40))\"",
            hint: "it has \(allowed.sorted().joined(separator: ", "))")
    }
}
