import CXMLStream
import HealthModel

extension ExportParser {
    mutating func start(_ element: UnsafePointer<healthbus_xml_element>) {
        let code = ExportElement(rawValue: element.pointee.code)
        switch context {
        case .tree:
            if code == .location { return location(element) }
            if code == .workoutRoute { startInlineRoute(element) }
            tree.start(element)
        case .record, .correlatedRecord:
            switch code {
            case .metadataEntry: metadataEntry(element)
            case .beat: beat(element)
            case .record:
                // The one before was never closed, in a broken file: it is whole up to here.
                endRecord()
                startRecord(element)
            default: break
            }
        case .correlation:
            switch code {
            case .metadataEntry: metadataEntry(element)
            case .record: startRecord(element)
            default: break
            }
        case .document: startInDocument(element, code)
        }
    }

    private mutating func startInDocument(_ element: UnsafePointer<healthbus_xml_element>, _ code: ExportElement?) {
        switch code {
        case .record: startRecord(element)
        case .correlation: startCorrelation(element)
        case .healthData where element.pointee.depth == 0: note(locale: element.text(.locale) ?? "")
        case .exportDate: note(exportDate: element.attribute(.value).flatMap { InstantText.parse($0) })
        case .me:
            let birth = element.unknownAttributes.first { $0.name == "HKCharacteristicTypeIdentifierDateOfBirth" }
            note(dateOfBirth: birth.flatMap { LocalDay($0.value) })
        default:
            startOuter(element)
            tree.reset()
            tree.start(element)
            context = .tree
        }
    }

    mutating func end(_ code: ExportElement?) {
        switch context {
        case .record, .correlatedRecord:
            if code == .record { endRecord() }
        case .correlation:
            if code == .correlation { endCorrelation() }
        case .tree:
            if code == .location { return }
            if code == .workoutRoute { endInlineRoute() }
            guard let whole = tree.end() else { return }
            context = .document
            endTree(whole)
        case .document: break
        }
    }

    /// The start tag as it was, at most 4 KiB.
    mutating func raw(_ element: UnsafePointer<healthbus_xml_element>) -> String {
        let bytes = element.pointee.raw.buffer
        let isCut = bytes.count > 4090
        return String(decoding: bytes.prefix(4090), as: UTF8.self) + (isCut ? "…" : ">")
    }
}

extension ExportParser {
    /// Columns that all samples have. Returns what is wrong, or nil.
    mutating func stage(
        _ element: UnsafePointer<healthbus_xml_element>, type: UnsafeBufferPointer<UInt8>, into row: inout StagedRow
    ) -> String? {
        row.line = element.pointee.line
        row.flags = []
        row.value = .nan
        if element.pointee.malformed { return "the element isn't well-formed" }
        if element.pointee.raw.length > Self.attributeLimit { return "the element is longer than 64 KiB" }
        row.kind = names.kind(type: type, unit: element.attribute(.unit))
        guard let start = element.attribute(.startDate) else { return "there is no startDate" }
        guard let startDate = startDates.parse(start) else { return "startDate isn't a date" }
        guard let end = element.attribute(.endDate) else { return "there is no endDate" }
        row.start = startDate
        if SameBytes.equal(start, end) {
            row.end = startDate
        } else {
            guard let endDate = endDates.parse(end) else { return "endDate isn't a date" }
            row.end = endDate
        }
        // When it was stored is good to know, but no reason to refuse a sample.
        row.created = element.attribute(.creationDate).flatMap { creationDates.parse($0)?.flooredSecond } ?? 0
        row.origin = names.origin(
            name: element.attribute(.sourceName) ?? element.attribute(.source),
            version: element.attribute(.sourceVersion), device: element.attribute(.device))
        return nil
    }

    /// Of the sample that is open: a correlation's own come between its records.
    mutating func metadataEntry(_ element: UnsafePointer<healthbus_xml_element>) {
        guard let key = element.attribute(.key) else { return }
        let value = element.attribute(.value) ?? UnsafeBufferPointer(start: nil, count: 0)
        if context == .correlation {
            Self.append(key, value, &outerMetadata, &outer.flags, &outerProblem)
        } else {
            Self.append(key, value, &metadata, &row.flags, &rowProblem)
        }
    }

    static func append(
        _ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, _ metadata: inout MetadataText,
        _ flags: inout RecordFlags, _ problem: inout String?
    ) {
        guard metadata.count + key.count + value.count < textLimit else {
            problem = problem ?? "the metadata are longer than 256 KiB"
            return
        }
        metadata.append(key: key, value: value)
        if isUserEntered(key, value) { flags.insert(.userEntered) }
    }

    private static func isUserEntered(
        _ key: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        value.count == 1 && value[0] == UInt8(ascii: "1") && key.count == 16
            && key.elementsEqual("HKWasUserEntered".utf8)
    }
}
