import HealthModel

/// The parts of an Observation.
extension Observations {
    func base(
        _ kind: Kind, _ id: String, status: String = "final", code: Value, category: HealthCoding.Category?
    ) -> [String: Value] {
        let identifier = identifier(kind, id)
        var members: [String: Value] = [
            "resourceType": "Observation", "identifier": [identifier.json], "status": .string(status),
            "code": code, "subject": subject,
        ]
        if givesIDs { members["id"] = .string(Self.id(identifier)) }
        if let category { members["category"] = [Self.category(category)] }
        return members
    }

    static func category(_ category: HealthCoding.Category) -> Value {
        ["coding": [coding("http://terminology.hl7.org/CodeSystem/observation-category", category.rawValue)]]
    }

    static func coding(_ system: String, _ code: String) -> Value {
        ["system": .string(system), "code": .string(code)]
    }

    /// The code of a sample's type. Only HealthKit's own names are in HealthKit's system.
    static func code(ofType name: String) -> Value {
        name.hasPrefix("HK") ? coding(healthKit, code(name)) : own("type", name)
    }

    /// A code of one of our own systems: `document`, `figure`, `type`.
    static func own(_ system: String, _ code: String) -> Value {
        coding(ResourceIdentifier.base + system, Self.code(code))
    }

    /// FHIR's `CodeableConcept`, with the public codes first.
    static func concept(_ codes: [HealthCode], _ own: Value) -> Value {
        ["coding": .array(codes.map(\.coding) + [own])]
    }

    /// A FHIR code has no white space except single spaces between words.
    static func code(_ name: String) -> String {
        name.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Text as FHIR allows it; nil if nothing would be visible. Other spaces become plain ones, which some readers
    /// insist on.
    static func plain(_ text: String) -> String? {
        let plain = String(text.map { $0.isWhitespace ? " " : $0 })
        return plain.contains { $0 != " " } ? plain : nil
    }

    /// nil for anything but a number.
    func component(_ name: String, _ value: Value, unit: String, isFraction: Bool = false) -> Value? {
        guard let number = value.double, number.isFinite else { return nil }
        let coding = HealthCodes.figures[name]
        return [
            "code": Self.concept(coding?.codes ?? [], Self.own("figure", name)),
            "valueQuantity": ResourceUnit(coding, of: unit, isFraction: isFraction).quantity(number),
        ]
    }

    func add(_ components: [Value], to members: inout [String: Value]) {
        if !components.isEmpty { members["component"] = .array(components) }
    }

    /// Adds a number, or states that there is none.
    static func add(_ value: Value, _ unit: ResourceUnit, to members: inout [String: Value]) {
        if let number = value.double, number.isFinite {
            members["valueQuantity"] = unit.quantity(number)
        } else {
            members["dataAbsentReason"] = absent("unknown")
        }
    }

    static func absent(_ reason: String) -> Value {
        ["coding": [coding("http://terminology.hl7.org/CodeSystem/data-absent-reason", reason)]]
    }

    static func add(_ start: Value, _ end: Value, to members: inout [String: Value]) {
        func moment(_ value: Value) -> Instant? { value.string.flatMap { InstantText.parse($0) } }
        guard let start = moment(start) else { return }
        guard let end = moment(end), start.microseconds < end.microseconds else {
            members["effectiveDateTime"] = .string(InstantText.iso8601(start))
            return
        }
        members["effectivePeriod"] = [
            "start": .string(InstantText.iso8601(start)), "end": .string(InstantText.iso8601(end)),
        ]
    }

    func add(source name: String, to members: inout [String: Value]) {
        if namesSources, let name = Self.plain(name) { members["device"] = ["display": .string(name)] }
    }
}
