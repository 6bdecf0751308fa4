import HealthModel

/// What an Observation says of a sample whose meaning is in its payload: a dose, a state of mind, an ECG, a blood
/// pressure. Pure.
struct PayloadObservation {
    /// One of FHIR's codes for an Observation's status.
    private(set) var status = "final"
    /// The value, or why there is none, and the components.
    private(set) var members: [String: Value] = [:]
    private var components: [Value] = []

    enum Kind {
        case dose, stateOfMind, electrocardiogram, bloodPressure

        init?(_ type: String) {
            switch type {
            case HealthType.medicationDoseIdentifier: self = .dose
            case HealthType.stateOfMindIdentifier: self = .stateOfMind
            case HealthType.electrocardiogramIdentifier: self = .electrocardiogram
            case HealthType.bloodPressureIdentifier: self = .bloodPressure
            default: return nil
            }
        }
    }

    /// - Parameters:
    ///   - value: the sample's value; NaN if it has none.
    ///   - unit: its unit; empty if it has none.
    init(_ kind: Kind, value: Double, unit: String, _ payload: Value) {
        switch kind {
        case .dose: addDose(value, unit, payload)
        case .stateOfMind: addStateOfMind(payload)
        case .electrocardiogram: addElectrocardiogram(value, payload)
        case .bloodPressure: addBloodPressure(payload)
        }
        if !components.isEmpty { members["component"] = .array(components) }
    }

    // MARK: Kinds

    /// FHIR's words: a dose that was skipped is an observation that was cancelled, and one that nobody has answered for
    /// is registered without a result. So whoever reads final observations counts only doses that were taken.
    private mutating func addDose(_ dosage: Double, _ unit: String, _ payload: Value) {
        let found = DoseStatus(payload: payload)
        let dosage = dosage.isFinite ? dosage : Self.number(payload["doseQuantity"]) ?? .nan
        switch found {
        case .taken:
            Observations.add(.number(dosage), ResourceUnit(nil, of: unit, isFraction: false), to: &members)
        case .skipped: (status, members["dataAbsentReason"]) = ("cancelled", Observations.absent("not-performed"))
        case nil: (status, members["dataAbsentReason"]) = ("unknown", Observations.absent("unknown"))
        default: (status, members["dataAbsentReason"]) = ("registered", Observations.absent("unknown"))
        }
        if let found {
            let name = Self.name("HKMedicationDoseEventLogStatus", found.rawValue)
            add("logStatus", Self.concept(name, text: found.rawValue))
        }
        add("medication", Self.text(payload, "displayText", "nickname", "name"))
        add("scheduledDate", Self.moment(payload["scheduledDate"]))
    }

    private mutating func addStateOfMind(_ payload: Value) {
        if let valence = Self.number(payload["valence"]) {
            members["valueQuantity"] = [
                "value": .number(ResourceUnit.rounded(valence)), "system": .string(ResourceUnit.system), "code": "1",
            ]
        } else {
            members["dataAbsentReason"] = Observations.absent("unknown")
        }
        add("valenceClassification", Self.text(payload, "valenceClassification"))
        add("kind", Self.text(payload, "kind"))
        for (member, element) in [("labels", "Label"), ("associations", "Association")] {
            for text in Self.texts(payload[member], payload["children"], element) { add(member, Self.text(text)) }
        }
    }

    private mutating func addElectrocardiogram(_ value: Double, _ payload: Value) {
        let text = Self.text(payload, "classification", "rhythm")
        let found = ElectrocardiogramClassification(payload: payload)
        let name = found.map { Self.name("HKElectrocardiogramClassification", $0.rawValue) }
        if name == nil, text == nil {
            members["dataAbsentReason"] = Observations.absent("unknown")
        } else {
            let shown = text.flatMap { $0.value["text"].string }
            members["valueCodeableConcept"] = Self.concept(name, text: shown ?? name ?? "").value
        }
        let rate = value.isFinite ? value : Self.number(payload["averageHeartRate"])
        let coding = HealthCodes.types["HKQuantityTypeIdentifierHeartRate"]
        add("averageHeartRate", rate, ResourceUnit(coding, of: "count/min", isFraction: false), coding?.codes ?? [])
        add("symptoms", Self.text(payload, "symptoms", "symptomsStatus"))
        let hertz = ResourceUnit(nil, of: "Hz", isFraction: false)
        add("samplingFrequency", Self.number(payload["sampleRate"]) ?? Self.number(payload["samplingFrequency"]), hertz)
        let measurements = ["measurements", "numberOfVoltageMeasurements"].lazy.compactMap { Self.number(payload[$0]) }
        add(
            "measurements", measurements.first ?? payload["microvolts"].array.map { Double($0.count) },
            ResourceUnit(nil, of: "count", isFraction: false))
    }

