import JSON

/// How to convert values from an input's unit to a type's canonical unit.
public enum UnitConversion {
    /// `canonical = value * scale + offset`. Nil if the unit is unknown or doesn't fit the type, or if the type has no
    /// unit; the value then stays in the unit in which it arrived.
    ///
    /// Call this once for each unit and type, not once for each sample.
    public static func toCanonical(unit: some StringProtocol, for type: HealthType) -> (scale: Double, offset: Double)?
    {
        guard !type.unit.isEmpty else { return nil }
        if unit == type.unit { return (1, 0) }
        guard let to = HealthUnit(type.unit), let from = HealthUnit(unit) else { return nil }
        if let found = factors(from: from, to: to) { return found }
        guard (HealthType.base(ofStatistics: type.identifier) ?? type.identifier) == bloodGlucose else { return nil }
        return factors(from: from.weighing(glucoseMolarMass), to: to)
    }

    /// As above, from UTF-8 bytes.
    package static func toCanonical(
        unit: UnsafeBufferPointer<UInt8>, for type: HealthType
    ) -> (scale: Double, offset: Double)? {
        toCanonical(unit: String(decoding: unit, as: UTF8.self), for: type)
    }

    /// The factors for converting values from one unit to another; nil if their dimensions differ.
    public static func factors(from: HealthUnit, to: HealthUnit) -> (scale: Double, offset: Double)? {
        guard from.dimension == to.dimension else { return nil }
        let scale = from.scale / to.scale
        return (powerOfTen(near: scale) ?? scale, (from.offset - to.offset) / to.scale)
    }

    /// Equal units whose factors are written in a different order differ only by rounding, and so do 1 and 0.001 / 0.001.
    private static func powerOfTen(near scale: Double) -> Double? {
        (-22...22).lazy.map { DecimalText.power(of: $0) }.first { abs(scale - $0) < 1e-14 * $0 }
    }

    private static let bloodGlucose = "HKQuantityTypeIdentifierBloodGlucose"
    /// HKUnitMolarMassBloodGlucose: pushes write plain mmol/L, whereas HealthKit's unit includes the molar mass.
    private static let glucoseMolarMass = 180.15588000005408
}

extension HealthUnit {
    /// The unit with its amount of substance replaced by the corresponding mass.
    fileprivate func weighing(_ molarMass: Double) -> HealthUnit {
        let exponent = dimension[Base.amount.rawValue]
        guard exponent == 1 else { return self }
        var copy = self
        copy.dimension[Base.amount.rawValue] = 0
        copy.dimension[Base.mass.rawValue] += 1
        copy.scale *= molarMass
        return copy
    }
}
