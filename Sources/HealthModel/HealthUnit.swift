/// A parsed HealthKit unit string: its dimension, and its size in base units (g, m, s, K, and so on).
public struct HealthUnit: Sendable, Equatable {
    /// Exponents of the base dimensions, in the order of `Base`.
    package internal(set) var dimension = SIMD16<Int8>(repeating: 0)
    /// How many base units make one of this unit.
    package internal(set) var scale = 1.0
    /// This unit's zero point, in base units. Only temperatures have one, and only when the temperature is the whole
    /// unit.
    package internal(set) var offset = 0.0

    /// Dimensions that don't convert into one another. Counts and percentages are numbers without a dimension, as in
    /// HealthKit.
    enum Base: Int {
        case mass, length, time, temperature, amount, conductance, potential, insulin, sound, hearing, light, effort,
            angle
    }

    init() {}

    init(_ exponents: [(Base, Int8)], scale: Double, offset: Double = 0) {
        for (base, exponent) in exponents { dimension[base.rawValue] = exponent }
        (self.scale, self.offset) = (scale, offset)
    }

    /// No unit has an exponent beyond this.
    private static let greatestExponent = 100

    /// - Returns: false if an exponent becomes too large; the unit then means nothing.
    mutating func multiply(by other: HealthUnit, power: Int) -> Bool {
        for base in 0..<16 {
            let exponent = Int(dimension[base]) + Int(other.dimension[base]) * power
            guard abs(exponent) <= Self.greatestExponent else { return false }
            dimension[base] = Int8(truncatingIfNeeded: exponent)
        }
        for _ in 0..<abs(power) { scale = power < 0 ? scale / other.scale : scale * other.scale }
        // A temperature difference has no zero point: a temperature keeps its zero point only if it is the whole unit.
        offset = 0
        return true
    }
}

extension HealthUnit {
    /// Grams, metres and seconds are the base units, so that conversions stay exact for units in exports that are
    /// powers of ten.
    static let atoms: [String: HealthUnit] = {
        let energy: [(Base, Int8)] = [(.mass, 1), (.length, 2), (.time, -2)]
        let power: [(Base, Int8)] = [(.mass, 1), (.length, 2), (.time, -3)]
        let pressure: [(Base, Int8)] = [(.mass, 1), (.length, -1), (.time, -2)]
        let volume: [(Base, Int8)] = [(.length, 3)]
        var atoms: [String: HealthUnit] = [
            "count": HealthUnit([], scale: 1),
            // HealthKit prints a percentage as a fraction of one.
            "%": HealthUnit([], scale: 1),
            "Hz": HealthUnit([(.time, -1)], scale: 1),
            "degC": HealthUnit([(.temperature, 1)], scale: 1, offset: 273.15),
            "degF": HealthUnit([(.temperature, 1)], scale: 5.0 / 9.0, offset: 459.67 * 5.0 / 9.0),
            "K": HealthUnit([(.temperature, 1)], scale: 1),
            "W": HealthUnit(power, scale: 1000),
            "mol": HealthUnit([(.amount, 1)], scale: 1),
            "S": HealthUnit([(.conductance, 1)], scale: 1),
            "V": HealthUnit([(.potential, 1)], scale: 1),
            "IU": HealthUnit([(.insulin, 1)], scale: 1),
            "dBASPL": HealthUnit([(.sound, 1)], scale: 1),
            "dBHL": HealthUnit([(.hearing, 1)], scale: 1),
            "lx": HealthUnit([(.light, 1)], scale: 1),
            "appleEffortScore": HealthUnit([(.effort, 1)], scale: 1),
            "rad": HealthUnit([(.angle, 1)], scale: 1),
            "deg": HealthUnit([(.angle, 1)], scale: Double.pi / 180),
        ]
        func add(_ exponents: [(Base, Int8)], _ sizes: [String: Double]) {
            for (name, size) in sizes { atoms[name] = HealthUnit(exponents, scale: size) }
        }
        add([(.mass, 1)], ["g": 1, "oz": 28.349523125, "lb": 453.59237, "st": 6350.29318])
        add([(.length, 1)], ["m": 1, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344])
        add([(.time, 1)], ["s": 1, "sec": 1, "min": 60, "hr": 3600, "h": 3600, "d": 86_400])
        // A joule is 1000 g·m²/s². The large calorie equals a kilocalorie; HealthKit's small calorie is the
        // thermochemical one.
        add(energy, ["J": 1000, "cal": 4184, "Cal": 4_184_000])
        add(
            pressure,
            ["Pa": 1000, "mmHg": 133_322.387415, "cmAq": 98_066.5, "inHg": 3_386_388.640341, "atm": 101_325_000])
        add(
            volume,
            [
                "L": 1e-3, "l": 1e-3, "fl_oz_us": 29.5735295625e-6, "fl_oz_imp": 28.4130625e-6, "pt_us": 473.176473e-6,
                "pt_imp": 568.26125e-6, "cup_us": 236.5882365e-6, "cup_imp": 284.130625e-6,
            ])
        return atoms
    }()

    /// HealthKit's metric prefixes; micro is `mc`. Other apps write u or µ.
    static let prefixes: [(String, Double)] = [
        ("da", 1e1), ("mc", 1e-6), ("f", 1e-15), ("p", 1e-12), ("n", 1e-9), ("u", 1e-6), ("µ", 1e-6), ("μ", 1e-6),
        ("m", 1e-3), ("c", 1e-2), ("d", 1e-1), ("h", 1e2), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12),
    ]

    static let prefixable: Set<String> = [
        "g", "m", "s", "J", "cal", "Pa", "L", "l", "W", "mol", "S", "V", "Hz", "K", "lx", "IU",
    ]
}
