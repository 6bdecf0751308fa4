extension HealthType {
    /// Whether its values are fractions from 0 to 1 that people see as percentages: HealthKit's `%`.
    package var isFraction: Bool { unit == "%" }
}

/// Fractions as people see them: the store's 0.963 with the unit `%` is shown as 96.3. What programs read isn't changed.
/// Pure.
package enum ShownFraction {
    /// In percent, with four digits or two decimals, whichever is more: multiplication must not add digits that nobody
    /// measured.
    package static func percent(_ fraction: Double) -> Double {
        (fraction * 100).rounded(digits: 4, decimals: 2...12)
    }

    /// Anything that isn't a number stays as it is.
    package static func percent(_ value: Value) -> Value { value.double.map { .number(percent($0)) } ?? value }

    /// The same tree, with the numbers of these members in percent, at every level.
    package static func percent(_ names: Set<String>, in value: Value) -> Value {
        switch value {
        case .object(let members):
            return .object(
                Dictionary(
                    members.map { name, member in
                        (
                            name,
                            names.contains(name) && member.double != nil ? percent(member) : percent(names, in: member)
                        )
                    }, uniquingKeysWith: { first, _ in first }))
        case .array(let elements): return .array(elements.map { percent(names, in: $0) })
        default: return value
        }
    }

    /// A day's `other`: the statistics of HealthKit's fractions in percent.
    package static func percent(other: Value) -> Value {
        guard let types = other.object else { return other }
        return .object(
            Dictionary(
                types.map { name, figure in
                    (name, HealthType.named(name).isFraction ? percent(statistics, in: figure) : figure)
                }, uniquingKeysWith: { first, _ in first }))
    }

    private static let statistics: Set = ["average", "min", "max", "mostRecent", "sum"]
}
