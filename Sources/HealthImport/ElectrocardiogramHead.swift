import HealthModel

/// What the rows before an ECG's measurements mean.
struct ElectrocardiogramHead {
    private enum Field {
        case name, dateOfBirth, start, classification, symptoms, softwareVersion, device, sampleRate, averageHeartRate
        case lead, unit
    }

    private let rows: [ElectrocardiogramFile.Row]
    /// By row.
    private var fields: [Field?]
    private(set) var start: Instant?
    private(set) var sampleRate: Double?
    private var averageHeartRate: Double?
    private var unit = ""
    /// How many places a measurement's decimal point moves to the right to give µV.
    private(set) var shift = 0

    /// The plausible number of measurements per second in an ECG.
    private static let rates = 1.0...10_000
    /// A rate in an unknown unit is taken as measurements per second if it is above `fastestHeart`, and as heartbeats
    /// per minute if it is between that and `slowestHeart`.
    private static let fastestHeart = 250.0
    private static let slowestHeart = 20.0

    init(_ rows: [ElectrocardiogramFile.Row]) {
        self.rows = rows
        fields = rows.map { Self.names[$0.name.lowercased()] }
        findByContent()
        findByPlace()
        for (row, field) in zip(rows, fields) {
            switch field {
            case .start: start = start ?? InstantText.parse(LocaleNumber.plain(row.value))
            case .sampleRate: sampleRate = sampleRate ?? LocaleNumber.quantity(row.value)?.number
            case .averageHeartRate:
                averageHeartRate =
                    averageHeartRate
                    ?? (LocaleNumber.quantity(row.value)?.number ?? LocaleNumber.parse(LocaleNumber.plain(row.value)))
            case .unit: unit = row.value
            default: break
            }
        }
        if let known = Self.units[unit.lowercased()] { (unit, shift) = ("µV", known) }
    }

    /// Rows that don't identify a person: the date and those after it.
    var named: [ElectrocardiogramFile.Row] {
        guard let first = fields.firstIndex(of: .start) else { return [] }
        return rows[first...].indices.filter { fields[$0] != .name && fields[$0] != .dateOfBirth }.map { rows[$0] }
    }

    /// The ECG, without its measurements.
    func electrocardiogram() throws(ElectrocardiogramProblem) -> Electrocardiogram {
        guard let start else { throw ElectrocardiogramProblem("there is no date of its recording") }
        guard let sampleRate else { throw ElectrocardiogramProblem("there is no sample rate") }
        guard Self.rates.contains(sampleRate) else {
            throw ElectrocardiogramProblem("its sample rate is impossible")
        }
        var ecg = Electrocardiogram(start: start, sampleRate: sampleRate, averageHeartRate: averageHeartRate)
        ecg.unit = unit
        ecg.classification = value(.classification)
        ecg.symptoms = value(.symptoms)
        ecg.softwareVersion = value(.softwareVersion)
        ecg.device = value(.device)
        ecg.lead = value(.lead)
        let first = fields.firstIndex(of: .start) ?? 0
        for (index, row) in rows.enumerated() where fields[index] == nil && index > first && !row.value.isEmpty {
            ecg.fields[row.name] = row.value
        }
        return ecg
    }

    private func value(_ field: Field) -> String {
        fields.firstIndex(of: field).map { rows[$0].value } ?? ""
    }

    /// Finds a date with a time, and numbers with units, whatever the rows are called.
    private mutating func findByContent() {
        for (index, row) in rows.enumerated() where fields[index] == nil {
            if !fields.contains(.start), InstantText.parse(LocaleNumber.plain(row.value)) != nil {
                fields[index] = .start
            } else if let (number, unit) = LocaleNumber.quantity(row.value) {
                let isRate = ["hz", "hertz"].contains(unit.lowercased()) || number > Self.fastestHeart
                let field = isRate ? Field.sampleRate : .averageHeartRate
                guard isRate || number > Self.slowestHeart else { continue }
                if !fields.contains(field), fields.contains(.start) { fields[index] = field }
            } else if row.isInLastBlock, Self.units[row.value.lowercased()] != nil, !fields.contains(.unit) {
                fields[index] = .unit
            }
        }
    }

    /// Finds the rows in between, if all are there; only their positions identify them.
    private mutating func findByPlace() {
        let places = rows.indices.filter { fields[$0] != .averageHeartRate }
        let between: [Field] = [.classification, .symptoms, .softwareVersion, .device]
        if let first = places.firstIndex(where: { fields[$0] == .start }), places.count > first + 5,
            fields[places[first + 5]] == .sampleRate
        {
            for (offset, field) in between.enumerated() where !fields.contains(field) {
                let place = places[first + 1 + offset]
                if fields[place] == nil { fields[place] = field }
            }
        }
        let last = rows.indices.filter { rows[$0].isInLastBlock }
        guard last.count == 2 else { return }
        if fields[last[1]] == nil, !fields.contains(.unit) { fields[last[1]] = .unit }
        if fields[last[0]] == nil, fields[last[1]] == .unit, !fields.contains(.lead) { fields[last[0]] = .lead }
    }

    /// Names in lower case, as English and German exports print them.
    private static let names: [String: Field] = [
        "name": .name, "date of birth": .dateOfBirth, "recorded date": .start, "classification": .classification,
        "symptoms": .symptoms, "software version": .softwareVersion, "device": .device, "sample rate": .sampleRate,
        "average heart rate": .averageHeartRate, "lead": .lead, "unit": .unit,
        "geburtstag": .dateOfBirth, "aufzeichnungsdatum": .start, "klassifizierung": .classification,
        "symptome": .symptoms, "softwareversion": .softwareVersion, "gerät": .device, "messrate": .sampleRate,
        "ableitung": .lead, "einheit": .unit,
    ]

    /// The number of decimal places by which a unit is larger than a µV. µ exists in two forms.
    private static let units: [String: Int] = [
        "µv": 0, "μv": 0, "uv": 0, "mcv": 0, "мкв": 0, "microvolt": 0, "microvolts": 0, "mikrovolt": 0,
        "mv": 3, "мв": 3, "millivolt": 3, "millivolts": 3, "v": 6, "volt": 6, "volts": 6,
    ]
}
