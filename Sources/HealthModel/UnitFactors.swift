import JSON

/// How to convert numbers from one unit to another.
///
/// A factor that is a power of ten moves the decimal point before the number is read, so that 0.129867 km is 129.867 m
/// and not 129.86700000000002. The same sample printed in m and in km then gives the same value, to the last bit.
package struct UnitFactors: Sendable {
    private let decimalShift: Int
    private let scale: Double
    private let offset: Double

    package static let identity = UnitFactors(scale: 1, offset: 0)

    /// `converted = number * scale + offset`, with the factors from `UnitConversion`.
    package init(scale: Double, offset: Double) {
        let shift = (-22...22).first { DecimalText.power(of: $0) == scale }
        decimalShift = shift ?? 0
        self.scale = shift == nil ? scale : 1
        self.offset = offset
    }

    /// The converted number; nil if the text isn't a number.
    package func convert(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let number = DecimalText.parse(text, shiftedBy: decimalShift) else { return nil }
        return number * scale + offset
    }
}
