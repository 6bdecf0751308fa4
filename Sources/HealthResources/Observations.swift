import HealthModel

/// A person's days, nights and workouts (`SampleObservations`: her samples) as FHIR R4 `Observation`s. Pure.
///
/// Each resource has an identifier of ours that begins with the person's identifier, including its system, so that no
/// two people on a server share a resource. `code` contains all known public codes, and always HealthKit's own name or
/// ours.
package struct Observations: Sendable {
    package enum Kind: String, Sendable { case sample, day, night, workout }

    /// Must be increased whenever the same element would give another resource: what was delivered in an earlier form is
    /// then replaced. 1 stands for all forms before this number was stored.
    package static let revision: Int64 = 2

    /// The system of HealthKit's names, as written by apps that send FHIR.
    package static let healthKit = "http://developer.apple.com/documentation/healthkit"

    package let patient: ResourceIdentifier
    let subject: Value
    private let figures: [ResourceFigure]
    /// Whether resources have ids assigned by us.
    let givesIDs: Bool
    /// Whether resources name the source that made the measurement, whose name may include a person's name.
    let namesSources: Bool

    /// - Parameters:
    ///   - reference: the reference to the person's `Patient` in the same transaction; nil if only the identifier shows
    ///     who it is.
    ///   - figures: the daily figures to include; others are left out.
    ///   - givesIDs: whether each resource has an `id`, made from its identifier.
    ///   - namesSources: whether `device` has the source's name.
    package init(
        of patient: ResourceIdentifier, reference: String? = nil, figures: [ResourceFigure] = [],
        givesIDs: Bool = false, namesSources: Bool = false
    ) {
        (self.patient, self.figures, self.givesIDs, self.namesSources) = (patient, figures, givesIDs, namesSources)
        var members: [String: Value] = ["type": "Patient", "identifier": patient.json]
        if let reference { members["reference"] = .string(reference) }
        subject = .object(members)
    }

    package func identifier(_ kind: Kind, _ id: String) -> ResourceIdentifier {
        ResourceIdentifier(system: ResourceIdentifier.base + kind.rawValue, value: patient.key + "/" + id)
    }

    /// A resource's id, which is a UUID, if we assign it.
    package static func id(_ identifier: ResourceIdentifier) -> String {
        NamedID.uuid([identifier.system, identifier.value]).description
    }

    /// A day's summary, with a component for each declared figure that it has. Lists, such as naps, are left out.
    /// - Returns: nil for a day without any of these figures, which would say nothing.
    package func day(_ document: Value, id: String) -> Value? {
        let components = figures.compactMap { figure in
            component(
                figure.name, figure.path.reduce(document, { $0[$1] }), unit: figure.unit, isFraction: figure.isFraction)
        }
        guard !components.isEmpty else { return nil }
        let isFinal = document["final"] == true
        // Revision 1 is the first final one.
        let status = !isFinal ? "preliminary" : document["revision"].int ?? 0 > 1 ? "amended" : "final"
        var members = base(
            .day, id, status: status, code: Self.concept([], Self.own("document", "day")), category: .activity)
        members["effectiveDateTime"] = .string(id)
        add(components, to: &members)
        return .object(members)
    }

    private static let nightMembers: [(name: String, unit: String)] = [
        ("inBedMinutes", "min"), ("awakeMinutes", "min"), ("coreMinutes", "min"), ("deepMinutes", "min"),
        ("remMinutes", "min"), ("unspecifiedMinutes", "min"), ("latencyMinutes", "min"),
        ("wakeAfterOnsetMinutes", "min"), ("efficiency", "%"),
    ]

    /// A night or a nap, with how long the person slept and a component for each other number.
    package func night(_ document: Value, id: String) -> Value {
        let coding = HealthCodes.figures["sleep.asleepMinutes"]
        var members = base(
            .night, id, code: Self.concept(coding?.codes ?? [], Self.own("document", "night")), category: .activity)
        Self.add(document["start"], document["end"], to: &members)
        Self.add(document["asleepMinutes"], ResourceUnit(coding, of: "min", isFraction: false), to: &members)
        add(
            Self.nightMembers.compactMap { member in
                component(
                    "sleep." + member.name, document[member.name], unit: member.unit,
                    isFraction: member.name == "efficiency")
            }, to: &members)
        add(source: document["source"].string ?? "", to: &members)
        return .object(members)
    }

    private static let workoutMembers: [(path: [String], unit: String)] = [
        (["distance"], "m"), (["activeEnergy"], "kcal"), (["heartRate", "average"], "count/min"),
        (["heartRate", "minimum"], "count/min"), (["heartRate", "maximum"], "count/min"),
        (["route", "ascentMeters"], "m"), (["route", "descentMeters"], "m"),
    ]

    /// A workout, with its activity and a component for each number. Without its route.
    package func workout(_ document: Value, id: String) -> Value {
        let codes = HealthCodes.figures["workout"]?.codes ?? []
        var members = base(
            .workout, id, code: Self.concept(codes, Self.own("document", "workout")), category: .activity)
        Self.add(document["startDate"], document["endDate"], to: &members)
        let name = document["activityIdentifier"].string ?? ""
        var activity: [String: Value] = [:]
        if name.hasPrefix("HKWorkoutActivityType") {
            activity["coding"] = [Self.coding(Self.healthKit, name)]
            activity["text"] = .string(document["type"].string ?? name)
        } else if let text = Self.plain(name.isEmpty ? document["type"].string ?? "" : name) {
            activity["text"] = .string(text)
        }
        if activity.isEmpty {
            members["dataAbsentReason"] = Self.absent("unknown")
        } else {
            members["valueCodeableConcept"] = .object(activity)
        }
        // The guide to physical activity uses minutes.
        let minutes = document["duration"].double.map { ($0 / 60).rounded(decimals: 6) }
        var components = [component("workout.duration", Value(minutes), unit: "min")].compactMap { $0 }
        components += Self.workoutMembers.compactMap { member in
            let name = "workout." + member.path.joined(separator: ".")
            return component(name, member.path.reduce(document, { $0[$1] }), unit: member.unit)
        }
        add(components, to: &members)
        return .object(members)
    }
}
