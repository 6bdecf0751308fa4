import HealthModel
import JSON

/// Walks a request's body, section by section and item by item.
struct AutoExportReader {
    let dialect: AutoExportDialect
    let aggregation: AutoExportAggregation
    let now: Instant
    /// What the request says about aggregation, unchanged.
    let stated: String?
    var rows = AutoExportRows()
    /// The current item; reused, so that not every item allocates its own.
    var item = AutoExportItem()

    init(aggregation stated: String?, now: Instant, dialect: AutoExportDialect = .healthAutoExport) {
        (self.stated, self.now, self.dialect) = (stated, now, dialect)
        aggregation = dialect.aggregation ?? AutoExportAggregation(header: stated)
        rows.unnamedSource = dialect.unnamedSource
    }

    /// Reads the whole document; returns false when it has no object `data`.
    mutating func read(_ text: UnsafeRawBufferPointer) throws(JSONScanError) -> Bool {
        var scanner = JSONScanner(text)
        guard scanner.nextIsObject() else {
            _ = try scanner.value()
            try scanner.end()
            return false
        }
        var hasData = false
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let value = try scanner.value()
            if name == "data", value.kind == .object {
                hasData = true
                try readData(value)
            } else if !Self.isEmpty(value) {
                try quarantine(part: name, value, reason: "it is beside 'data', where nothing is expected")
            }
        }
        try scanner.end()
        return hasData
    }

    private mutating func readData(_ data: JSONSpan) throws(JSONScanError) {
        var scanner = JSONScanner(data.bytes)
        try scanner.beginObject()
        while let name = try scanner.nextMember() {
            let value = try scanner.value()
            if Self.isEmpty(value) { continue }
            guard let part = Part(rawValue: name.text ?? "") else {
                try quarantine(part: name, value, reason: "no part with this name is known")
                continue
            }
            guard value.kind == .array else {
                try quarantine(part: name, value, reason: "the part isn't an array")
                continue
            }
            try read(part, name, value)
        }
    }

    private mutating func read(_ part: Part, _ name: JSONSpan, _ array: JSONSpan) throws(JSONScanError) {
        try eachElement(array) { (reader, element) throws(JSONScanError) in
            guard part != .metrics else { return try reader.readMetric(element) }
            reader.rows.beginItem()
            do {
                guard try reader.item.read(element) else { throw SampleProblem(reason: "the item isn't an object") }
                try reader.readItem(of: part)
            } catch { reader.rows.quarantine(error, raw: element.whole, within: AutoExportContext(name: name)) }
        }
    }

    /// Shows each element of an array, as long as the changes are taken.
    mutating func eachElement(
        _ array: JSONSpan, _ body: (inout AutoExportReader, JSONSpan) throws(JSONScanError) -> Void
    ) throws(JSONScanError) {
        var scanner = JSONScanner(array.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() {
            let element = try scanner.value()
            if rows.failure != nil { return }
            try body(&self, element)
        }
    }

    private mutating func readItem(of part: Part) throws {
        switch part {
        case .metrics: break
        case .workouts: try readWorkout()
        case .symptoms, .cycleTracking: try readCategory()
        case .ecg: try readElectrocardiogram()
        case .heartRateNotifications: try readHeartRateNotification()
        case .stateOfMind, .statesOfMind: try readStateOfMind()
        case .medications: try readMedication()
        case .categories: try readCategorySample()
        case .recordings: try readRecording()
        case .audiograms: try readAudiogram()
        case .prescriptions: try readPrescription()
        case .rings: throw SampleProblem(reason: Self.areRings)
        }
    }

    /// Quarantines parts that aren't read: each element of an array is one item, and anything else is a single item.
    private mutating func quarantine(
        part name: JSONSpan, _ value: JSONSpan, reason: String
    ) throws(JSONScanError) {
        guard value.kind == .array else {
            rows.beginItem()
            return rows.quarantine(reason, raw: value.whole, within: AutoExportContext(name: name))
        }
        try eachElement(value) { reader, element in
            reader.rows.beginItem()
            reader.rows.quarantine(reason, raw: element.whole, within: AutoExportContext(name: name))
        }
    }

    /// Null, `[]` and `{}`, which the app sends where it has nothing.
    private static func isEmpty(_ value: JSONSpan) -> Bool {
        switch value.kind {
        case .null: true
        case .array, .object: value.bytes.dropFirst().dropLast().allSatisfy { $0 <= 0x20 }
        default: false
        }
    }

    private enum Part: String {
        case metrics, workouts, symptoms, cycleTracking, ecg, heartRateNotifications, stateOfMind, medications
        // FreeReps' own.
        case categories = "category_samples"
        case recordings = "ecg_recordings"
        case audiograms
        case prescriptions = "vision_prescriptions"
        case statesOfMind = "state_of_mind"
        case rings = "activity_summaries"
    }
}

extension JSONSpan {
    /// The value as it is in the text, including a string's quotes.
    var whole: UnsafeRawBufferPointer {
        guard isString, let start = bytes.baseAddress else { return bytes }
        // A string's span excludes its quotes, so one is added on each side.
        return UnsafeRawBufferPointer(start: start - 1, count: bytes.count + 2)
    }
}
