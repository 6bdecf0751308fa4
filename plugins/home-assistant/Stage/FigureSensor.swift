import Configuration
import HealthModel

/// A daily figure as a sensor. Pure.
package struct FigureSensor: Sendable, Equatable {
    /// The sensor's member in a day's message, and its part of topics.
    package let object: String
    /// The name shown to people: "Active energy".
    package private(set) var name: String
    let unit: String?
    let deviceClass: String?
    let stateClass: String?
    let digits: Int
    private let path: [String]
    private let isFraction: Bool
    private let isCounted: Bool

    /// nil for a list or an object, unless its entries are counted: a sensor is one number.
    package init?(_ figure: FigureDeclaration) {
        isCounted = figure.form == .list && figure.unit == "counted"
        guard figure.form == .number || isCounted else { return nil }
        path = figure.path
        object = MQTTTopics.name(figure.path.joined(separator: "."))
        name = Self.known[figure.path.joined(separator: ".")] ?? Self.name(figure.path)
        isFraction = figure.isFraction
        var kind = SensorKind(unit: figure.unit)
        let isTotal = figure.explanation?.rule == .total
        stateClass = kind.settle(on: isTotal ? .total : .measurement)?.rawValue
        unit = kind.unit
        deviceClass = kind.deviceClass
        switch figure.unit {
        case "kg", "L", "%", "km": digits = 1
        case "m": digits = isTotal ? 0 : 2
        case "count" where figure.path.last?.contains("Index") == true: digits = 1
        default: digits = figure.column?.dividedBy == 1 ? figure.column?.digits ?? 0 : 0
        }
    }

    /// The sensor's number in a daily summary; null if the summary has none. A day that has data, but no workout, has 0
    /// of them.
    func value(in summary: Value) -> Value {
        let found = path.reduce(summary) { $0[$1] }
        if isCounted { return .integer(Int64(found.array?.count ?? 0)) }
        guard let number = found.double, number.isFinite else { return .null }
        return isFraction ? .number(ShownFraction.percent(number)) : found
    }

    /// Words that only repeat the unit, which is shown anyway.
    private static let units: Set<String> = [
        "kilocalories", "minutes", "hours", "seconds", "milliseconds", "meters", "kilometers", "kilograms", "grams",
        "milliliters", "liters", "fraction", "percent",
    ]

    /// Names for shipped figures, plainer than those derived from their members.
    private static let known = [
        "hrvSDNNMilliseconds": "HRV", "sleep.asleepMinutes": "Time asleep", "heartRate.average": "Average heart rate",
        "heartRate.min": "Lowest heart rate", "heartRate.max": "Highest heart rate",
        "heartRate.resting": "Resting heart rate",
    ]

    /// Adds the words of their units to sensors that share a name: "Stand hours", "Stand minutes".
    static func distinct(_ sensors: [FigureSensor]) -> [FigureSensor] {
        let counts = Dictionary(sensors.map { ($0.name, 1) }, uniquingKeysWith: +)
        return sensors.map { sensor in
            guard counts[sensor.name, default: 0] > 1 else { return sensor }
            var sensor = sensor
            sensor.name = name(sensor.path, withUnit: true)
            return sensor
        }
    }

    private static func name(_ path: [String], withUnit: Bool = false) -> String {
        var words = path.flatMap { Self.words($0) }
        while !withUnit, words.count > 1, let last = words.last, units.contains(last.lowercased()) {
            words.removeLast()
        }
        let text = words.map { $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// "hrvSDNNMilliseconds": hrv, SDNN, Milliseconds.
    private static func words(_ text: String) -> [String] {
        let letters = Array(text)
        var words: [String] = []
        var word = ""
        for (index, letter) in letters.enumerated() {
            let before = index > 0 ? letters[index - 1] : nil
            let after = index + 1 < letters.count ? letters[index + 1] : nil
            let begins =
                letter.isUppercase && (before?.isUppercase == false || (before != nil && after?.isLowercase == true))
            if begins || letter == "_" || letter == "-" {
                words.append(word)
                word = ""
            }
            if letter != "_", letter != "-" { word.append(letter) }
        }
        words.append(word)
        return words.filter { !$0.isEmpty }
    }
}
