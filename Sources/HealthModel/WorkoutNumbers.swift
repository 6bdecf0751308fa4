/// Reads the numbers of one workout as printed in an input, leaving out those that can't be true.
///
/// Units are HealthKit's unit strings. Whatever is left out is in `leftOut` as it was printed, and isn't counted
/// anywhere.
package struct WorkoutNumbers {
    package static let distance = "HKQuantityTypeIdentifierDistanceWalkingRunning"
    package static let energy = "HKQuantityTypeIdentifierActiveEnergyBurned"
    private static let leftOutLimit = 32
    private static let secondsType = HealthType(identifier: "duration", kind: .other, unit: "s", style: .none)

    private let start: Instant
    private let end: Instant
    /// What was left out, as it was printed, by the attribute's name. Only the first few are kept.
    package private(set) var leftOut: [String: Value] = [:]
    /// How many numbers were left out.
    package private(set) var leftOutCount = 0

    /// Creates a reader for a workout with these times, which are used to check its sums.
    package init(start: Instant, end: Instant) { (self.start, self.end) = (start, end) }

    /// A sum over the workout.
    /// - Parameter name: its name in `leftOut`.
    package mutating func total(_ text: String?, _ unit: String?, _ type: HealthType, _ name: String) -> Value? {
        guard let text else { return nil }
        guard let number = number(text, unit, type), number.unit == type.unit,
            WorkoutLimit.of(type).reason(value: number.value, start: start, end: end) == nil
        else {
            leaveOut(name, text, unit)
            return nil
        }
        return .number(number.value)
    }

    /// A sum, average, minimum or maximum of one type's samples; an unknown type keeps its unit.
    package mutating func statistic(
        _ text: String?, _ unit: String?, _ type: HealthType, _ name: String
    ) -> (value: Double, unit: String)? {
        guard let text else { return nil }
        let isKnown = HealthType.known(type.identifier) != nil
        guard let number = number(text, unit, type), !isKnown || number.unit == type.unit,
            isPossible(number.value, type, isSum: name == "sum")
        else {
            leaveOut("\(type.identifier) \(name)", text, unit)
            return nil
        }
        return number
    }

    private func isPossible(_ value: Double, _ type: HealthType, isSum: Bool) -> Bool {
        if isSum { return WorkoutLimit.of(type).reason(value: value, start: start, end: end) == nil }
        return value.isFinite && PlausibilityLimit.of(type).values.contains(value)
    }

    /// A duration in seconds; the unit is minutes if none is given. Null if there is no duration, or if it can't be
    /// true.
    package mutating func seconds(_ text: String?, _ unit: String?, _ name: String) -> Value {
        guard let text else { return .null }
        let unit = unit ?? "min"
        guard let number = number(text, unit, Self.secondsType), number.unit == "s",
            (0...Duration.microseconds(WorkoutLimit.longest).seconds).contains(number.value)
        else {
            leaveOut(name, text, unit)
            return .null
        }
        return .number(number.value)
    }

    /// The number in the type's unit, or in its own unit if that doesn't fit the type.
    private func number(_ text: String, _ unit: String?, _ type: HealthType) -> (value: Double, unit: String)? {
        var text = text
        var factors = UnitFactors.identity
        var kept = type.unit
        if let unit, !unit.isEmpty {
            if let found = UnitConversion.toCanonical(unit: unit, for: type) {
                factors = UnitFactors(scale: found.scale, offset: found.offset)
            } else {
                kept = unit
            }
        }
        return text.withUTF8 { factors.convert($0) }.map { ($0, kept) }
    }

    private mutating func leaveOut(_ name: String, _ text: String, _ unit: String?) {
        leftOutCount += 1
        guard leftOut.count < Self.leftOutLimit, leftOut[name] == nil else { return }
        leftOut[name] = .string(unit.map { "\(text) \($0)" } ?? text)
    }
}
