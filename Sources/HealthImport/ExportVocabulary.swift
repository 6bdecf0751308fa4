import CXMLStream

/// Elements whose names the parser knows. The last three are kept whole, as are all elements of other names.
enum ExportElement: Int32, CaseIterable {
    case record, metadataEntry, beatList, beat, correlation, workout, activitySummary, healthData, exportDate, me
    case workoutRoute, location, clinicalRecord, audiogram, visionPrescription

    /// The element's name as exports write it.
    var name: String {
        switch self {
        case .record: "Record"
        case .metadataEntry: "MetadataEntry"
        case .beatList: "HeartRateVariabilityMetadataList"
        case .beat: "InstantaneousBeatsPerMinute"
        case .correlation: "Correlation"
        case .workout: "Workout"
        case .activitySummary: "ActivitySummary"
        case .healthData: "HealthData"
        case .exportDate: "ExportDate"
        case .me: "Me"
        case .workoutRoute: "WorkoutRoute"
        case .location: "Location"
        case .clinicalRecord: "ClinicalRecord"
        case .audiogram: "Audiogram"
        case .visionPrescription: "VisionPrescription"
        }
    }

    static let names = allCases.map(\.name).joined(separator: " ")

    /// Whether a name differs from one of these only in case, which matters in XML, or in one letter, as may happen in
    /// a damaged file.
    static func isMiswritten(_ name: String) -> Bool {
        let lowercased = name.lowercased()
        return allCases.contains { known in
            guard known.name != name else { return false }
            if known.name.lowercased() == lowercased { return true }
            return known.name.count > 3 && known.name.count == name.count
                && zip(known.name, name).count { $0 != $1 } == 1
        }
    }

    /// Whether such an element never occurs inside another, except for a correlation's records.
    var standsAlone: Bool {
        switch self {
        case .record, .correlation, .workout, .activitySummary, .clinicalRecord, .audiogram, .visionPrescription: true
        default: false
        }
    }
}

/// Attributes of elements that occur in large numbers; rare elements keep their attributes by name.
enum ExportAttribute: Int32, CaseIterable {
    case type, unit, value, sourceName, sourceVersion, device, creationDate, startDate, endDate
    case key, bpm, time, locale
    /// Only iOS 8 and 9 write these.
    case source, average, min, max
    /// `VisionPrescription` and `ClinicalRecord`.
    case dateIssued, receivedDate
    /// How iOS 8 and 9 mark a sample entered by hand.
    case userEntered
    case date, latitude, longitude, altitude, speed, course, horizontalAccuracy, verticalAccuracy

    var name: String { self == .userEntered ? "HKWasUserEntered" : "\(self)" }

    static let names = allCases.map(\.name).joined(separator: " ")
}

extension healthbus_xml_text {
    var buffer: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self), count: Int(length))
    }

    var string: String { String(decoding: buffer, as: UTF8.self) }
}

extension UnsafePointer<healthbus_xml_element> {
    @inline(__always)
    func attribute(_ attribute: ExportAttribute) -> UnsafeBufferPointer<UInt8>? {
        guard pointee.present >> UInt64(attribute.rawValue) & 1 == 1 else { return nil }
        return pointee.attributes[Int(attribute.rawValue)].buffer
    }

    func text(_ attribute: ExportAttribute) -> String? {
        self.attribute(attribute).map { String(decoding: $0, as: UTF8.self) }
    }

    /// All attributes by name.
    var allAttributes: [(name: String, value: String)] {
        let known = ExportAttribute.allCases.compactMap { code in text(code).map { (code.name, $0) } }
        return known + unknownAttributes
    }

    var unknownAttributes: [(name: String, value: String)] {
        (0..<Int(pointee.extraCount)).map { (pointee.extras[2 * $0].string, pointee.extras[2 * $0 + 1].string) }
    }
}
