import HealthModel

/// The unit of a number in FHIR: UCUM's where it is known.
package struct ResourceUnit: Sendable, Equatable {
    package static let system = "http://unitsofmeasure.org"

    /// The unit as shown to people; empty if there is none.
    package let text: String
    /// UCUM's code; nil for a unit without one.
    package let code: String?
    /// What the store's number is multiplied by to give FHIR's.
    package let factor: Double

    /// - Parameters:
    ///   - coding: what is known about the quantity.
    ///   - unit: as stored, a HealthKit unit string; empty if there is none.
    ///   - isFraction: whether a `%` is a number from 0 to 1, as HealthKit's samples are.
    package init(_ coding: HealthCoding?, of unit: String, isFraction: Bool) {
        if let own = coding?.unit {
            (text, code, factor) = (own, own, coding?.factor ?? 1)
        } else {
            (text, code, factor) = (unit, Self.codes[unit], unit == "%" && isFraction ? 100 : 1)
        }
    }

    /// The number in this unit. Multiplication may leave errors far behind the decimal point; they are rounded away.
    package func number(_ value: Double) -> Double {
        factor == 1 ? value : (value * factor * 1e9).rounded() / 1e9
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
        "appleEffortScore": "{score}",
    ]
}
