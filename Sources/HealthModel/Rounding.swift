import Foundation
import JSON

/// How numbers are rounded for people and for other programs' formats.
extension Double {
    /// Rounded to this many decimals. The tiniest numbers have no scale for theirs, and stay as they are.
    package func rounded(decimals: Int) -> Double {
        let powers = DecimalText.powers
        let scale = powers.indices.contains(decimals) ? powers[decimals] : pow(10, Double(decimals))
        return scale.isFinite ? (self * scale).rounded() / scale : self
    }

    /// Rounded to this many significant digits, but to decimals in this range.
    package func rounded(digits: Int, decimals: ClosedRange<Int>) -> Double {
        guard isFinite, self != 0 else { return self }
        let wanted = digits - 1 - Int(log10(magnitude).rounded(.down))
        return rounded(decimals: min(max(wanted, decimals.lowerBound), decimals.upperBound))
    }
}
