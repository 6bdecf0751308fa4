import HealthModel
import JSON

/// A page's samples as Observations, written from its columns; what the rows have in common is prepared once.
package struct SampleObservations {
    private let page: SamplePage
    private let resource: [UInt8]
    /// The bytes up to the id within the identifier.
    private let head: [UInt8]
    private let observations: Observations
    private let types: [TypePart]
    /// One entry for each of the page's units, for types without a unit of their own.
    private let units: [(unit: ResourceUnit, tail: [UInt8])]
    private let sources: [[UInt8]]

    private struct TypePart {
        /// The bytes from the status to the time.
        var middle: [UInt8]
        var type: HealthType
        /// Set for types whose samples say more in their payload than in their value.
        var payload: PayloadObservation.Kind?
        /// Whether a panel shows what a sample says that is part of a correlation.
        var isInPanel: Bool
        var isHealthKits: Bool
        /// Whether a person created the type; its samples without a number are events.
        var isOwn: Bool
        var unit: ResourceUnit?
        var tail: [UInt8]
    }

    package init(_ page: SamplePage, of observations: Observations) {
        (self.page, self.observations) = (page, observations)
        resource = Array("{\"resourceType\":\"Observation\",".utf8)
        let own = observations.identifier(.sample, "")
        let (system, value) = (JSONString.quoted(own.system), JSONString.quoted(own.value))
        // The quote is removed because the id comes before it.
        head = Array("\"identifier\":[{\"system\":\(system),\"value\":\(value)".utf8.dropLast())
        types = page.types.map { Self.part(of: $0, observations.subject) }
        units = page.units.map { text -> (unit: ResourceUnit, tail: [UInt8]) in
            let unit = ResourceUnit(nil, of: text, isFraction: true)
            return (unit, Self.tail(unit))
        }
        sources = page.origins.map { origin in
            guard observations.namesSources, let name = Observations.plain(origin.sourceName) else {
                return Array("}".utf8)
            }
            return Array(",\"device\":{\"display\":\(JSONString.quoted(name))}}".utf8)
        }
    }

    private static func part(of name: String, _ subject: Value) -> TypePart {
        let type = HealthType.named(name)
        let coding = HealthCodes.types[name]
        let category = coding?.category.map { "\"category\":[\(Observations.category($0).json())]," } ?? ""
        let code = Observations.concept(coding?.codes ?? [], Observations.code(ofType: name))
        let middle = ",\(category)\"code\":\(code.json()),\"subject\":\(subject.json()),"
        let unit =
            type.unit.isEmpty && coding?.unit == nil ? nil : ResourceUnit(coding, of: type.unit, isFraction: true)
        return TypePart(
            middle: Array(middle.utf8), type: type, payload: PayloadObservation.Kind(name),
            isInPanel: HealthType.bloodPressureParts.contains(name), isHealthKits: name.hasPrefix("HK"),
            isOwn: type.kind == .other && !name.hasPrefix("HK") && HealthType.known(name) == nil, unit: unit,
            tail: unit.map(Self.tail) ?? [])
    }

    /// The bytes that follow a number in a `Quantity`.
    private static func tail(_ unit: ResourceUnit) -> [UInt8] {
        let text = unit.text.isEmpty ? "" : ",\"unit\":\(JSONString.quoted(unit.text))"
        let system = JSONString.quoted(ResourceUnit.system)
        let code = unit.code.map { ",\"system\":\(system),\"code\":\(JSONString.quoted($0))" } ?? ""
        return Array((text + code + "}").utf8)
    }

    /// What becomes of a row.
    package enum Form: Equatable {
        /// It is a resource.
        case resource
        /// It isn't: other resources say what it says, and one that it was before must go. A blood pressure's panel has
        /// the values of its two samples.
        case elsewhere
        /// It never was a resource: the correlation of a meal only groups samples that are resources themselves.
        case none
    }

    package static func form(_ row: Int, of page: SamplePage) -> Form {
        let type = page.types[Int(page.type[row])]
        if page.flags[row].contains(.part), HealthType.bloodPressureParts.contains(type) { return .elsewhere }
        return HealthType.named(type).kind == .correlation && type != HealthType.bloodPressureIdentifier
            ? .none : .resource
    }

    /// Adds a row's resource, without a line break.
    /// - Returns: false, with nothing added, for a row that isn't a resource.
    @discardableResult
    package func append(_ row: Int, to out: inout [UInt8]) -> Bool {
        let part = types[Int(page.type[row])]
        guard part.type.kind != .correlation || part.payload != nil else { return false }
        if part.isInPanel, page.flags[row].contains(.part) { return false }
        let stated = part.payload.map { kind in
            let unit = page.unitIndex(row).map { page.units[$0] } ?? ""
            return PayloadObservation(kind, value: page.value[row], unit: unit, page.payloadValue(row))
        }
        out.append(contentsOf: resource)
        if observations.givesIDs {
            let id = Observations.id(observations.identifier(.sample, page.ids[row].description))
            out.append(contentsOf: "\"id\":\"\(id)\",".utf8)
        }
        out.append(contentsOf: head)
        out.append(uuid: page.ids[row])
        out.append(json: "\"}],\"status\":\"")
        out.append(contentsOf: (stated?.status ?? "final").utf8)
        out.append(UInt8(ascii: "\""))
        out.append(contentsOf: part.middle)
        if page.end[row] > page.start[row] {
            out.append(json: "\"effectivePeriod\":{\"start\":")
            out.append(jsonDate: page.startOf(row))
            out.append(json: ",\"end\":")
            out.append(jsonDate: page.endOf(row))
            out.append(UInt8(ascii: "}"))
        } else {
            out.append(json: "\"effectiveDateTime\":")
            out.append(jsonDate: page.startOf(row))
        }
        out.append(UInt8(ascii: ","))
        if let stated {
            // Without the braces.
            out.append(contentsOf: Value.object(stated.members).json().utf8.dropFirst().dropLast())
        } else {
            appendValue(row, part, to: &out)
        }
        out.append(contentsOf: sources[Int(page.origin[row])])
        return true
    }

    private func appendValue(_ row: Int, _ part: TypePart, to out: inout [UInt8]) {
        let value = page.value[row]
        guard value.isFinite else {
            if part.isOwn { return out.append(json: "\"valueBoolean\":true") }
            if part.type.kind == .category,
                let text = page.payloadValue(row)["value"].string.flatMap(Observations.plain)
            {
                return out.append(
                    contentsOf: "\"valueCodeableConcept\":\(Value.object(["text": .string(text)]).json())".utf8)
            }
            let reason = part.type.kind == .quantity ? "unknown" : "not-applicable"
            out.append(contentsOf: "\"dataAbsentReason\":\(Observations.absent(reason).json())".utf8)
            return
        }
        if part.type.kind == .category, let raw = Int(exactly: value) {
            guard let name = CategoryValue.name(of: raw, type: part.type.identifier) else {
                out.append(json: "\"valueInteger\":")
                out.append(json: Int64(raw))
                return
            }
            let concept: Value = ["coding": [Observations.coding(Observations.healthKit, name)]]
            out.append(contentsOf: "\"valueCodeableConcept\":\(concept.json())".utf8)
            return
        }
        out.append(json: "\"valueQuantity\":{\"value\":")
        if let unit = part.unit {
            out.append(json: unit.number(value))
            out.append(contentsOf: part.tail)
        } else if let index = page.unitIndex(row) {
            let (unit, tail) = units[index]
            // Only HealthKit's percentages are given as fractions.
            out.append(json: part.isHealthKits ? unit.number(value) : ResourceUnit.rounded(value))
            out.append(contentsOf: tail)
        } else {
            out.append(json: ResourceUnit.rounded(value))
            out.append(UInt8(ascii: "}"))
        }
    }
}
