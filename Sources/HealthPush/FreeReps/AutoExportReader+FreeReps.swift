import HealthModel
import JSON

// The parts that only FreeReps sends.
extension AutoExportReader {
    static let areRings = "a day's rings are Apple's own figures, not a sample; an export has them"

    /// Reads `{id, type, value, value_label, start_date, end_date, source}`: any category, with HealthKit's identifier and
    /// number.
    mutating func readCategorySample() throws(SampleProblem) {
        let times = try readTimes()
        guard let identifier = item.take("type")?.text, identifier.hasPrefix(AutoExportMetric.category),
            identifier.utf8.count <= 200, HealthType.base(ofStatistics: identifier) == nil
        else {
            throw SampleProblem(reason: "the type isn't a category's identifier")
        }
        guard let raw = item.take("value")?.integer else {
            throw SampleProblem(reason: "the value isn't a category's number")
        }
        // It follows from the number; those of symptoms are wrong.
        _ = item.take("value_label")
        var row = row(identifier, times.start, times.end)
        row.value = Double(raw)
        describe(&row)
        try rows.append(row)
    }

    /// Reads `{id, classification, average_heart_rate, sampling_frequency, voltage_measurements, start_date, source}`, in
    /// count/min, Hz and mV, into the form of Health Auto Export's. It lasts as long as its measurements.
    mutating func readRecording() throws {
        let start = try readTimes().start
        let rate = item.take("average_heart_rate")?.decimal
        let frequency = item.take("sampling_frequency")?.decimal
        let microvolts = try Self.microvolts(ofMillivolts: item.take("voltage_measurements"))
        var length = 0.0
        if let frequency, frequency > 0, let microvolts { length = Double(microvolts.count) / frequency }
        guard length <= Self.longestRecording else {
            throw SampleProblem(reason: "the recording is longer than any, for its sampling frequency")
        }
        var row = row(HealthType.electrocardiogramIdentifier, start, start + .seconds(length))
        if let rate, rate > 0, rate.isFinite { row.value = rate }
        describe(&row, restLimit: Self.restLimit) { rest in
            var members = rest
            members["averageHeartRate"] = rate.map { Value.number($0) }
            members["samplingFrequency"] = frequency.map { Value.number($0) }
            members["microvolts"] = microvolts.map { Value.column(.float64($0)) }
            return members
        }
        try rows.append(row)
    }

    /// In seconds.
    private static let longestRecording = 86_400.0
    private static let measurementLimit = 1 << 16

    /// To the nanovolt; nil if there are none.
    private static func microvolts(ofMillivolts array: JSONSpan?) throws -> [Double]? {
        guard let array else { return nil }
        guard array.kind == .array else { throw SampleProblem(reason: "the voltages aren't an array") }
        var column: [Double] = []
        var scanner = JSONScanner(array.bytes)
        try scanner.beginArray()
        while try scanner.nextElement() {
            guard let number = try scanner.value().double, column.count < measurementLimit else {
                throw SampleProblem(reason: "the voltages aren't numbers, or are more than any recording has")
            }
            column.append((number * 1e6).rounded() / 1e3)
        }
        return column
    }

    /// Reads `{id, sensitivity_points: [{hz, left_db, right_db}], start_date, source}`; all of it goes into the payload.
    mutating func readAudiogram() throws(SampleProblem) {
        let times = try readTimes()
        var row = row("HKDataTypeIdentifierAudiogram", times.start, times.end)
        describe(&row, restLimit: Self.restLimit) { $0 }
        try rows.append(row)
    }

    /// Reads `{id, date_issued, expiration_date, prescription_type, right_eye, left_eye, source}`; all of it goes into the
    /// payload.
    mutating func readPrescription() throws(SampleProblem) {
        guard let issued = try AutoExportSpan.date(item.take("date_issued"), "date_issued") else {
            throw SampleProblem(reason: "there is no date_issued")
        }
        var row = row(HealthType.visionPrescriptionIdentifier, issued.instant, issued.instant)
        describe(&row, restLimit: Self.restLimit) { $0 }
        try rows.append(row)
    }

    /// The number of a text such as `2.0 count`; nil for anything else.
    static func dosage(_ span: JSONSpan) -> Double? {
        guard let word = span.text?.split(separator: " ").first else { return nil }
        var number = String(word)
        return number.withUTF8 { DecimalText.parse($0) }
    }
}
