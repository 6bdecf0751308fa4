/// Numbers as programs print them: a decimal point, never a comma, and possibly an exponent.
package enum DecimalText {
    /// The nearest double; nil for anything else ("", "1,5", "nan", "0x10", " 1").
    /// - Parameter shift: how many places the decimal point is first moved to the right.
    package static func parse(_ text: UnsafeBufferPointer<UInt8>, shiftedBy shift: Int = 0) -> Double? {
        var position = 0
        var negative = false
        if let first = text.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            negative = first == UInt8(ascii: "-")
            position = 1
        }
        var mantissa: UInt64 = 0
        var significant = 0
        var digits = 0
        var exponent = shift
        var behindPoint = false
        while position < text.count {
            let digit = text[position] &- UInt8(ascii: "0")
            if digit < 10 {
                digits += 1
                // Digits beyond the 19th don't fit; such numbers are left to the slow path.
                if significant < 19 { mantissa = mantissa &* 10 &+ UInt64(digit) }
                if mantissa > 0 { significant += 1 }
                if behindPoint { exponent -= 1 }
            } else if text[position] == UInt8(ascii: "."), !behindPoint {
                behindPoint = true
            } else {
                break
            }
            position += 1
        }
        guard digits > 0 else { return nil }
        if position < text.count {
            guard let power = Self.exponent(text, at: position) else { return nil }
            exponent += power
        }
        // If mantissa and power are both exact in a double, there is a single, correct rounding (Clinger's fast path).
        if significant <= 19, mantissa < 1 << 53, abs(exponent) <= 22 {
            let magnitude =
                exponent < 0 ? Double(mantissa) / powers[-exponent] : Double(mantissa) * powers[exponent]
            return negative ? -magnitude : magnitude
        }
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else { return nil }
        return number * power(of: shift)
    }

    /// Ten to the power of −22 to 22.
    package static func power(of exponent: Int) -> Double { exponent < 0 ? 1 / powers[-exponent] : powers[exponent] }

    private static func exponent(_ text: UnsafeBufferPointer<UInt8>, at start: Int) -> Int? {
        var position = start
        guard text[position] | 0x20 == UInt8(ascii: "e") else { return nil }
        position += 1
        var negative = false
        if position < text.count, text[position] == UInt8(ascii: "-") || text[position] == UInt8(ascii: "+") {
            negative = text[position] == UInt8(ascii: "-")
            position += 1
        }
        guard position < text.count, text.count - position <= 4 else { return nil }
        var power = 0
        for byte in text[position...] {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            power = power * 10 + Int(digit)
        }
        return negative ? -power : power
    }

    /// The powers of ten that a double represents exactly.
    package static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]
}
