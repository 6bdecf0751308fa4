import CXMLStream
import HealthModel
import JSON

extension ExportParser {
    mutating func startRecord(_ element: UnsafePointer<healthbus_xml_element>) {
        context = context == .correlation || context == .correlatedRecord ? .correlatedRecord : .record
        metadata.removeAll()
        payload.removeAll(keepingCapacity: true)
        beats = nil
        rowTag.removeAll()
        rowRaw = ""
        if element.pointee.malformed {
            row.line = element.pointee.line
            rowProblem = element.problem
        } else if let type = element.attribute(.type), !type.isEmpty {
            var staged = row
            rowProblem = stage(element, type: type, into: &staged)
            row = staged
            if rowProblem == nil { rowProblem = readValue(element) }
        } else {
            row.line = element.pointee.line
            rowProblem = "there is no type"
        }
        if rowProblem != nil {
            rowRaw = raw(element)
            return
        }
        if !element.pointee.empty { rowTag.append(element.pointee.raw.buffer) }
        if context == .correlatedRecord { row.flags.insert(.correlationChild) }
        if element.pointee.extraCount > 0 || element.attribute(.userEntered) != nil { keepExtraAttributes(element) }
    }

    mutating func endRecord() {
        let isChild = context == .correlatedRecord
        context = isChild ? .correlation : .document
        if beats != nil { payload.append(contentsOf: "]}".utf8) }
        if let problem = rowProblem {
            // A record's start tag doesn't show that the error is in the rest of the record, so the tag is marked as
            // truncated: otherwise it would later be taken for the whole record.
            if rowRaw.isEmpty { rowRaw = Self.cut(rowTag.bytes) }
            quarantine(line: row.line, problem, raw: rowRaw)
            rowRaw = ""
            // Other parts of the correlation, or its end, may be lost too.
            if isChild, problem == DamageReason.zeroBytes.rawValue { outerProblem = outerProblem ?? problem }
            return
        }
        if isChild {
            summary.correlationChildren += 1
            notePart()
        } else {
            summary.records += 1
        }
        builder.append(row, metadata, payload)
        guard builder.isFull || names.isLarge else { return }
        flushRecords()
        if !isChild { names.forgetIfLarge() }
    }

    /// A part of the open record is broken: the whole record goes into quarantine, rather than being counted without
    /// that part.
    mutating func spoilRecord(_ problem: String, _ part: healthbus_xml_text) {
        guard rowProblem == nil else { return }
        rowProblem = problem
        rowRaw = Self.shortened(rowTag.bytes, ">") + Self.shortened(part.buffer, "")
    }

    /// Keeps attributes without a column, which is how iOS 8 and 9 wrote metadata.
    private mutating func keepExtraAttributes(_ element: UnsafePointer<healthbus_xml_element>) {
        if let entered = element.attribute(.userEntered) {
            var name = ExportAttribute.userEntered.name
            name.withUTF8 { Self.append($0, entered, &metadata, &row.flags, &rowProblem) }
        }
        for index in 0..<Int(element.pointee.extraCount) {
            let extras = element.pointee.extras
            Self.append(
                extras[2 * index].buffer, extras[2 * index + 1].buffer, &metadata, &row.flags, &rowProblem)
        }
    }
}

extension ExportParser {
    /// Fills the value column, and puts anything that doesn't fit there into the payload. Returns what is wrong, or
    /// nil.
    private mutating func readValue(_ element: UnsafePointer<healthbus_xml_element>) -> String? {
        let kind = names.kinds[Int(row.kind)]
        guard let text = element.attribute(.value) else { return readSpread(element, kind) }
        if kind.isCategory {
            if let raw = CategoryValue.raw(of: text) { row.value = Double(raw) } else { keepText(text) }
            return nil
        }
        if let number = kind.factors.convert(text) {
            row.value = number
            if kind.isQuantity, element.attribute(.min) != nil || element.attribute(.max) != nil {
                return keepSpread(element, kind)
            }
        } else if kind.isKnown && kind.isQuantity {
            return "the value isn't a number"
        } else {
            keepText(text)
        }
        return nil
    }

    /// iOS 8 and 9 wrote hours of heart rates as one element with minimum, maximum and average; categories may lack a
    /// value.
    private mutating func readSpread(_ element: UnsafePointer<healthbus_xml_element>, _ kind: Interning.Kind) -> String?
    {
        guard let average = element.attribute(.average) else {
            return kind.isQuantity ? "there is no value" : nil
        }
        guard let number = kind.factors.convert(average) else { return "the average isn't a number" }
        row.value = number
        return keepSpread(element, kind)
    }

    /// The lowest and highest values, in addition to the average.
    private mutating func keepSpread(_ element: UnsafePointer<healthbus_xml_element>, _ kind: Interning.Kind) -> String?
    {
        let possible = PlausibilityLimit.of(HealthType.named(names.type(row))).values
        var spread: [String: Value] = ["average": .number(row.value)]
        for (name, code) in [("minimum", ExportAttribute.min), ("maximum", .max)] {
            guard let text = element.attribute(code) else { continue }
            guard let number = kind.factors.convert(text) else { return "the \(name) isn't a number" }
            guard number.isFinite, possible.contains(number) else { return "the \(name) is impossible" }
            spread[name] = .number(number)
        }
        payload.append(contentsOf: Value.object(spread).json().utf8)
        return nil
    }

    private mutating func keepText(_ text: UnsafeBufferPointer<UInt8>) {
        payload.append(contentsOf: "{\"value\":".utf8)
        payload.append(jsonString: text)
        payload.append(UInt8(ascii: "}"))
    }

    /// One beat in a heart rate variability list: `[beats per minute, seconds after the start]`, with null for anything
    /// unreadable.
    mutating func beat(_ element: UnsafePointer<healthbus_xml_element>) {
        guard rowProblem == nil else { return }
        guard payload.count < Self.textLimit else {
            rowProblem = "the list of beats is longer than 256 KiB"
            return
        }
        var clock = beats ?? BeatClock(start: row.start)
        if beats == nil {
            payload.removeAll(keepingCapacity: true)
            payload.append(contentsOf: "{\"beats\":[".utf8)
        } else {
            payload.append(UInt8(ascii: ","))
        }
        let rate = element.attribute(.bpm).flatMap { DecimalText.parse($0) }
        let seconds = element.attribute(.time).flatMap { clock.seconds(of: $0) }
        beats = clock
        payload.append(UInt8(ascii: "["))
        payload.append(contentsOf: (rate.map { JSONNumber.text($0) } ?? "null").utf8)
        payload.append(UInt8(ascii: ","))
        payload.append(contentsOf: (seconds.map { JSONNumber.text($0) } ?? "null").utf8)
        payload.append(UInt8(ascii: "]"))
    }
}
