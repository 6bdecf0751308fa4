import HealthModel
import JSON

extension AutoExportReader {
    static let unknownName =
        "a symptom or cycle entry of this name isn't known; \(translates)"

    /// Reads a symptom `{start, end, name, severity}` or a cycle-tracking entry `{start, end, name, value}`.
    mutating func readCategory() throws(SampleProblem) {
        let times = try readTimes()
        guard let name = item.take("name", "type")?.text else { throw SampleProblem(reason: "there is no name") }
        guard let identifier = AutoExportCategory.identifier(of: name) else {
            throw SampleProblem(reason: Self.unknownName)
        }
        var metadata: [String: Value] = [:]
        var row = row(identifier, times.start, times.end)
        let value = item.take("severity", "value")
        if CategoryValue.isNotApplicable(type: identifier) {
            row.value = 0
            metadata = value?.text.map { Self.protection($0) } ?? [:]
        } else if let value {
            guard let raw = Self.raw(value, type: identifier) ?? AutoExportCategory.raw(value.text ?? "", identifier)
            else { throw SampleProblem(reason: Self.unknownValue) }
            row.value = Double(raw)
        }
        if let isStart = item.take("isCycleStart", "cycleStart")?.flag {
            metadata["HKMenstrualCycleStart"] = isStart ? "1" : "0"
        }
        describe(&row, metadata: metadata)
        try rows.append(row)
    }

    /// Reads `{start, end, heartNotification, threshold, heartRateData}`; the heart rates stay in the payload.
    ///
    /// The app's manual doesn't mention a kind, but its requests have one. If it is missing, the kind is inferred from
    /// whether there is a threshold (only rates have one), and on which side of it the rates are.
    mutating func readHeartRateNotification() throws {
        let times = try readTimes()
        let kind = AutoExportMetric.key(item.take("heartNotification", "type", "name")?.text ?? "")
        let threshold = item.take("threshold")?.decimal
        let rates = try AutoExportSums(item.look("heartRateData") ?? item.look("heartRate"))
        let name: String
        if kind.hasPrefix("high") {
            name = "HighHeartRateEvent"
        } else if kind.hasPrefix("low") {
            name = "LowHeartRateEvent"
        } else if kind.hasPrefix("irregular") || (kind.isEmpty && threshold == nil) {
            name = "IrregularHeartRhythmEvent"
        } else if kind.isEmpty, let threshold, let rates {
            name = rates.mean >= threshold ? "HighHeartRateEvent" : "LowHeartRateEvent"
        } else {
            throw SampleProblem(reason: "it isn't known which kind of notification this is")
        }
        var row = row("HKCategoryTypeIdentifier" + name, times.start, times.end)
        row.value = 0
        var metadata: [String: Value] = [:]
        if let threshold { metadata["HKHeartRateEventThreshold"] = .string("\(JSONNumber.text(threshold)) count/min") }
        describe(&row, metadata: metadata, restLimit: Self.restLimit) { $0 }
        try rows.append(row)
    }

    /// Reads a state of mind; all of it goes into the payload.
    mutating func readStateOfMind() throws(SampleProblem) {
        let times = try readTimes()
        var row = row(HealthType.stateOfMindIdentifier, times.start, times.end)
        describe(&row, restLimit: Self.restLimit) { $0 }
        try rows.append(row)
    }

    /// Reads a dose that was taken, skipped or missed. Its value is the dosage; everything else goes into the payload.
    /// Its time is the time when it was logged or, failing that, when it was due.
    mutating func readMedication() throws(SampleProblem) {
        let due = try AutoExportSpan.date(item.look("scheduledDate"), "scheduledDate")
        let isLogged = item.look("start") != nil || item.look("startDate") != nil || item.look("date") != nil
        let times = if !isLogged, let due { (start: due.instant, end: due.instant) } else { try readTimes() }
        var row = row(HealthType.medicationDoseIdentifier, times.start, times.end)
        row.value = item.look("dosage").flatMap { $0.decimal ?? Self.dosage($0) } ?? .nan
        let status = item.take("log_status")?.text
        describe(&row, restLimit: Self.restLimit) { rest in
            status.map { rest.merging(["logStatus": .string($0)]) { own, _ in own } } ?? rest
        }
        try rows.append(row)
    }
}
