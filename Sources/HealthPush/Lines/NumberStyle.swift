import JSON

/// How the numbers of a request are to be read, as far as they show it together: a request comes from one phone, which
/// prints all of them in one way.
///
/// - If a number shows the decimal sign (see `PhoneNumber`), it counts for the open ones too. If numbers show both signs,
///   none counts.
/// - HealthKit's % is a fraction (0.97), but a phone prints 97: if any value in % is above 1.5, all are percentages. One
///   printed with a percent sign of its own (`0.08 %`) is a percentage in any case.
struct NumberStyle {
    /// The decimal sign; nil if none counts.
    private(set) var decimal: PhoneNumber.Sign?
    private(set) var arePercentages = false
    private var isMixed = false

    /// - Parameter isShare: whether the value is of a type in %.
    mutating func take(_ number: PhoneNumber, isShare: Bool) {
        if isShare, number.open == nil, let value = Self.value(number.text), value > 1.5 { arePercentages = true }
        guard let shown = number.shown, !isMixed else { return }
        isMixed = decimal != nil && decimal != shown
        decimal = isMixed ? nil : shown
    }

    /// The number as a program prints it, in each way in which it may be meant.
    func readings(of number: PhoneNumber) -> [[UInt8]] {
        guard let open = number.open else { return [number.text] }
        guard let decimal else { return [number.text, open.grouped] }
        return [decimal == open.sign ? number.text : open.grouped]
    }

    private static func value(_ text: [UInt8]) -> Double? {
        text.withUnsafeBufferPointer { DecimalText.parse($0) }
    }
}
