import HealthModel
import JSON

/// One ECG in an export, from its CSV file.
struct Electrocardiogram: Equatable {
    /// When it was recorded.
    var start: Instant
    /// Measurements per second.
    var sampleRate: Double
    /// In beats per minute; nil if the file doesn't state it (none seen so far does).
    var averageHeartRate: Double?
    /// As printed, in the phone's language; empty if there is none.
    var classification = ""
    var symptoms = ""
    var softwareVersion = ""
    var device = ""
    var lead = ""
    /// "µV", or an unknown unit as it was printed; empty if the file states none.
    var unit = "µV"
    /// Unknown rows in the file's header that come after the date, by name.
    var fields: [String: String] = [:]
    /// In `unit`.
    var measurements: [Double] = []

    /// The time one measurement interval after the last measurement.
    var end: Instant {
        start + .microseconds(Int64((Double(measurements.count) / sampleRate * 1e6).rounded()))
    }
}

extension Electrocardiogram {
    /// A batch of one sample. Its value is the average heart rate; its payload has everything except the measurements.
    ///
    /// The file names a device but no source: the sample's source has no name.
    /// - Parameter hash: the hash of the document with the measurements.
    func batch(waveform hash: ContentDigest) -> RecordBatch {
        var batch = RecordBatch()
        batch.types = [HealthType.electrocardiogramIdentifier]
        batch.units = [HealthType.known(HealthType.electrocardiogramIdentifier)?.unit ?? ""]
        batch.origins = [Origin(sourceName: "", device: device)]
        batch.type = [0]
        batch.start = [start.microseconds]
        batch.end = [end.microseconds]
        batch.value = [averageHeartRate ?? .nan]
        batch.unit = [0]
        batch.origin = [0]
        batch.created = [0]
        batch.flags = [[]]
        batch.line = [1]
        batch.metadata.append("")
        batch.payload.append(payload(hash).json())
        return batch
    }

    private func payload(_ hash: ContentDigest) -> Value {
        var members: [String: Value] = [
            "measurements": Value(measurements.count), "sampleRate": .number(sampleRate), "unit": .string(unit),
            "waveform": .string(hash.description),
        ]
        let texts = [
            "classification": classification, "symptoms": symptoms, "softwareVersion": softwareVersion,
            "device": device, "lead": lead,
        ]
        for (name, text) in texts where !text.isEmpty { members[name] = .string(text) }
        if let rhythm = ElectrocardiogramRhythm(printed: classification) {
            members["rhythm"] = .string(rhythm.rawValue)
        }
        if !fields.isEmpty { members["fields"] = .object(fields.mapValues { .string($0) }) }
        return .object(members)
    }

    /// The document: a JSON object with `lead`, `sampleRate`, `unit` and `values`. Except for `lead` and an unknown
    /// unit, which stay as printed, its bytes are the same whatever the phone's language.
    var waveform: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(measurements.count * 9 + 128)
        let head: [(String, Value)] = [
            ("lead", .string(lead)), ("sampleRate", .number(sampleRate)), ("unit", .string(unit)),
        ]
        for (name, value) in head {
            out += (out.isEmpty ? "{" : ",").utf8
            out += "\"\(name)\":\(value.json())".utf8
        }
        out += ",\"values\":[".utf8
        for (index, value) in measurements.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out += JSONNumber.text(value).utf8
        }
        out += "]}".utf8
        return out
    }
}

/// Why a file isn't a readable ECG.
struct ElectrocardiogramProblem: Error, Equatable {
    /// Without health values.
    let reason: String
    /// The line in the file; 0 if no single line is at fault.
    var line: Int64 = 0
    /// Rows of the file's header that don't identify a person.
    var head: [String] = []

    init(_ reason: String, line: Int64 = 0) { (self.reason, self.line) = (reason, line) }

    func input(file: String) -> QuarantinedInput {
        let name = file.replacing("\"", with: "'")
        let tag = "<Electrocardiogram type=\"\(HealthType.electrocardiogramIdentifier)\" file=\"\(name)\">"
        let raw = ([tag] + head).joined(separator: "\n")
        return QuarantinedInput(line: line, reason: "an ECG's file: \(reason)", raw: String(raw.prefix(2000)))
    }
}
