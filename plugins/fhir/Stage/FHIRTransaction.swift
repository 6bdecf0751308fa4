import DeliveryKit
import HealthModel
import HealthResources
import JSON

/// What an instance's resources look like.
package struct FHIRForm: Sendable {
    package var patients: PatientNames
    /// Whether each transaction creates the `Patient` if there is none, and refers to it.
    package var createsPatients: Bool
    /// Whether resources have ids chosen by us, by which they are updated and deleted; otherwise the server assigns the
    /// ids, and finds resources by their identifiers.
    package var givesIDs: Bool
    /// Whether resources name their sources.
    package var namesSources: Bool
    /// The figures in resources of days.
    package var figures: [ResourceFigure]

    package init(
        patients: PatientNames, createsPatients: Bool, givesIDs: Bool = false, namesSources: Bool = false,
        figures: [ResourceFigure]
    ) {
        (self.patients, self.createsPatients, self.givesIDs) = (patients, createsPatients, givesIDs)
        (self.namesSources, self.figures) = (namesSources, figures)
    }

    /// - Parameter options: the options, accepted by the manifest's schema.
    package init(_ options: Value, figures: [ResourceFigure]) {
        self.init(
            patients: PatientNames(options["patients"]), createsPatients: options["createPatients"].bool ?? false,
            givesIDs: options["ids"] == "client", namesSources: options["sources"].bool ?? false, figures: figures)
    }

    /// As stored, to detect a change, by which everything is delivered again.
    package var text: String {
        var members: [String: Value] = ["resources": .integer(Observations.revision)]
        if !patients.isEmpty { members["patients"] = patients.kept }
        if createsPatients { members["createPatients"] = true }
        if givesIDs { members["ids"] = "client" }
        if namesSources { members["sources"] = true }
        return Value.object(members).json()
    }
}

/// Elements as a FHIR `Bundle` of type `transaction`, which takes effect as a whole or not at all. Pure.
///
/// An element is updated if its identifier is found, otherwise created (`PUT Observation?identifier=…`), or, if the ids
/// are ours, stored under its id (`PUT Observation/…`); a tombstone deletes it there. So a repeat changes nothing.
package struct FHIRTransaction: Sendable {
    package enum Method: Sendable, Equatable { case createPatient, put, delete }

    package private(set) var body: [UInt8] = []
    /// What each entry does, in order.
    package private(set) var methods: [Method] = []
    /// The elements' identifiers, in order.
    package private(set) var identifiers: [ResourceIdentifier] = []

    private let givesIDs: Bool

    /// A `Patient`'s name within a bundle: the server replaces it with its own reference.
    private static let patientURL = "urn:uuid:6f1d1f3e-6c8a-4d0a-9d57-3b3f9a5c1e01"

    /// Whether an element is sent at all, if only to be deleted.
    package static func has(_ row: Int, of group: DeliveryGroup) -> Bool {
        guard case .samples(let page) = group.content else { return true }
        return SampleObservations.form(row, of: page) != .none
    }

    /// - Parameter rows: which elements of the group; each must be one that is sent.
    package init(_ group: DeliveryGroup, _ rows: [Int], _ form: FHIRForm) {
        let patient = form.patients.identifier(of: group.user)
        let putsAny = rows.contains { !Self.isDeleted($0, in: group) }
        let creates = form.createsPatients && putsAny
        let observations = Observations(
            of: patient, reference: creates ? Self.patientURL : nil, figures: form.figures, givesIDs: form.givesIDs,
            namesSources: form.namesSources)
        givesIDs = form.givesIDs
        body.append(json: "{\"resourceType\":\"Bundle\",\"type\":\"transaction\",\"entry\":[")
        if creates { add(patient) }
        switch group.content {
        case .samples(let page):
            let resources = SampleObservations(page, of: observations)
            for row in rows {
                var resource: [UInt8]?
                var bytes: [UInt8] = []
                if !page.flags[row].contains(.deleted), resources.append(row, to: &bytes) { resource = bytes }
                add(observations.identifier(.sample, page.ids[row].description), resource)
            }
        case .workouts(let all):
            for row in rows { add(all[row], .workout, observations) { observations.workout($0, id: $1) } }
        case .nights(let all):
            for row in rows { add(all[row], .night, observations) { observations.night($0, id: $1) } }
        case .days(let all):
            for row in rows { add(all[row], .day, observations) { observations.day($0, id: $1) } }
        }
        body.append(json: "]}")
    }

    private static func isDeleted(_ row: Int, in group: DeliveryGroup) -> Bool {
        switch group.content {
        case .samples(let page):
            page.flags[row].contains(.deleted) || SampleObservations.form(row, of: page) == .elsewhere
        case .workouts(let all), .nights(let all), .days(let all): all[row].body == nil
        }
    }

    private mutating func add(
        _ document: DeliveryGroup.Document, _ kind: Observations.Kind, _ observations: Observations,
        _ make: (Value, String) -> Value?
    ) {
        // A document that no longer yields a resource must not stay on the server as it was.
        let resource = document.body.flatMap { make($0, document.id) }.map { Array($0.json().utf8) }
        add(observations.identifier(kind, document.id), resource)
    }

    /// - Parameter resource: as JSON; nil for a deletion.
    private mutating func add(_ identifier: ResourceIdentifier, _ resource: [UInt8]?) {
        separate()
        body.append(UInt8(ascii: "{"))
        if let resource {
            body.append(json: "\"resource\":")
            body.append(contentsOf: resource)
            body.append(UInt8(ascii: ","))
        }
        body.append(json: "\"request\":{\"method\":")
        body.append(json: resource == nil ? "\"DELETE\"" : "\"PUT\"")
        body.append(json: ",\"url\":")
        body.append(
            jsonString: givesIDs ? "Observation/" + Observations.id(identifier) : "Observation?" + identifier.query)
        body.append(json: "}}")
        methods.append(resource == nil ? .delete : .put)
        identifiers.append(identifier)
    }

    private mutating func add(_ patient: ResourceIdentifier) {
        let entry: Value = [
            "fullUrl": .string(Self.patientURL),
            "resource": ["resourceType": "Patient", "identifier": [patient.json]],
            "request": ["method": "POST", "url": "Patient", "ifNoneExist": .string(patient.query)],
        ]
        separate()
        body.append(contentsOf: entry.json().utf8)
        methods.append(.createPatient)
    }

    private mutating func separate() { if !methods.isEmpty { body.append(UInt8(ascii: ",")) } }
}
