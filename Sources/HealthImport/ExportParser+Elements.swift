import CXMLStream
import HealthModel

extension ExportParser {
    mutating func start(_ element: UnsafePointer<healthbus_xml_element>) {
        let code = ExportElement(rawValue: element.pointee.code)
        switch context {
        case .tree:
            // An element of an unknown kind doesn't contain its own kind either.
            if code?.standsAlone == true || code == nil && tree.isRoot(named: element.pointee.name) {
                return startBehindUnclosed(element, code)
            }
            // Here, more than a single point is known to be lost.
            if element.pointee.malformed, code != .location || element.pointee.fault != healthbus_xml_form {
                outerProblem = outerProblem ?? element.problemAsPart
            }
            if code == .location { return location(element) }
            if code == .workoutRoute { startInlineRoute(element) }
            tree.start(element)
        case .record, .correlatedRecord:
            switch code {
            case .metadataEntry: metadataEntry(element)
            case .beat: beat(element)
            default:
                if code?.standsAlone == true { return startBehindUnclosed(element, code) }
                if let problem = element.problemAsPart { spoilRecord(problem, element.pointee.raw) }
            }
        case .correlation:
            switch code {
            case .metadataEntry: metadataEntry(element)
            case .record: startRecord(element)
            default:
                if code?.standsAlone == true { return startBehindUnclosed(element, code) }
                outerProblem = outerProblem ?? element.problemAsPart
            }
        case .document: startInDocument(element, code)
        }
    }

    /// Called when the previous element was never closed, as in a broken file. A record or a correlation is complete up
    /// to here; for other elements, it is impossible to know what is missing.
    private mutating func startBehindUnclosed(
        _ element: UnsafePointer<healthbus_xml_element>, _ code: ExportElement?
    ) {
        switch context {
        case .correlatedRecord:
            endRecord()
            if code == .record {
                collapse(to: 2)
                return startRecord(element)
            }
            endCorrelation()
        case .record: endRecord()
        case .correlation: endCorrelation()
        case .tree: leaveTree(DamageReason.noEndTag.rawValue)
        case .document: break
        }
        collapse(to: 1)
        startInDocument(element, code)
    }

    /// Called when the input has ended.
    mutating func leaveOpenElements() {
        let reason = DamageReason.fileEnds.rawValue
        if context == .record || context == .correlatedRecord {
            rowProblem = rowProblem ?? reason
            if rowRaw.isEmpty { rowRaw = Self.cut(rowTag.bytes) }
            endRecord()
        }
        if context == .correlation {
            outerProblem = outerProblem ?? reason
            endCorrelation()
        }
        if context == .tree { leaveTree(reason) }
    }

    private mutating func leaveTree(_ reason: String) {
        context = .document
        tree.reset()
        _ = takeInlineRoute()
        quarantine(line: outer.line, outerProblem ?? reason, raw: outerRaw)
    }

    private mutating func startInDocument(_ element: UnsafePointer<healthbus_xml_element>, _ code: ExportElement?) {
        switch code {
        case .record: startRecord(element)
        case .correlation: startCorrelation(element)
        case .healthData where element.pointee.depth == 0:
            let mark = element.unknownAttributes.first { $0.name == ExportMark.attribute }
            info.locale = element.text(.locale) ?? ""
            info.isMadeUp = mark?.value == ExportMark.madeUp
        case .exportDate: info.date = element.attribute(.value).flatMap { InstantText.parse($0) }
        case .me:
            let birth = element.unknownAttributes.first { $0.name == "HKCharacteristicTypeIdentifierDateOfBirth" }
            info.dateOfBirth = birth.flatMap { LocalDay($0.value) }
        default:
            startOuter(element)
            tree.reset()
            tree.start(element)
            context = .tree
        }
    }

    mutating func end(_ code: ExportElement?, implied: Bool) {
        switch context {
        case .record, .correlatedRecord:
            if code == .record { endRecord() }
        case .correlation:
            if code == .correlation { endCorrelation() }
        case .tree:
            if code == .location { return }
            if code == .workoutRoute { endInlineRoute() }
            guard let whole = tree.end() else { return }
            if implied { return leaveTree(DamageReason.noEndTag.rawValue) }
            context = .document
            endTree(whole)
        case .document: break
        }
    }

    /// Text where only elements belong, such as the rest of a torn tag. Returns true if the text is damage.
    mutating func stray(_ text: healthbus_xml_text, line: Int64) -> Bool {
        let reason = DamageReason(of: text)
        switch context {
        case .tree:
            tree.add(text.buffer)
            outerProblem = outerProblem ?? reason?.rawValue
            return false
        case .record, .correlatedRecord: spoilRecord((reason ?? .textWithin).rawValue, text)
        case .correlation, .document:
            if context == .correlation { outerProblem = outerProblem ?? reason?.rawValue }
            // A run of nothing but zero bytes isn't worth keeping.
            guard text.buffer.contains(where: { $0 > 0x20 }) else { return true }
            quarantine(line: line, (reason ?? .textBetween).rawValue, raw: Self.shortened(text.buffer, ""))
        }
        return true
    }

    /// The start tag as it was, at most 4 KiB; if the tag isn't well-formed, as much of it as there is.
    func raw(_ element: UnsafePointer<healthbus_xml_element>) -> String {
        Self.shortened(element.pointee.raw.buffer, element.pointee.malformed ? "" : ">")
    }

    static func shortened(_ bytes: UnsafeBufferPointer<UInt8>, _ end: String) -> String {
        if let readable = MarkedText.readable(bytes) { return readable.withUnsafeBufferPointer { cut($0) } }
        return bytes.count > 4090 ? cut(bytes) : String(decoding: bytes, as: UTF8.self) + end
    }

    /// The beginning of the bytes, marked as truncated so that it isn't read again as an element.
    static func cut(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: bytes.prefix(4090), as: UTF8.self) + "…"
    }
}

extension ExportParser {
    /// Fills the columns that all samples have. Returns what is wrong, or nil.
    mutating func stage(
        _ element: UnsafePointer<healthbus_xml_element>, type: UnsafeBufferPointer<UInt8>, into row: inout StagedRow
    ) -> String? {
        row.line = element.pointee.line
        row.flags = []
        row.value = .nan
        if element.pointee.raw.length > Self.attributeLimit { return "the element is longer than 64 KiB" }
        row.kind = names.kind(type: type, unit: element.attribute(.unit))
        if let problem = names.kinds[Int(row.kind)].problem { return problem }
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
        // The creation date is useful, but a sample isn't refused for lacking one.
        row.created = element.attribute(.creationDate).flatMap { creationDates.parse($0)?.flooredSecond } ?? 0
        row.origin = names.origin(
            name: element.attribute(.sourceName) ?? element.attribute(.source),
            version: element.attribute(.sourceVersion), device: element.attribute(.device))
        return nil
    }

    /// Metadata entries for the open sample: a correlation's own entries may appear between its records.
    mutating func metadataEntry(_ element: UnsafePointer<healthbus_xml_element>) {
        if let problem = element.problemAsPart {
            if context != .correlation { return spoilRecord(problem, element.pointee.raw) }
            outerProblem = outerProblem ?? problem
            return
        }
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
            problem = problem ?? "the metadata is longer than 256 KiB"
            return
        }
        guard metadata.entryCount < entryLimit else {
            problem = problem ?? "there are more than 1,000 metadata entries"
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
