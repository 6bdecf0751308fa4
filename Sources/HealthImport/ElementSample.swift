import HealthModel

/// How an element other than `Record`, `Correlation`, `Workout` or `ActivitySummary` becomes a sample.
///
/// According to version 14 of their document type, exports contain `Audiogram`, `VisionPrescription` and
/// `ClinicalRecord`. What other elements exports may contain (states of mind, assessments, doses) isn't published;
/// these are read by the same rules, whatever their attributes are called.
enum ElementSample {
    /// The attributes that may contain its time, in order of preference. A prescription has only its date of issue, and
    /// a clinical record only the time at which the phone received it.
    static let dates = ["startDate", "dateIssued", "receivedDate", "date", "creationDate"]

    /// HealthKit's type for an element; nil for one without a usable name or type.
    ///
    /// The `type` of a prescription says which kind of glasses it is for, and isn't a sample type. The type of a
    /// clinical record says which FHIR resource it is, and is kept: an `Observation` may be a lab result or a vital
    /// sign.
    static func type(of tree: ElementTree) -> String? {
        let stated = tree.attribute("type").flatMap { $0.isEmpty ? nil : $0 }
        if tree.name == "VisionPrescription" { return HealthType.visionPrescriptionIdentifier }
        if let stated, stated.hasPrefix("HK") || tree.name == "ClinicalRecord" { return stated }
        return byName[tree.name] ?? stated ?? name(tree.name)
    }

    /// HealthKit's names for the samples of these elements, from its classes.
    private static let byName = [
        "Audiogram": "HKDataTypeIdentifierAudiogram",
        "Electrocardiogram": HealthType.electrocardiogramIdentifier,
        "StateOfMind": "HKDataTypeIdentifierStateOfMind",
        "GAD7Assessment": HealthType.assessmentPrefix + "GAD7",
        "PHQ9Assessment": HealthType.assessmentPrefix + "PHQ9",
        "MedicationDoseEvent": HealthType.medicationDoseIdentifier,
        "UserAnnotatedMedication": HealthType.medicationIdentifier,
        "MedicationConcept": HealthType.medicationIdentifier,
    ]

    /// An element's own name, used as a type. Elements that are parts of others appear alone only where a file is
    /// damaged.
    private static func name(_ name: String) -> String? {
        let parts = [
            "MetadataEntry", "FileReference", "Attachment", "SensitivityPoint", "RightEye", "LeftEye",
        ]
        let isPart = parts.contains(name) || name.hasPrefix("Workout") || name.hasPrefix("HeartRateVariability")
        return isPart ? nil : name
    }

    /// Everything that has no column: attributes as written, nested elements, text.
    ///
    /// - Parameter type: the sample's type; if the element states a different one, that is kept as `statedType`.
    static func payload(_ tree: ElementTree, type: String) -> Value {
        var members = whole(tree, without: columns).object ?? [:]
        if let stated = tree.attribute("type"), stated != type { members["statedType"] = .string(stated) }
        let children = tree.children.filter { $0.name != "MetadataEntry" }
        members["children"] = children.isEmpty ? nil : .array(children.map { whole($0, without: []) })
        return .object(members)
    }

    /// Type, dates and source have columns; so does metadata.
    private static let columns: Set<String> = [
        "type", "sourceName", "sourceVersion", "device", "creationDate", "startDate", "endDate", "source",
    ]

    private static func whole(_ tree: ElementTree, without columns: Set<String>) -> Value {
        var members: [String: Value] = ["element": .string(tree.name)]
        for (name, value) in tree.attributes where !columns.contains(name) { members[name] = .string(value) }
        if !tree.text.isEmpty { members["text"] = .string(tree.text) }
        if !tree.children.isEmpty { members["children"] = .array(tree.children.map { whole($0, without: []) }) }
        return .object(members)
    }
}
