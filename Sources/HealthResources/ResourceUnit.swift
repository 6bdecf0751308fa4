import HealthModel

/// The unit of a number in FHIR: UCUM's unit where it is known.
package struct ResourceUnit: Sendable, Equatable {
    package static let system = "http://unitsofmeasure.org"

    /// The unit as shown to people; empty if there is none.
    package let text: String
    /// UCUM's code; nil for a unit without one.
    package let code: String?
    /// The factor that converts the store's number to FHIR's.
    package let factor: Double

    /// - Parameters:
    ///   - coding: what is known about the quantity.
    ///   - unit: as stored, a HealthKit unit string; empty if there is none.
    ///   - isFraction: whether a value in `%` is a number from 0 to 1, as in HealthKit's samples.
    package init(_ coding: HealthCoding?, of unit: String, isFraction: Bool) {
        if let own = coding?.unit {
            (text, code, factor) = (own, own, coding?.factor ?? 1)
        } else {
            (text, code, factor) = (unit, Self.codes[unit], unit == "%" && isFraction ? 100 : 1)
        }
    }

    /// The number in this unit, rounded.
    package func number(_ value: Double) -> Double { Self.rounded(value * factor) }

    /// The number rounded to six significant digits, but never more coarsely than to a whole number. In FHIR, each
    /// digit claims to have been measured, and conversions leave errors far behind the decimal point, as in
    /// 37.00000000000001.
    package static func rounded(_ value: Double) -> Double {
        value.rounded(digits: 6, decimals: 0...Int.max)
    }

    /// FHIR's `Quantity`.
    func quantity(_ value: Double) -> Value {
        var members: [String: Value] = ["value": .number(number(value))]
        if !text.isEmpty { members["unit"] = .string(text) }
        if let code {
            members["system"] = .string(Self.system)
            members["code"] = .string(code)
        }
        return .object(members)
    }

    /// UCUM's codes for HealthKit's unit strings, and for the units of figures.
    package static let codes: [String: String] = [
        "count": "{count}", "count/min": "/min", "%": "%", "m": "m", "km": "km", "cm": "cm", "kg": "kg", "g": "g",
        "mg": "mg", "mcg": "ug", "mL": "mL", "L": "L", "kcal": "kcal", "s": "s", "ms": "ms", "min": "min", "hr": "h",
        "hours": "h", "IU": "[iU]", "degC": "Cel", "mmHg": "mm[Hg]", "mg/dL": "mg/dL", "m/s": "m/s", "W": "W",
        "L/min": "L/min", "mcS": "uS", "dBASPL": "dB[SPL]", "mL/min·kg": "mL/min/kg", "kcal/hr·kg": "kcal/h/kg",
        "appleEffortScore": "{score}", "Hz": "Hz",
    ]
}