    /// FHIR's profile requires both components, and a reason where one has no value.
    private mutating func addBloodPressure(_ payload: Value) {
        let parts = payload["parts"].array ?? []
        for type in HealthType.bloodPressureParts {
            let coding = HealthCodes.types[type]
            var component: [String: Value] = [
                "code": Observations.concept(coding?.codes ?? [], Observations.code(ofType: type))
            ]
            let part = parts.first { $0["type"].string == type && $0["value"].double != nil }
            Observations.add(
                part?["value"] ?? .null, ResourceUnit(coding, of: HealthType.named(type).unit, isFraction: false),
                to: &component)
            components.append(.object(component))
        }
    }

    // MARK: Components

    /// A component's value, with the member that holds it: `valueString`, `valueDateTime`, …
    private struct Part {
        var member: String
        var value: Value
    }

    private mutating func add(_ name: String, _ part: Part?) {
        guard let part else { return }
        components.append(["code": Observations.concept([], Observations.own("member", name)), part.member: part.value])
    }

    private mutating func add(_ name: String, _ number: Double?, _ unit: ResourceUnit, _ codes: [HealthCode] = []) {
        guard let number, number.isFinite else { return }
        components.append([
            "code": Observations.concept(codes, Observations.own("member", name)),
            "valueQuantity": unit.quantity(number),
        ])
    }

    /// HealthKit's name for a word, which it writes with a capital.
    private static func name(_ prefix: String, _ word: String) -> String {
        prefix + word.prefix(1).uppercased() + word.dropFirst()
    }

    /// - Parameter name: HealthKit's name, if it is known.
    private static func concept(_ name: String?, text: String) -> Part {
        var concept: [String: Value] = ["text": .string(text)]
        if let name { concept["coding"] = [Observations.coding(Observations.healthKit, name)] }
        return Part(member: "valueCodeableConcept", value: .object(concept))
    }

    /// Words are concepts, since `valueString` is for prose.
    private static func text(_ text: String) -> Part? { Observations.plain(text).map { concept(nil, text: $0) } }

    private static func text(_ payload: Value, _ members: String...) -> Part? {
        members.lazy.compactMap { words(payload[$0]) }.compactMap { text($0) }.first
    }

    private static func words(_ value: Value) -> String? { value.string ?? value.int.map { "\($0)" } }

    /// Exports write attributes as text.
    private static func number(_ value: Value) -> Double? {
        (value.double ?? value.string.flatMap { Double($0) }).flatMap { $0.isFinite ? $0 : nil }
    }

    private static func moment(_ value: Value) -> Part? {
        value.string.flatMap { InstantText.parse($0) }.map {
            Part(member: "valueDateTime", value: .string(InstantText.iso8601($0)))
        }
    }

    /// An app's list of words, or the elements of that name in an export.
    private static func texts(_ list: Value, _ children: Value, _ element: String) -> [String] {
        let stated = (list.array ?? []).compactMap { words($0) }
        let named = (children.array ?? []).filter { $0["element"].string == element }
            .compactMap { $0["name"].string ?? $0["text"].string }
        return stated + named
    }
}

/// HealthKit's verdict on an ECG (`HKElectrocardiogram.Classification`).
enum ElectrocardiogramClassification: String, CaseIterable {
    case sinusRhythm, atrialFibrillation, inconclusiveLowHeartRate, inconclusiveHighHeartRate, inconclusivePoorReading
    case inconclusiveOther, unrecognized

    /// From the importer's `rhythm`, or an app's words under `classification`; nil for anything unknown, since a wrong
    /// verdict is worse than none.
    init?(payload: Value) {
        let stated = ["rhythm", "classification"].lazy.compactMap { payload[$0].string }.map { PayloadWord($0) }
        let found = stated.compactMap { word in Self.allCases.first { word.names($0.rawValue) } }.first
        guard let found else { return nil }
        self = found
    }
}
