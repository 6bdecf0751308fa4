extension HealthUnit {
    /// Reads a HealthKit unit string: factors joined by `·`, `*` or `.`, divided by `/`, with `^` powers, parentheses,
    /// metric prefixes and molar masses in grams per mole (`mmol<180.1558800000541>/L`); nil for anything else.
    ///
    /// As in HealthKit, everything after a `/` belongs to the denominator: `mL/min·kg` is `mL/(min·kg)`.
    public init?(_ text: some StringProtocol) {
        var parser = HealthUnitParser(Array(text.unicodeScalars.filter { $0 != " " }))
        guard let unit = parser.product(depth: 0), parser.isAtEnd else { return nil }
        self = unit
    }
}

/// A recursive descent over `product = factor (("·" | "⋅" | "*" | "." | "/") factor)*`.
private struct HealthUnitParser {
    private let text: [Unicode.Scalar]
    private var position = 0

    init(_ text: [Unicode.Scalar]) { self.text = text }

    var isAtEnd: Bool { position == text.count }

    private var current: Unicode.Scalar? { position < text.count ? text[position] : nil }

    mutating func product(depth: Int) -> HealthUnit? {
        guard depth < 8 else { return nil }
        guard var result = factor(depth: depth) else { return nil }
        var sign = 1
        while let scalar = current, scalar != ")" {
            switch scalar {
            case "/": sign = -1
            case "·", "⋅", "*", ".": break
            default: return nil
            }
            position += 1
            guard let next = factor(depth: depth), result.multiply(by: next, power: sign) else { return nil }
        }
        return result
    }

    private mutating func factor(depth: Int) -> HealthUnit? {
        guard let base = current == "(" ? group(depth: depth) : atom() else { return nil }
        guard current == "^" else { return base }
        position += 1
        guard let power = integer(), abs(power) <= 6 else { return nil }
        var result = HealthUnit()
        return result.multiply(by: base, power: power) ? result : nil
    }

    private mutating func group(depth: Int) -> HealthUnit? {
        position += 1
        guard let inner = product(depth: depth + 1), current == ")" else { return nil }
        position += 1
        return inner
    }

    private mutating func atom() -> HealthUnit? {
        let name = take { $0.properties.isAlphabetic || $0 == "_" || $0 == "%" || $0 == "µ" }
        // A leading 1 stands for "per", as in 1/min.
        if name.isEmpty { return take { $0 == "1" } == "1" ? HealthUnit() : nil }
        guard var unit = Self.named(name) else { return nil }
        guard current == "<" else { return unit }
        position += 1
        guard let molarMass = Double(take { $0 != ">" }), molarMass.isFinite, molarMass > 0, current == ">" else {
            return nil
        }
        position += 1
        guard unit.dimension[HealthUnit.Base.amount.rawValue] == 1 else { return nil }
        unit.dimension[HealthUnit.Base.amount.rawValue] = 0
        unit.dimension[HealthUnit.Base.mass.rawValue] = 1
        unit.scale *= molarMass
        return unit
    }

    /// An exact name takes precedence over a prefixed one: `min` isn't a milli-inch.
    private static func named(_ name: String) -> HealthUnit? {
        if let unit = HealthUnit.atoms[name] { return unit }
        for (prefix, factor) in HealthUnit.prefixes where name.hasPrefix(prefix) {
            let rest = String(name.dropFirst(prefix.count))
            guard HealthUnit.prefixable.contains(rest), var unit = HealthUnit.atoms[rest] else { continue }
            unit.scale = factor < 1 ? unit.scale / (1 / factor).rounded() : unit.scale * factor
            return unit
        }
        return nil
    }

    private mutating func take(while belongs: (Unicode.Scalar) -> Bool) -> String {
        var out = String.UnicodeScalarView()
        while let scalar = current, belongs(scalar) {
            out.append(scalar)
            position += 1
        }
        return String(out)
    }

    private mutating func integer() -> Int? { Int(take { $0 == "-" || ("0"..."9").contains($0) }) }
}
