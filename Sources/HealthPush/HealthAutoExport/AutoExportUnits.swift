import HealthModel

/// Units as the app writes them. Most are HealthKit's own strings; the others are meant for people.
enum AutoExportUnits {
    /// The factors that convert a type's values. Nil if the unit doesn't belong to the type, or if no unit is given and
    /// several are in use for the type.
    ///
    /// The app sends 97 for a percentage that HealthKit and the store represent as 0.97.
    static func factors(_ unit: String, for type: HealthType) -> UnitFactors? {
        let unit = healthKit(unit)
        if type.unit == "%", unit.isEmpty || unit == "%" { return UnitFactors(scale: 0.01, offset: 0) }
        // These are beats, under the unit name that the app's first version used.
        if type.unit == "count/min", unit == "count" { return .identity }
        if unit.isEmpty { return unambiguous.contains(type.unit) ? .identity : nil }
        guard let found = UnitConversion.toCanonical(unit: unit, for: type) else { return nil }
        return UnitFactors(scale: found.scale, offset: found.offset)
    }

    /// The number of seconds in a unit of time; nil for any other unit.
    static func seconds(in unit: String) -> Double? {
        UnitConversion.toCanonical(unit: healthKit(unit), for: secondsType)?.scale
    }

    /// HealthKit's string for the same unit; an unknown one is kept.
    static func healthKit(_ unit: String) -> String {
        let bare = unit.filter { !$0.isWhitespace }
        return spellings[bare] ?? spellings[bare.lowercased()] ?? bare
    }

    private static let secondsType = HealthType(identifier: "duration", kind: .other, unit: "s", style: .none)
    /// Canonical units of types for which no other unit is in use.
    private static let unambiguous: Set = ["count", "count/min", "ms", "min", "dBASPL", "mmHg", "appleEffortScore"]

    private static let spellings: [String: String] = {
        let groups: [(String, String)] = [
            ("count/min", "bpm beats/min beat/min breaths/min br/min spm rpm rev/min steps/min strokes/min /min 1/min"),
            ("count", "steps step times time drinks beverages falls pushes strokes floors flights index counts"),
            ("%", "percent pct"), ("hr", "hours hour hrs h"), ("min", "minutes minute mins"),
            ("s", "seconds second secs sec"), ("ms", "milliseconds msec"),
            ("degC", "°c ºc ℃ c celsius"), ("degF", "°f ºf ℉ f fahrenheit"),
            ("mi/hr", "mph mi/h miles/hr"), ("km/hr", "kmph kph km/h kmh"), ("m/s", "mps"),
            ("lb", "lbs pound pounds"), ("kg", "kgs kilograms"), ("st", "stone"), ("g", "grams gram"),
            ("mcg", "µg μg ug micrograms"), ("mcS", "microsiemens"),
            ("mi", "mile miles"), ("km", "kilometers kilometres"), ("m", "meters metres meter"), ("in", "inch inches"),
            ("ft", "feet foot"), ("yd", "yards yard"), ("cm", "centimeters centimetres cms"),
            ("kcal", "kcals kilocalories calories"), ("kJ", "kilojoules kj"), ("mmHg", "mmhg"),
            ("fl_oz_us", "floz usfloz fl_oz floz_us oz_us"), ("fl_oz_imp", "impfloz floz_imp"),
            ("cup_us", "cups cup"), ("mL", "ml milliliters"), ("L", "l liters litres"),
            ("mg/dL", "mg/dl"), ("mmol/L", "mmol/l mmol"), ("IU", "iu units unit"),
            ("W", "w watt watts"),
            ("dBASPL", "db dba dbaspl dbspl decibels"),
            ("kcal/hr·kg", "met mets kcal/(hr·kg) kcal/kg·hr kcal/(kg·hr)"),
            ("mL/min·kg", "ml/kg/min ml/(kg·min) ml/min·kg ml/kg·min ml/min/kg ml/(min·kg)"),
        ]
        var spellings: [String: String] = [:]
        for (unit, others) in groups { for other in others.split(separator: " ") { spellings[String(other)] = unit } }
        return spellings
    }()
}
